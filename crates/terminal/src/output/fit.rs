//! Which columns of a table fit a line, and how wide each of them may be.

/// The width left of the first cell, between two and right of the last: `│ a   b │`.
const AROUND: usize = 4;
const BETWEEN: usize = 3;

/// The largest width to which a cell is padded. Longer ones push the rest of the line to the right.
const PADDED_MAX: usize = 256;

/// A column is cut down to this width before others are left out for it.
const NARROW: usize = 6;

/// Columns that are shown, by number, and their widths in the terminal's cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// Their numbers and widths, from left to right.
    pub shown: Vec<(usize, usize)>,
    /// How many others there are. An ellipsis replaces them in a column of its own.
    pub hidden: usize,
}

impl Fit {
    /// The columns of these natural widths in a line of `room` cells (`None`: as long as it likes).
    /// Wide columns give way first, then the last ones are left out, but never the column `keep`.
    pub fn new(natural: &[usize], room: Option<usize>, keep: usize) -> Self {
        let padded = |(column, &width): (usize, &usize)| (column, width.clamp(1, PADDED_MAX));
        let mut all = Self { shown: natural.iter().enumerate().map(padded).collect(), hidden: 0 };
        let Some(room) = room else { return all };
        if all.capped(NARROW).line() > room {
            all.leave_out(room, keep);
        }
        let widest = all.shown.iter().map(|&(_, width)| width).max().unwrap_or(1);
        let cap = (1..=widest).rev().find(|&cap| all.capped(cap).line() <= room);
        all.capped(cap.unwrap_or(1))
    }

    /// How long a line is, borders included.
    pub fn line(&self) -> usize {
        let columns = self.shown.len() + usize::from(self.hidden > 0);
        let widths: usize = self.shown.iter().map(|&(_, width)| width).sum();
        AROUND + widths + usize::from(self.hidden > 0) + BETWEEN * columns.saturating_sub(1)
    }

    /// The same columns, none wider than `cap`.
    fn capped(&self, cap: usize) -> Self {
        let shown = self.shown.iter().map(|&(column, width)| (column, width.min(cap))).collect();
        Self { shown, hidden: self.hidden }
    }

    /// Leaves out the last columns for which a line has no room even if all are narrow.
    fn leave_out(&mut self, room: usize, keep: usize) {
        let narrow = |(_, width): (usize, usize)| width.min(NARROW) + BETWEEN;
        let mut left = room.saturating_sub(AROUND + 1);
        let mut take = |column| {
            let fits = narrow(column) <= left;
            left = if fits { left - narrow(column) } else { 0 };
            fits
        };
        let (kept, others): (Vec<_>, Vec<_>) =
            self.shown.iter().copied().partition(|&(column, _)| column == keep);
        kept.iter().for_each(|&column| {
            take(column);
        });
        let mut shown: Vec<_> = others.into_iter().take_while(|&column| take(column)).chain(kept).collect();
        shown.sort_unstable();
        self.hidden = self.shown.len() - shown.len();
        self.shown = shown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_columns_give_way_first() {
        let widths = |natural: &[usize], room| Fit::new(natural, room, 0).shown;
        assert_eq!(widths(&[3, 5], None), [(0, 3), (1, 5)]);
        assert_eq!(widths(&[3, 5], Some(15)), [(0, 3), (1, 5)]);
        assert_eq!(widths(&[3, 90, 10], Some(40)), [(0, 3), (1, 17), (2, 10)]);
        assert_eq!(widths(&[1_000_000], None), [(0, PADDED_MAX)]);
    }

    #[test]
    fn the_last_columns_are_left_out_but_the_key() {
        let fit = Fit::new(&[6; 300], Some(70), 250);
        assert_eq!(fit.shown.iter().map(|&(column, _)| column).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 250]);
        assert_eq!(fit.hidden, 293);
        assert!(fit.line() <= 70);
    }

    proptest! {
        #[test]
        fn a_line_keeps_to_its_room(
            natural in prop::collection::vec(0usize..300, 1..40),
            room in 20usize..200,
            keep: prop::sample::Index,
        ) {
            let keep = keep.index(natural.len());
            let fit = Fit::new(&natural, Some(room), keep);
            prop_assert!(fit.line() <= room, "{fit:?}");
            prop_assert!(fit.shown.iter().any(|&(column, _)| column == keep));
            prop_assert!(fit.shown.is_sorted());
            prop_assert_eq!(fit.shown.len() + fit.hidden, natural.len());
        }
    }
}
