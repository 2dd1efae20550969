//! Requests and replies: the common form of single operations and batches for tests and the command line.

use super::error::Error;

/// A request to an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request<K, V> {
    /// Look up a key.
    Get(K),
    /// Insert an entry, replacing the key's value if there is one.
    Insert(K, V),
    /// Remove a key.
    Remove(K),
    /// Return the entries from a key upwards, at most `limit` of them.
    Scan {
        /// The start of the scan, inclusive.
        from: K,
        /// The maximum number of entries.
        limit: usize,
    },
}

/// The reply to a request. Replies come in the requests' order.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply<K, V> {
    /// To [`Request::Get`]: the value, if the key is there.
    Got(Option<V>),
    /// To [`Request::Insert`]: the value that was replaced, if the key was there before.
    Inserted(Option<V>),
    /// To [`Request::Remove`]: the value that was removed, if the key was there.
    Removed(Option<V>),
    /// To [`Request::Scan`]: the entries in ascending order.
    Scanned(Vec<(K, V)>),
    /// The request was refused; the index is unchanged.
    Refused(Error),
}
