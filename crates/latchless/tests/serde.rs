//! `serde` for every engine: what comes back is what was there; in order, from any order, and with an error
//! in place of a half of the entries.

use latchless::bytes::MultiIndex;
use latchless::{Index, IndexSet, IndexValue, KeyFor};
use serde_core::de::DeserializeOwned;
use serde_core::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde_core::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

fn comes_back<K, V>(entries: Vec<(K, V)>)
where
    K: KeyFor<V> + Ord + Clone + Debug + Serialize + DeserializeOwned,
    V: IndexValue + PartialEq + Debug + Serialize + DeserializeOwned,
{
    let index: Index<K, V> = entries.iter().rev().cloned().collect();
    let map: BTreeMap<K, V> = entries.into_iter().collect();
    let text = serde_json::to_string(&index).unwrap();
    assert_eq!(text, serde_json::to_string(&map).unwrap());
    let again: Index<K, V> = serde_json::from_str(&text).unwrap();
    again.check_invariants().unwrap();
    assert!(again.iter().eq(map));
}

#[test]
fn an_index_of_every_engine_comes_back() {
    comes_back((0..2_000).map(|n| (i64::from(n) - 1_000, n as u32)).collect());
    comes_back((0..300u64).map(|n| (n * n, n.to_string())).collect());
    comes_back((0..300u32).map(|n| (n.to_string(), [u64::from(n); 3])).collect());
    comes_back((0..300u16).map(|n| (n, Arc::<str>::from(n.to_string()))).collect());
    comes_back((0..300u16).map(|n| (Arc::<str>::from(n.to_string()), Arc::new(n))).collect());
    comes_back(vec![(String::new(), ()), ("\0".into(), ()), ("\0\0".into(), ()), ("a".into(), ())]);
    let set: IndexSet<(String, i8)> = [("b".into(), 1), ("a".into(), -1), ("a".into(), -2)].into();
    let text = serde_json::to_string(&set).unwrap();
    assert_eq!(text, r#"[["a",-2],["a",-1],["b",1]]"#);
    assert!(serde_json::from_str::<IndexSet<(String, i8)>>(&text).unwrap().iter().eq(set.iter()));
    let rows: MultiIndex<String> = [("b".into(), 1), ("a".into(), 9), ("a".into(), 2)].into();
    let text = serde_json::to_string(&rows).unwrap();
    assert_eq!(text, r#"[["a",2],["a",9],["b",1]]"#);
    assert!(serde_json::from_str::<MultiIndex<String>>(&text).unwrap().iter().eq(rows.iter()));
    assert!(serde_json::from_str::<MultiIndex<String>>(r#"[["a",2],["a",-1]]"#).is_err());
}

#[test]
fn entries_come_in_any_order() {
    let index: Index<u64, String> = serde_json::from_str(r#"{"9": "a", "3": "b", "9": "c"}"#).unwrap();
    assert!(index.iter().eq([(3, "b".to_owned()), (9, "c".to_owned())]));
    let set =
        IndexSet::<u64>::deserialize(SeqDeserializer::<_, Error>::new([5u64, 2, 5].into_iter())).unwrap();
    assert!(set.iter().eq([2, 5]));
}

#[test]
fn a_bad_input_is_an_error() {
    let refused = |text| serde_json::from_str::<Index<u64, u32>>(text).unwrap_err().to_string();
    assert!(refused(r#"{"9": 1, "3": -1}"#).contains("invalid value"), "{}", refused(r#"{"9": 1, "3": -1}"#));
    assert!(refused(r#"{"9": 1"#).contains("EOF"));
    assert!(refused("[1]").contains("expected a map"));
    assert!(serde_json::from_str::<IndexSet<u64>>(r#"[1, "a"]"#).is_err());
    assert!(
        serde_json::from_str::<IndexSet<u64>>("{}").unwrap_err().to_string().contains("expected a sequence")
    );
    let long = "x".repeat(1 << 24);
    let entries = [(long.as_str(), 1u32)].into_iter();
    let error = Index::<String, u32>::deserialize(MapDeserializer::<_, Error>::new(entries)).unwrap_err();
    assert!(error.to_string().contains("16777215"), "{error}");
}
