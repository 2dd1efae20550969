//! Search kernels on the command line.

use crate::nearest::did_you_mean;
use latchless_core::search::{Dispatch, Kernel};

/// The kernel of that name, if this processor has it.
///
/// # Errors
/// The names of all kernels, or the feature that the processor lacks.
pub fn parse(name: &str) -> Result<Kernel, String> {
    let Some(kernel) = Kernel::from_name(name) else {
        let known: Vec<_> = Kernel::ALL.iter().map(|kernel| kernel.name()).collect();
        let like = did_you_mean(name, known.iter().copied());
        return Err(format!("no such kernel{like}; there are {}", known.join(", ")));
    };
    Dispatch::of(kernel).map(|_| kernel).map_err(|error| error.to_string())
}
