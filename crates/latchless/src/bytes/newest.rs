//! The newest versions of keys. The [tree](crate::byte_tree) has the algorithm.

use super::batch::GroupKeys;
use super::stored::own;
use super::{ByteStrings, Lent};
use crate::byte_tree::{GROUP, Newest};
use crate::index::newest::Versions;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::versioned::VersionedKey;

impl<K, V: BytesValue> Versions<K, V> for ByteStrings<VersionedKey<K>, V>
where
    K: BytesKey + for<'q> IndexKey<Probe<'q>: BytesKey<K>>,
{
    #[inline]
    fn newest(&self, key: VersionedKey<K::Probe<'_>>) -> Option<(u64, V)> {
        self.see_newest(key, |number, value| (number, own::<V>(value)))
    }

    #[inline]
    fn see_newest<R>(
        &self,
        key: VersionedKey<K::Probe<'_>>,
        see: impl FnOnce(u64, Lent<'_, V>) -> R,
    ) -> Option<R> {
        key.with_place(|key, place| self.look_newest(Newest(place), key, see))
    }

    fn newest_many(&self, keys: &[VersionedKey<K::Probe<'_>>], answers: &mut [Option<(u64, V)>]) {
        let mut group = GroupKeys::default();
        for (keys, answers) in keys.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            let mut answers = answers.iter_mut();
            group.with(keys.iter(), |bytes| {
                let mut newest = [Newest(0); GROUP];
                let each = newest.iter_mut().zip(keys).zip(bytes);
                each.for_each(|((to, key), bytes)| to.0 = key.place_in(bytes.len()));
                self.look_newest_group(&newest[..keys.len()], bytes, |found| {
                    let answer = answers.next().expect("an answer for each key");
                    *answer = found.map(|(number, value)| (number, own::<V>(value)));
                });
            });
        }
    }
}
