//! Measures contestants, on the model or on this machine.

use super::case::Case;
use super::contestant::Contestant;
use super::measured::Measured;
use super::{modelled, native};
use crate::error::Result;
use crate::on::On;

/// Measures all contestants on a case.
pub fn measure(on: On, contestants: &[Contestant], case: &Case) -> Result<Vec<Measured>> {
    match on {
        On::Native => native::measure(contestants, case),
        _ => {
            let alone = |&one: &Contestant| Ok(modelled::measure_series(one, &[*case])?.remove(0));
            contestants.iter().map(alone).collect()
        }
    }
}

/// Measures one contestant on cases that differ in their queries, on one index.
pub fn measure_series(on: On, contestant: Contestant, cases: &[Case]) -> Result<Vec<Measured>> {
    match on {
        On::Native => native::measure_series(contestant, cases),
        _ => modelled::measure_series(contestant, cases),
    }
}
