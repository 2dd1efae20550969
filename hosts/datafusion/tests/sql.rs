//! Answers in SQL against those of a plain vector, and the conditions that go to the index.

use datafusion::arrow::array::{Array, UInt64Array};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use latchless::Index;
use latchless_datafusion::IndexTable;
use std::sync::Arc;
use std::thread;

const ENTRIES: u64 = 50_000;

fn value_of(key: u64) -> u64 {
    key * 7919 % 1000
}

/// Every third key, in batches of 1,000 rows.
fn table() -> (SessionContext, Arc<Index<u64, u64>>) {
    let index: Arc<Index<u64, u64>> = Arc::new((0..ENTRIES).map(|at| (3 * at, value_of(3 * at))).collect());
    let context = SessionContext::new_with_config(SessionConfig::new().with_batch_size(1000));
    context.register_table("t", Arc::new(IndexTable::new(Arc::clone(&index)))).unwrap();
    (context, index)
}

/// The rows of a question for two columns.
async fn rows(context: &SessionContext, question: &str) -> Vec<(u64, u64)> {
    let mut rows = Vec::new();
    for batch in context.sql(question).await.unwrap().collect().await.unwrap() {
        let column = |at: usize| batch.column(at).as_any().downcast_ref::<UInt64Array>().unwrap().clone();
        let (keys, values) = (column(0), column(1));
        rows.extend((0..keys.len()).map(|at| (keys.value(at), values.value(at))));
    }
    rows
}

async fn plan(context: &SessionContext, question: &str) -> String {
    let explained = context.sql(&format!("EXPLAIN {question}")).await.unwrap().collect().await.unwrap();
    pretty_format_batches(&explained).unwrap().to_string()
}

/// Whether a filter selects an entry.
type Wanted = fn(u64, u64) -> bool;

#[tokio::test]
async fn filters_find_what_a_vector_finds() {
    let (context, _) = table();
    let filters: [(&str, Wanted); 12] = [
        ("true", |_, _| true),
        ("key = 300", |key, _| key == 300),
        ("key = 301", |_, _| false),
        ("key = -3", |_, _| false),
        ("key < 3000", |key, _| key < 3000),
        ("3000 <= key AND key < 9000", |key, _| (3000..9000).contains(&key)),
        ("key BETWEEN 3000 AND 9000", |key, _| (3000..=9000).contains(&key)),
        ("key BETWEEN 9000 AND 3000", |_, _| false),
        ("key > 18446744073709551615", |_, _| false),
        ("key IN (9, 3, 3, 4, 149997, 5000000) AND key > 3", |key, _| [9, 149_997].contains(&key)),
        ("key >= 60000 AND value < 500", |key, value| key >= 60_000 && value < 500),
        ("key = 300 OR value = 7", |key, value| key == 300 || value == 7),
    ];
    for (filter, wanted) in filters {
        let found = rows(&context, &format!("SELECT key, value FROM t WHERE {filter} ORDER BY key")).await;
        let all = (0..ENTRIES).map(|at| (3 * at, value_of(3 * at)));
        assert_eq!(found, all.filter(|&(key, value)| wanted(key, value)).collect::<Vec<_>>(), "{filter}");
    }
}

/// DataFusion filters exactly the conditions that the index doesn't serve.
#[tokio::test]
async fn filters_of_keys_go_to_the_index() {
    let (context, _) = table();
    for filter in ["key = 300", "key < 3000", "key BETWEEN 30 AND 90", "key IN (3, 9, 12, 300)", "-4 < key"] {
        let plan = plan(&context, &format!("SELECT value FROM t WHERE {filter}")).await;
        assert!(!plan.contains("FilterExec") && plan.contains("StreamingTableExec"), "{plan}");
    }
    let plan_of_values = plan(&context, "SELECT key FROM t WHERE key < 3000 AND value = 7").await;
    assert!(plan_of_values.contains("FilterExec: value"), "{plan_of_values}");
}

#[tokio::test]
async fn rows_come_in_order_and_no_further_than_the_limit() {
    let (context, _) = table();
    let question = "SELECT key, value FROM t WHERE key > 1000 ORDER BY key LIMIT 3";
    let plan = plan(&context, question).await;
    assert!(!plan.contains("SortExec") && plan.contains("fetch=3"), "{plan}");
    let keys = rows(&context, question).await.into_iter().map(|row| row.0);
    assert_eq!(keys.collect::<Vec<_>>(), [1002, 1005, 1008]);
    // Columns in another order, or without the keys.
    let swapped = rows(&context, "SELECT value, key FROM t WHERE key = 300").await;
    assert_eq!(swapped, [(value_of(300), 300)]);
    let total = rows(&context, "SELECT count(*)::bigint unsigned, sum(value) FROM t WHERE key < 3000").await;
    assert_eq!(total, [(1000, (0..1000).map(|at| value_of(3 * at)).sum())]);
}

#[tokio::test]
async fn joins_and_aggregates() {
    let (context, _) = table();
    let question =
        "SELECT a.key, b.value FROM t a JOIN t b ON b.key = a.key + 3 WHERE a.key < 12 ORDER BY a.key";
    let wanted = [0, 3, 6, 9].map(|key| (key, value_of(key + 3)));
    assert_eq!(rows(&context, question).await, wanted);
}

/// A key that is there throughout is in every answer, once, whatever changes around it.
#[tokio::test]
async fn other_threads_may_write_meanwhile() {
    let (context, index) = table();
    let writer = thread::spawn(move || {
        for round in 0..20 {
            for at in 0..ENTRIES / 10 {
                index.insert(3 * at + 1, 2000 + round).unwrap();
                index.remove(3 * at + 1);
            }
        }
    });
    for _ in 0..10 {
        let found = rows(&context, "SELECT key, value FROM t WHERE value < 2000 ORDER BY key").await;
        assert_eq!(found.len(), ENTRIES as usize);
        assert!(found.is_sorted_by(|a, b| a.0 < b.0));
    }
    writer.join().unwrap();
}
