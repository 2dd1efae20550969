//! Key distributions, request mixes and seeds for measuring ordered indexes.
//!
//! A [`Spec`] describes a measurement; [`Spec::plan`] turns it into a [`Plan`]: the keys to load and one
//! stream of requests per thread, all made before the measurement starts. The same spec and seed give the
//! same plan on every machine.
//!
//! Keys have two widths, through [`Lane`]: `u32` and `u64`. Values are as wide as keys and are computed
//! from them ([`value_of`]), so that any answer can be checked without a second map.
//!
//! The keys come from the spec's [`Distribution`], or from a [`KeySet`]: keys like those of real tables
//! ([`Spec::plan_over`]). Keys of any length are [`BytesKeySet`]s ([`Spec::plan_bytes`]).
//!
//! ```
//! use latchless_workload::{Operation, Spec, Workload};
//! let spec = Spec { records: 1000, ops: 500, ..Spec::new(Workload::Get) };
//! let plan = spec.plan::<u64>().unwrap();
//! assert_eq!(plan.loaded.len(), 1000);
//! assert!(plan.streams[0].iter().all(|operation| matches!(operation, Operation::Get(_))));
//! ```

mod ask;
mod byte_keys;
mod distribution;
mod error;
mod key_set;
mod keys;
mod mix;
mod operation;
mod plan;
mod ranks;
mod spec;
mod stream;

pub use byte_keys::{BytesKeySet, BytesKeys};
pub use distribution::Distribution;
pub use error::Error;
pub use key_set::{KeySet, Keys};
pub use keys::{KeySpace, Lane, value_of};
pub use mix::{Kind, Lengths, Mix, Workload};
pub use operation::Operation;
pub use plan::{BytesPlan, Plan};
pub use ranks::Ranks;
pub use spec::Spec;
