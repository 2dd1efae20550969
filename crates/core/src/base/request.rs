//! Requests and replies: one currency for single operations, batches, tests and the command line.

use super::error::Error;

/// One thing that a caller asks of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request<K, V> {
    /// The value under a key.
    Get(K),
    /// Put a value under a key, replacing what is stored there.
    Insert(K, V),
    /// Take a key out.
    Remove(K),
    /// The entries from a key upwards, at most `limit` of them.
    Scan {
        /// Where the scan starts, inclusive.
        from: K,
        /// The most entries that it returns.
        limit: usize,
    },
}

/// What an index answers, request by request and in the requests' order.
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
    /// The request was refused; the index is as if it had not been made.
    Refused(Error),
}
