//! Both memtables in one program: `hosts/slatedb/run race [ENTRIES [ROUNDS]]`.

use crate::memtables;
use crate::types::RowEntry;
use bytes::Bytes;
use std::hint::black_box;

macro_rules! memtable {
    ($table:ty, $name:literal) => {
        impl memtables::Memtable for $table {
            const NAME: &'static str = $name;
            type Key = Bytes;

            fn empty() -> Self {
                Self::new()
            }

            fn key(bytes: Vec<u8>) -> Bytes {
                bytes.into()
            }

            fn insert(&self, key: &Bytes, number: u64) {
                self.put(RowEntry::new_value(key, &[7; 100], number + 1));
            }

            fn get(&self, key: &Bytes) -> bool {
                self.range_ascending(key..=key).next_sync().is_some()
            }

            fn count(&self, from: Option<&Bytes>, limit: usize) -> usize {
                let mut rows = match from {
                    Some(key) => self.range_ascending(key.clone()..),
                    None => self.iter(),
                };
                (0..limit).take_while(|_| black_box(rows.next_sync()).is_some()).count()
            }
        }
    };
}

memtable!(crate::skip_list::KVTable, "skip list");
memtable!(crate::mem_table::KVTable, "latchless");

#[test]
#[ignore = "a measurement: hosts/slatedb/run race"]
fn both_memtables() {
    memtables::race::<crate::skip_list::KVTable, crate::mem_table::KVTable>("race::both_memtables");
}
