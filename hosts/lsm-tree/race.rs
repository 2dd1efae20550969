//! Both memtables in one program: `hosts/lsm-tree/run race [ENTRIES [ROUNDS]]`.

use super::memtables;
use crate::ValueType;
use crate::key::InternalKey;
use crate::value::{InternalValue, SeqNo};
use std::hint::black_box;

macro_rules! memtable {
    ($table:ty, $name:literal) => {
        impl memtables::Memtable for $table {
            const NAME: &'static str = $name;
            type Key = Vec<u8>;

            fn empty() -> Self {
                Self::new(0)
            }

            fn key(bytes: Vec<u8>) -> Vec<u8> {
                bytes
            }

            fn insert(&self, key: &Vec<u8>, number: u64) {
                let entry =
                    InternalValue::from_components(&**key, [7; 100], number as SeqNo, ValueType::Value);
                self.insert(entry);
            }

            fn get(&self, key: &Vec<u8>) -> bool {
                self.get(key, SeqNo::MAX).is_some()
            }

            fn count(&self, from: Option<&Vec<u8>>, limit: usize) -> usize {
                match from {
                    Some(key) => {
                        let from = InternalKey::new(&**key, SeqNo::MAX, ValueType::Value);
                        self.range(from..).take(limit).map(black_box).count()
                    }
                    None => self.iter().map(black_box).count(),
                }
            }
        }
    };
}

memtable!(super::skip_list::Memtable, "skip list");
memtable!(super::Memtable, "latchless");

#[test]
#[ignore = "a measurement: hosts/lsm-tree/run race"]
fn both_memtables() {
    memtables::race::<super::skip_list::Memtable, super::Memtable>("memtable::race::both_memtables");
}
