//! A pB+-Tree: a wide node whose lines arrive together, and a scan that prefetches leaves through an array
//! of pointers.

use super::sheet::Sheet;

/// Lines of a node, and leaves below.
const LINES: usize = 8;
/// The leaf that the scan is at.
const AT: usize = 1;
/// How many leaves ahead it prefetches.
const AHEAD: usize = 3;
const LEFT: f64 = 10.0;
const WIDE: f64 = 40.0;

pub fn drawing() -> String {
    let mut sheet = Sheet::new(
        254.0,
        "A node of eight cache lines, which are prefetched together; below, a jump-pointer array, through which a scan \
         prefetches the leaf three ahead",
    );
    sheet.word("b", (LEFT, 16.0), "a node is eight lines, prefetched together");
    for nth in 0..LINES {
        sheet.cell("box hot", (LEFT + WIDE * nth as f64, 24.0), (WIDE - 3.0, 24.0), &format!("{}", nth + 1));
    }
    // A pixel is a cycle of the paper's machine: a miss takes 150, and the next line arrives ten later.
    for nth in 0..LINES {
        sheet.cell("wait", (LEFT + 10.0 * nth as f64, 58.0 + 5.0 * nth as f64), (150.0, 3.4), "");
    }
    sheet.word("s", (LEFT + 168.0, 66.0), "one line: 150 cycles");
    sheet.word("s", (LEFT + 232.0, 98.0), "eight: 220");
    sheet.arrow("soft", &[(LEFT, 106.0), (LEFT + 224.0, 106.0)]);
    sheet.word("s", (LEFT + 232.0, 114.0), "time");
    leaves(&mut sheet);
    sheet.close()
}

fn leaves(sheet: &mut Sheet) {
    sheet.word("b", (LEFT, 140.0), "a scan: jump pointers to the leaves ahead");
    for nth in 0..LINES {
        let x = LEFT + WIDE * nth as f64;
        let class = if nth == AT + AHEAD { "box warm" } else { "box" };
        sheet.cell(class, (x, 150.0), (WIDE, 20.0), "•");
        let class = match nth {
            AT => "box hot",
            _ if nth == AT + AHEAD => "box warm",
            _ if nth < AT => "box done",
            _ => "box",
        };
        let middle = x + WIDE / 2.0;
        sheet.arrow(if nth == AT + AHEAD { "warm" } else { "soft" }, &[(middle, 165.0), (middle, 203.0)]);
        sheet.cell(class, (x + 3.0, 204.0), (WIDE - 8.0, 26.0), "");
        if nth + 1 < LINES {
            sheet.arrow("soft", &[(x + WIDE - 5.0, 217.0), (x + WIDE + 3.0, 217.0)]);
        }
    }
    let place = |nth: usize| LEFT + WIDE * nth as f64 + WIDE / 2.0;
    sheet.word("c s", (place(AT), 246.0), "is read");
    sheet.word("c s", (place(AT + AHEAD) + 4.0, 246.0), "is prefetched");
    sheet.word("e s", (330.0, 246.0), "linked leaves");
}
