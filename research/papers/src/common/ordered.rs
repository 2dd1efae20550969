//! Methods of [`OrderedIndex`](latchless_core::base::index::OrderedIndex) that forward to a map's own
//! method of the same name.

/// Defines the named methods inside of an `impl OrderedIndex<K, V>`. A map defines its other methods
/// itself.
macro_rules! forwarded {
    ($($method:ident)*) => { $($crate::common::ordered::forwarded! { @ $method })* };
    (@ len) => {
        fn len(&self) -> usize {
            Self::len(self)
        }
    };
    (@ get) => {
        fn get(&self, key: K) -> Option<V> {
            Self::get(self, key)
        }
    };
    (@ get_many) => {
        fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
            Self::get_many(self, keys, answers)
        }
    };
    (@ insert) => {
        fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
            Self::insert(self, key, value)
        }
    };
    (@ insert_many) => {
        fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
            Self::insert_many(self, entries, replaced)
        }
    };
    (@ remove) => {
        fn remove(&mut self, key: K) -> Option<V> {
            Self::remove(self, key)
        }
    };
    (@ remove_many) => {
        fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
            Self::remove_many(self, keys, removed)
        }
    };
    (@ scanner) => {
        fn scanner<'a>(
            &'a self,
            span: Span<K>,
            direction: Direction,
        ) -> Result<Box<dyn Scanner<K, V> + 'a>> {
            Ok(Box::new(Self::scanner(self, span, direction)?))
        }
    };
    (@ count) => {
        fn count(&self, span: Span<K>) -> Result<usize> {
            Self::count(self, span)
        }
    };
    (@ bulk_load) => {
        fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
            Self::bulk_load(self, entries, fill)
        }
    };
    (@ memory_bytes) => {
        fn memory_bytes(&self) -> Option<usize> {
            Some(Self::memory_bytes(self))
        }
    };
    (@ stats) => {
        fn stats(&self) -> Option<Stats> {
            Some(Self::stats(self))
        }
    };
    (@ check_invariants) => {
        fn check_invariants(&self) -> Result<(), Broken> {
            Self::check_invariants(self)
        }
    };
}

pub(crate) use forwarded;
