//! PI: one owner submits batches, which its threads divide among themselves without latches; or many
//! threads submit single requests, which are gathered.
//! `cargo run --release -p latchless-papers --example batches_of_queries`

use latchless_papers::pi::{Options, Pi, Query, SubmissionOptions, Submissions};

fn main() -> latchless_papers::Result<()> {
    // Two threads, including the caller's; keys are divided between them in each batch.
    let mut index = Pi::<u64, u64>::with_options(&Options { threads: 2, ..Options::default() })?;
    let entries: Vec<(u64, u64)> = (0..1_000_000).map(|key| (3 * key, key)).collect();
    index.bulk_load(&entries)?;

    // A batch takes effect in the order of its keys, and where they are equal in its own.
    let replies = index.execute(&[
        Query::Search(3_000),
        Query::Insert(3_001, 7),
        Query::Search(3_001),
        Query::Delete(6),
        Query::Range { low: 0, high: 9, limit: 10 },
    ]);
    replies.iter().for_each(|reply| println!("{reply:?}"));
    assert_eq!(index.len(), 1_000_000);

    // Lookups alone have a separate operation.
    let keys: Vec<u64> = (0..8192).map(|nth| nth * 363 % 3_000_000).collect();
    let mut answers = vec![None; keys.len()];
    index.get_many(&keys, &mut answers)?;
    println!("{} of {} keys are there", answers.iter().flatten().count(), keys.len());
    assert!(answers.iter().zip(&keys).all(|(answer, key)| *answer == Some(key / 3) || *key == 6));

    // With a queue it belongs to a separate thread, and many callers share it.
    let index = Submissions::new(index, SubmissionOptions::default())?;
    std::thread::scope(|callers| {
        for caller in 0..4u64 {
            let index = &index;
            callers.spawn(move || index.insert(3 * caller + 2, caller));
        }
    });
    assert_eq!(index.range(0, 11, 10)?.len(), 3 + 4);
    println!("{} keys after four callers", index.into_inner()?.len());
    Ok(())
}
