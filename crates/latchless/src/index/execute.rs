//! Mixed requests in one batch.

use super::Index;
use super::access::{Access, Encoded, decode_entry, decode_value, encode_key, encode_value, full_range};
use super::exclusive::Exclusive;
use super::operations::operations;
use crate::tree::{Edit, Edited, Group, Mode};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::index::Direction;
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::value::Value;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    pub(super) fn execute(self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        replies.reserve(requests.len());
        let mut rest = requests;
        while !rest.is_empty() {
            let points = rest.iter().take_while(|request| edit_of::<K, V>(request).is_some()).count();
            self.execute_points(&rest[..points], replies);
            rest = &rest[points..];
            if let Some((&Request::Scan { from, limit }, behind)) = rest.split_first() {
                replies.push(self.entries_from(from, limit));
                rest = behind;
            }
        }
    }

    /// Serves requests that each use one key.
    fn execute_points(self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        let nothing = (Encoded::<K, V>::MIN, Edit::Look);
        self.tree.edit_each::<M>(
            requests.len(),
            self.group,
            |at| edit_of::<K, V>(&requests[at]).unwrap_or(nothing),
            |at, edited| replies.push(reply_to::<K, V>(&requests[at], edited)),
        );
    }

    fn entries_from(self, from: K, limit: usize) -> Reply<K, V> {
        if limit == 0 {
            return Reply::Refused(Error::EmptyBuffer);
        }
        // Grows as entries are found, because the limit may be far larger.
        let mut entries = Vec::new();
        let low = encode_key::<K, V>(from);
        let (_, high) = full_range::<K, V>();
        self.tree.scan::<M>(low, high, Direction::Forward, limit, |keys, values| {
            let found = keys.iter().zip(values).take(limit - entries.len());
            entries.extend(found.map(|(&key, &value)| decode_entry::<K, V>((key, value))));
            entries.len() < limit
        });
        Reply::Scanned(entries)
    }
}

/// A key, and the edit of its entry.
type KeyedEdit<B> = (B, Edit<B>);

/// Returns the key and the edit of a request that uses one key.
#[inline(always)]
fn edit_of<K: Key, V: Value>(request: &Request<K, V>) -> Option<KeyedEdit<Encoded<K, V>>> {
    match *request {
        Request::Get(key) => Some((encode_key::<K, V>(key), Edit::Look)),
        Request::Insert(key, value) => {
            Some((encode_key::<K, V>(key), Edit::Put(encode_value::<K, V>(value))))
        }
        Request::Remove(key) => Some((encode_key::<K, V>(key), Edit::Remove)),
        Request::Scan { .. } => None,
    }
}

#[inline(always)]
fn reply_to<K: Key, V: Value>(request: &Request<K, V>, edited: Result<Edited<Encoded<K, V>>>) -> Reply<K, V> {
    let before = match edited {
        Ok(edited) => edited.before.map(decode_value::<K, V>),
        Err(error) => return Reply::Refused(error),
    };
    match request {
        Request::Get(_) => Reply::Got(before),
        Request::Insert(..) => Reply::Inserted(before),
        Request::Remove(_) => Reply::Removed(before),
        Request::Scan { .. } => unreachable!("a scan is no request for one key"),
    }
}

operations! {
    /// Serves mixed requests in order and appends one reply for each to `replies`. Requests for single keys
    /// descend together; a scan sees all changes of the requests before it and none of those after it.
    ///
    /// A request that is refused gets [`Reply::Refused`] and changes nothing; the others are served.
    ///
    /// ```
    /// use latchless::{Reply, Request};
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// let requests = [
    ///     Request::Insert(7, 70),
    ///     Request::Get(7),
    ///     Request::Scan { from: 0, limit: 10 },
    ///     Request::Remove(7),
    /// ];
    /// let mut replies = Vec::new();
    /// index.execute(&requests, &mut replies);
    /// assert_eq!(replies, [
    ///     Reply::Inserted(None),
    ///     Reply::Got(Some(70)),
    ///     Reply::Scanned(vec![(7, 70)]),
    ///     Reply::Removed(Some(70)),
    /// ]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        self.access().execute(requests, replies);
    }

    /// Serves mixed requests in groups of the given size. See [`Index::execute`].
    pub fn execute_with(&mut self, group: Group, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        self.access().grouped(group).execute(requests, replies);
    }
}
