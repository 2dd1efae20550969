//! The machines that a run built: heads of results name their parameters, because numbers of the model
//! depend on nothing else.

use super::parameters::Parameters;
use serde_json::{Map, Value, json};
use std::cell::RefCell;

thread_local! {
    /// Each machine once, in the order of the first of its kind.
    static BUILT: RefCell<Vec<Parameters>> = const { RefCell::new(Vec::new()) };
}

/// Notes a machine that this thread builds.
pub(super) fn note(parameters: Parameters) {
    BUILT.with_borrow_mut(|built| {
        if !built.contains(&parameters) {
            built.push(parameters);
        }
    });
}

/// Returns the machines that this thread has built since the last call, each once.
pub(crate) fn built() -> Vec<Parameters> {
    BUILT.take()
}

/// Describes the first machine, and how each of the others differs from it.
///
/// # Errors
/// Those of `serde_json`.
pub(crate) fn described(machines: &[Parameters]) -> Result<Value, serde_json::Error> {
    let all = machines.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    let Some((first, others)) = all.split_first() else { return Ok(Value::Null) };
    let others: Vec<Value> = others.iter().map(|other| difference(first, other)).collect();
    Ok(if others.is_empty() {
        json!({ "machine": first })
    } else {
        json!({ "machine": first, "others": others })
    })
}

/// Returns the part of `other` that isn't the same in `first`.
fn difference(first: &Value, other: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (first, other) else { return other.clone() };
    let mut differences = Map::new();
    for (name, value) in after.iter().filter(|(name, value)| before.get(*name) != Some(*value)) {
        differences.insert(name.clone(), difference(&before[name], value));
    }
    Value::Object(differences)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Machine;

    #[test]
    fn each_machine_is_noted_once_until_the_next_call() {
        drop(built());
        for processors in [1, 2, 1, 2] {
            Machine::new(Parameters::olfit(processors)).unwrap();
        }
        assert!(Machine::new(Parameters::olfit(65)).is_err());
        assert_eq!(built(), [Parameters::olfit(1), Parameters::olfit(2)]);
        assert_eq!(built(), []);
    }

    #[test]
    fn the_first_machine_is_whole_and_the_others_are_differences() {
        assert_eq!(described(&[]).unwrap(), Value::Null);
        let first = Parameters::olfit(1);
        let alone = described(&[first]).unwrap();
        assert_eq!(alone["machine"]["clock_mhz"], 400);
        assert_eq!(alone["machine"]["l2"], json!({ "bytes": 8 << 20, "ways": 1 }));
        assert_eq!(alone["machine"]["translation"]["miss_cycles"], 72);
        assert!(alone.get("others").is_none());
        let others = described(&[first, Parameters::olfit(2), Parameters::olfit(15)]).unwrap();
        assert_eq!(
            others["others"],
            json!([{ "system": { "processors": 2 } }, { "memory_interval_cycles": 2, "system": { "processors": 15 } }])
        );
        let shared = described(&[first, Parameters { l3: Parameters::spiderman(1).l3, ..first }]).unwrap();
        assert_eq!(shared["others"][0]["l3"]["latency_cycles"], 70);
    }
}
