//! Every variant through the trait that all share: compared with a model, and with bad input.

mod common;
mod duplicates;
mod model;
mod multiplexed;
mod refusals;
mod requests;
mod shared;
mod short;
mod touch;
mod touch_cssl;
