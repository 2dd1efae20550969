//! Spiderman: descents one after the other, and interleaved so that their misses overlap.

use super::sheet::Sheet;

const LEFT: f64 = 62.0;
/// Widths of work at a node, and of a miss.
const WORK: f64 = 12.0;
const MISS: f64 = 34.0;
const REQUESTS: [&str; 3] = ["A", "B", "C"];
const CLASSES: [&str; 3] = ["box hot", "box warm", "box cool"];

pub fn drawing() -> String {
    let mut sheet = Sheet::new(
        272.0,
        "Three descents one after the other wait for each miss; interleaved, a descent prefetches its next node and the \
         others go on meanwhile, so that the same work is done earlier",
    );
    sheet.word("b", (10.0, 16.0), "one after the other: each miss is waited for");
    let mut x = LEFT;
    for (nth, request) in REQUESTS.iter().enumerate() {
        let y = 26.0 + 26.0 * nth as f64;
        sheet.word("s", (10.0, y + 15.0), &format!("get {request}"));
        for _ in 0..2 {
            sheet.cell("wait", (x, y + 3.0), (MISS, 16.0), "");
            sheet.cell(CLASSES[nth], (x + MISS, y), (WORK, 22.0), "");
            x += MISS + WORK;
        }
    }
    time(&mut sheet, 112.0);
    sheet.word("b", (10.0, 146.0), "a batch: prefetch, then go to the next one");
    for (nth, request) in REQUESTS.iter().enumerate() {
        let y = 156.0 + 26.0 * nth as f64;
        sheet.word("s", (10.0, y + 15.0), &format!("get {request}"));
        let mut x = LEFT + WORK * nth as f64;
        for _ in 0..2 {
            sheet.cell("wait", (x, y + 3.0), (MISS, 16.0), "");
            sheet.cell(CLASSES[nth], (x + MISS, y), (WORK, 22.0), "");
            x += MISS + WORK;
        }
    }
    let end = LEFT + 2.0 * (MISS + WORK) + 2.0 * WORK;
    sheet.line("good", &[(end + 3.0, 156.0), (end + 3.0, 236.0)]);
    sheet.word("good", (end + 10.0, 200.0), "done: misses overlap");
    time(&mut sheet, 242.0);
    sheet.cell("wait", (10.0, 256.0), (18.0, 12.0), "");
    sheet.word("s", (33.0, 267.0), "a miss");
    sheet.cell("box hot", (96.0, 255.0), (WORK, 14.0), "");
    sheet.word("s", (114.0, 267.0), "a search in a node");
    sheet.close()
}

fn time(sheet: &mut Sheet, y: f64) {
    sheet.arrow("soft", &[(LEFT, y), (334.0, y)]);
    sheet.word("e s", (56.0, y + 4.0), "time");
}
