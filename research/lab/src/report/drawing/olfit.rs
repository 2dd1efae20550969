//! OLFIT: a node with a version and a latch in one word, and readers beside a writer.

use super::sheet::Sheet;

const LEFT: f64 = 10.0;

pub fn drawing() -> String {
    let mut sheet = Sheet::new(
        262.0,
        "A node has a word with its latch and version; a reader reads the version before and after the \
         contents and reads again if it has changed; only writers take the latch",
    );
    sheet.word("b", (LEFT, 16.0), "a node: one word is latch and version");
    let parts = [
        ("box hot", 54.0, "42"),
        ("box", 44.0, "size"),
        ("box", 116.0, "keys, children"),
        ("box", 66.0, "high key"),
    ];
    let mut x = LEFT;
    for (class, width, word) in parts {
        sheet.cell(class, (x, 24.0), (width, 28.0), word);
        x += width;
    }
    sheet.arrow("soft", &[(x, 38.0), (x + 34.0, 38.0)]);
    sheet.word("e s", (330.0, 68.0), "link: next");
    sheet.word("s", (LEFT, 68.0), "version");
    sheet.word("b", (LEFT, 98.0), "readers write nothing and never wait");
    let undisturbed = [(66.0, "42", "box hot"), (92.0, "reads", "box"), (148.0, "42", "box hot")];
    lane(&mut sheet, 122.0, "reader", &undisturbed);
    sheet.word("good", (180.0, 126.5), "✓ the same: go on");
    let writer =
        [(94.0, "latch", "box lock"), (150.0, "changes", "box warm"), (218.0, "43, unlatch", "box lock")];
    lane(&mut sheet, 166.0, "writer", &writer);
    let disturbed = [(90.0, "42", "box hot"), (116.0, "reads", "box"), (172.0, "43", "box warm")];
    lane(&mut sheet, 210.0, "reader", &disturbed);
    sheet.word("bad", (204.0, 214.5), "✗ another: again");
    sheet.arrow("soft", &[(60.0, 242.0), (324.0, 242.0)]);
    sheet.word("e s", (324.0, 258.0), "time");
    sheet.close()
}

/// What a thread does: steps from left to right.
fn lane(sheet: &mut Sheet, y: f64, name: &str, steps: &[(f64, &str, &str)]) {
    sheet.word("s", (LEFT, y + 4.5), name);
    let widths = |word: &str| match word.len() {
        0..=2 => 24.0,
        3..=5 => 54.0,
        6..=7 => 66.0,
        _ => 100.0,
    };
    let end = steps.last().map_or(60.0, |(x, word, _)| x + widths(word));
    sheet.line("soft", &[(60.0, y), (end, y)]);
    for &(x, word, class) in steps {
        sheet.cell(class, (x, y - 11.0), (widths(word), 22.0), word);
    }
}
