//! All spans for the `tracing` facade, in one table. Without the feature `tracing` they are nothing.

/// A span, entered until it is dropped.
#[derive(Debug)]
#[must_use = "a span ends when it is dropped"]
pub struct Spanned(#[cfg(feature = "tracing")] tracing::span::EnteredSpan);

impl Spanned {
    /// Sets a field of the span.
    #[inline(always)]
    pub fn record(&self, _field: &'static str, _value: u64) {
        #[cfg(feature = "tracing")]
        self.0.record(_field, _value);
    }
}

macro_rules! spans {
    ($($(#[$doc:meta])* $function:ident: $target:literal, $name:literal, [$($field:ident),*];)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $function() -> Spanned {
            Spanned(
                #[cfg(feature = "tracing")]
                tracing::info_span!(target: $target, $name, $($field = tracing::field::Empty),*).entered(),
            )
        }
    )*};
}
spans! {
    /// Filling an empty tree.
    bulk_load: "latchless", "bulk_load", [entries, bytes];
    /// Saving a snapshot in a file.
    snapshot_save: "latchless", "snapshot_save", [bytes];
    /// Reading a snapshot's file. Its entries are loaded after that.
    snapshot_read: "latchless", "snapshot_read", [bytes];
    /// Saving a snapshot beside a log, and beginning the next log.
    checkpoint: "latchless_log", "checkpoint", [entries, bytes];
    /// Replaying logs at an opening.
    replay: "latchless_log", "replay", [records, entries];
}
