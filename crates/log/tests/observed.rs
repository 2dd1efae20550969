//! What a program's recorder and subscriber see of a log.

use latchless_log::{DurableIndex, Options};
use std::fs;

#[path = "../../latchless/tests/observed/observer.rs"]
mod observer;

use observer::{Recorder, Spans};

fn logged_bytes(folder: &std::path::Path) -> u64 {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let logs = files.filter(|file| file.file_name().to_string_lossy().starts_with("log-"));
    logs.map(|log| log.metadata().unwrap().len()).sum()
}

fn records_bytes_and_syncs_are_counted() {
    let (folder, recorder) = (tempfile::tempdir().unwrap(), Recorder::default());
    metrics::with_local_recorder(&recorder, || {
        let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), Options::default()).unwrap();
        let before = logged_bytes(folder.path());
        (0..10).for_each(|key| _ = index.insert(key, key).unwrap());
        assert_eq!(recorder.value("latchless_log_records_total"), 10.0);
        assert_eq!(
            recorder.value("latchless_log_bytes_total"),
            (logged_bytes(folder.path()) - before) as f64
        );
        assert_eq!(recorder.value("latchless_log_sync_seconds"), 10.0);
        let bytes = recorder.value("latchless_log_bytes_total");
        index.sync().unwrap();
        assert_eq!(recorder.value("latchless_log_sync_seconds"), 10.0, "there was nothing to sync");
        assert_eq!(recorder.value("latchless_log_records_total"), 10.0, "a mark is no record");
        assert!(recorder.value("latchless_log_bytes_total") > bytes);
        assert_eq!(recorder.len(), 3);
    });
}

fn replays_and_checkpoints_are_spans_with_fields() {
    let (folder, spans) = (tempfile::tempdir().unwrap(), Spans::default());
    let open = || DurableIndex::<u64, u64>::open(folder.path(), Options::default()).unwrap().0;
    tracing::subscriber::with_default(spans.clone(), || {
        let index = open();
        spans.expect("replay", &[("records", 0), ("entries", 0)]);
        index.insert_many(&[(1, 1), (2, 2), (3, 3)]).unwrap();
        index.insert(4, 4).unwrap();
        drop(index);
        let index = open();
        spans.expect("replay", &[("records", 2), ("entries", 4)]);
        index.snapshot().unwrap();
        let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap());
        let saved = files.filter(|file| file.file_name().to_string_lossy().ends_with(".arrow"));
        let bytes = saved.map(|file| file.metadata().unwrap().len()).sum();
        spans.expect("checkpoint", &[("entries", 4), ("bytes", bytes)]);
        spans.expect_none();
    });
}

/// One after the other: a span that begins first in a thread without a subscriber is off in all others.
#[test]
fn what_the_log_does_is_counted_and_seen_as_spans() {
    records_bytes_and_syncs_are_counted();
    replays_and_checkpoints_are_spans_with_fields();
}
