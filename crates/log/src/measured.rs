//! What the log counts for the `metrics` facade. Without the feature `metrics` this is nothing.

use std::io;

/// Runs a sync, and records how long it took.
pub fn sync(sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    #[cfg(feature = "metrics")]
    let begun = std::time::Instant::now();
    sync()?;
    #[cfg(feature = "metrics")]
    metrics::histogram!("latchless_log_sync_seconds").record(begun.elapsed().as_secs_f64());
    Ok(())
}

/// Counts bytes that were appended, and the records in them.
#[inline(always)]
pub fn count_appended(_bytes: usize, _records: u64) {
    #[cfg(feature = "metrics")]
    {
        metrics::counter!("latchless_log_bytes_total").increment(_bytes as u64);
        metrics::counter!("latchless_log_records_total").increment(_records);
    }
}
