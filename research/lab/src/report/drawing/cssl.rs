//! CSSL: the fast lanes of a skip list in one dense array, proxies, and the linked data.

use super::sheet::Sheet;

const LEFT: f64 = 10.0;
const CELL: f64 = 20.0;

pub fn drawing() -> String {
    let mut sheet = Sheet::new(
        262.0,
        "Fast lanes of a skip list are stored one after the other in one array; eight neighbours are compared at once; \
         proxies lead to the linked data",
    );
    sheet.word("b", (LEFT, 16.0), "all lanes in one array, without pointers");
    let lanes: [(&str, &[u32]); 2] =
        [("lane 2", &[1, 5, 9, 13, 17]), ("lane 1", &[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21])];
    let mut x = LEFT;
    for (lane, (name, keys)) in lanes.iter().enumerate() {
        sheet.word("s", (x, 66.0), name);
        for key in *keys {
            let compared = lane == 1 && (7..=21).contains(key);
            sheet.cell(if compared { "box hot" } else { "box" }, (x, 26.0), (CELL, 24.0), &key.to_string());
            x += CELL;
        }
    }
    let (from, to) = (LEFT + 8.0 * CELL, LEFT + 16.0 * CELL);
    sheet.line("hot", &[(from, 56.0), (from, 60.0), (to, 60.0), (to, 56.0)]);
    sheet.word("e s", (to, 76.0), "eight keys, one instruction");
    // A search: along lane 2, down into lane 1.
    sheet.word("b", (LEFT, 108.0), "a search: lane by lane, then a proxy");
    proxies(&mut sheet);
    sheet.close()
}

/// Proxies of lane 1, which hold the keys between two of it beside their references, and the list.
fn proxies(sheet: &mut Sheet) {
    let (first, width, count) = (7, 78.0, 4);
    for nth in 0..count {
        let x = LEFT + (width + 2.0) * nth as f64;
        let key = first + 2 * nth;
        sheet.cell("box hot", (x + 16.0, 120.0), (CELL + 6.0, 22.0), &key.to_string());
        sheet.arrow("soft", &[(x + 29.0, 142.0), (x + 29.0, 156.0)]);
        sheet.cell("box warm", (x, 157.0), (width - 4.0, 24.0), &format!("{} {}", key, key + 1));
        for (half, key) in [(0.0, key), (1.0, key + 1)] {
            let x = x + 3.0 + half * 38.0;
            sheet.arrow("soft", &[(x + 14.0, 181.0), (x + 14.0, 204.0)]);
            sheet.cell("box", (x, 205.0), (28.0, 22.0), &key.to_string());
            if !(nth + 1 == count && half > 0.0) {
                sheet.arrow("soft", &[(x + 28.0, 216.0), (x + 39.0, 216.0)]);
            }
        }
    }
    sheet.word("s", (LEFT, 250.0), "keys of lane 1, their proxies, the linked data");
}
