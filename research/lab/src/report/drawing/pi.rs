//! PI: a batch of queries over a skip list, whose index layer is of entries, and whose parts belong to
//! threads.

use super::sheet::Sheet;

const LEFT: f64 = 10.0;
/// The threads, each with a part of the list.
const THREADS: [&str; 3] = ["t0", "t1", "t2"];
const CLASSES: [&str; 3] = ["box hot", "box warm", "box cool"];
const PART: f64 = 108.0;
const WIDE: f64 = 98.0;

pub fn drawing() -> String {
    let mut sheet = Sheet::new(
        266.0,
        "A batch of queries is sorted and cut among threads; each descends entries of several keys in an \
         index layer and works on its own part of the list of nodes",
    );
    sheet.word("b", (LEFT, 16.0), "a batch of queries, sorted and cut");
    for (thread, keys) in [[3, 8, 11], [19, 24, 27], [35, 38, 46]].iter().enumerate() {
        let x = LEFT + PART * thread as f64;
        for (nth, key) in keys.iter().enumerate() {
            sheet.cell(CLASSES[thread], (x + 33.0 * nth as f64, 24.0), (31.0, 22.0), &key.to_string());
        }
        sheet.arrow("soft", &[(x + 49.0, 46.0), (x + 49.0, 66.0)]);
        sheet.word("s", (x + 56.0, 62.0), THREADS[thread]);
    }
    index(&mut sheet);
    storage(&mut sheet);
    sheet.close()
}

/// The index layer: entries of several keys, each compared at once, with a routing table.
fn index(sheet: &mut Sheet) {
    sheet.word("b", (LEFT, 86.0), "index layer: entries of several keys");
    sheet.cell("box", (LEFT, 94.0), (WIDE, 22.0), "1  17  33");
    sheet.word("s", (LEFT + 118.0, 110.0), "one SIMD instruction each");
    for thread in 0..THREADS.len() {
        let x = LEFT + PART * thread as f64;
        let first = 1 + 16 * thread;
        let keys = format!("{} {} {} {}", first, first + 4, first + 8, first + 12);
        sheet.arrow("soft", &[(LEFT + 18.0 + 31.0 * thread as f64, 116.0), (x + 49.0, 136.0)]);
        sheet.cell("box", (x, 137.0), (WIDE, 22.0), &keys);
    }
}

/// The storage layer: a list, and the part of each thread.
fn storage(sheet: &mut Sheet) {
    for (thread, name) in THREADS.iter().enumerate() {
        let x = LEFT + PART * thread as f64;
        for nth in 0..4 {
            let x = x + 25.0 * f64::from(nth);
            sheet.arrow("soft", &[(x + 11.0, 159.0), (x + 11.0, 181.0)]);
            sheet.cell(CLASSES[thread], (x, 182.0), (22.0, 24.0), "");
            if nth < 3 {
                sheet.line("soft", &[(x + 22.0, 194.0), (x + 25.0, 194.0)]);
            } else if thread + 1 < THREADS.len() {
                sheet.arrow("soft", &[(x + 22.0, 194.0), (x + 32.5, 194.0)]);
            }
        }
        sheet.line("soft", &[(x, 212.0), (x, 217.0), (x + 97.0, 217.0), (x + 97.0, 212.0)]);
        sheet.word("c s", (x + 49.0, 233.0), name);
    }
    sheet.word("b", (LEFT, 257.0), "storage layer: a list, each part one thread's");
}
