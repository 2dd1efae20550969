//! What a program's recorder and subscriber see of an index: values and fields, not only names.

use latchless::{FillFactor, Index, snapshot};
use latchless_core::testing::Rng;

#[path = "observed/observer.rs"]
mod observer;

use observer::{Recorder, Spans};

#[test]
fn published_metrics_are_what_the_index_says() {
    let recorder = Recorder::default();
    let index = Index::<u64, u64>::new().unwrap();
    let mut random = Rng(1);
    for entries in [0, 20_000] {
        (0..entries).for_each(|_| _ = index.insert(random.next(), 0).unwrap());
        metrics::with_local_recorder(&recorder, || index.publish_metrics("orders"));
        let stats = index.stats();
        let value = |name: &str| recorder.value(&format!("{name}{{index=orders}}"));
        assert_eq!(value("latchless_entries"), index.len() as f64);
        assert_eq!(value("latchless_memory_bytes"), index.memory_bytes() as f64);
        assert_eq!(value("latchless_live_bytes"), index.live_bytes() as f64);
        assert_eq!(value("latchless_mapped_bytes"), index.mapped_bytes() as f64);
        assert_eq!(value("latchless_levels"), stats.levels as f64);
        assert_eq!(value("latchless_splits_total"), stats.splits as f64);
        assert_eq!(value("latchless_restarts_total"), stats.restarts as f64);
        assert_eq!(value("latchless_misled_total"), stats.misled as f64);
        assert_eq!(stats.splits > 100, entries > 0);
    }
    assert_eq!(recorder.len(), 8);
}

#[test]
fn loads_and_snapshots_are_spans_with_fields() {
    let spans = Spans::default();
    let numbers: Vec<_> = (0..5000u64).map(|key| (key, key)).collect();
    let texts: Vec<_> = (0..300u64).map(|key| (format!("{key:05}"), key)).collect();
    let folder = std::env::temp_dir().join(format!("latchless-observed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("numbers.arrow");
    tracing::subscriber::with_default(spans.clone(), || {
        let index = Index::from_sorted(&numbers, FillFactor::FULL).unwrap();
        spans.expect("bulk_load", &[("entries", 5000), ("bytes", index.live_bytes() as u64)]);
        let names = Index::from_sorted(&texts, FillFactor::FULL).unwrap();
        spans.expect("bulk_load", &[("entries", 300), ("bytes", names.live_bytes() as u64)]);
        snapshot::save(&index, &path).unwrap();
        let bytes = std::fs::metadata(&path).unwrap().len();
        spans.expect("snapshot_save", &[("bytes", bytes)]);
        let again: Index<u64, u64> = snapshot::open(&path).unwrap();
        spans.expect("snapshot_read", &[("bytes", bytes)]);
        spans.expect("bulk_load", &[("entries", 5000), ("bytes", again.live_bytes() as u64)]);
        spans.expect_none();
    });
    std::fs::remove_dir_all(&folder).unwrap();
}
