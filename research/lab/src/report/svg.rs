//! A drawing area with two axes.

use std::fmt::Write as _;

/// Text that is safe inside of an element or an attribute.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number as an axis shows it: `30K`, `1M`, `0.2`.
pub fn short(number: f64) -> String {
    for (unit, letter) in [(1e6, "M"), (1e3, "K")] {
        let scaled = number / unit;
        if scaled >= 1.0 && (scaled * 100.0).fract() == 0.0 {
            return format!("{scaled}{letter}");
        }
    }
    rounded(number)
}

/// Formats a number with three digits, for a place among other numbers.
pub fn brief(number: f64) -> String {
    let (scaled, letter) = [(1e9, "G"), (1e6, "M"), (1e3, "K")]
        .into_iter()
        .find(|(unit, _)| number.abs() >= *unit)
        .map_or((number, ""), |(unit, letter)| (number / unit, letter));
    let digits = if scaled.abs() >= 100.0 {
        0
    } else if scaled.abs() >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{letter}")
}

/// A number with up to three digits after the point.
pub fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A mapping of numbers to places along an axis.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// Creates the mapping of `from..=to` to `start..=end`; both ends of a logarithmic one are positive.
    pub fn new((from, to): (f64, f64), (start, end): (f64, f64), logarithmic: bool) -> Self {
        let logarithmic = logarithmic && from > 0.0;
        let shape = |number: f64| if logarithmic { number.ln() } else { number };
        let (from, to) = (shape(from), shape(to));
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, start, end, logarithmic }
    }

    /// Returns the place of a number.
    pub fn place(&self, number: f64) -> f64 {
        let number = if self.logarithmic { number.max(f64::MIN_POSITIVE).ln() } else { number };
        let place = self.start + (number - self.from) / (self.to - self.from) * (self.end - self.start);
        let (low, high) = (self.start.min(self.end), self.start.max(self.end));
        place.clamp(low, high)
    }
}

/// Round numbers from 0 or so up to a little over `most`, at most seven.
pub fn ticks(least: f64, most: f64) -> Vec<f64> {
    let span = (most - least).max(1e-9);
    let rough = span / 5.0;
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|&step| step >= rough)
        .unwrap_or(10.0 * magnitude);
    let first = (least / step).floor();
    let last = (most / step).ceil().max(first + 1.0);
    (0..=(last - first) as usize).map(|nth| (first + nth as f64) * step).collect()
}

/// Pixels from one line of a legend, or one bar, to the next.
pub const LEGEND_LINE: f64 = 20.0;

/// The frame of a chart: its size and margins in pixels.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
    /// Left edge of the plot.
    pub left: f64,
    /// Right edge of the plot.
    pub right: f64,
    /// Upper edge of the plot.
    pub top: f64,
    /// Lower edge of the plot.
    pub bottom: f64,
}

impl Frame {
    /// The size that all charts have, with a legend to the right.
    pub const NORMAL: Self =
        Self { width: 520.0, height: 300.0, left: 46.0, right: 404.0, top: 14.0, bottom: 254.0 };

    /// Returns the same area with room for a legend of that many series.
    pub fn with_legend(self, series: usize) -> Self {
        let more = (LEGEND_LINE * series as f64 - (self.bottom - self.top)).max(0.0);
        Self { height: self.height + more, bottom: self.bottom + more, ..self }
    }

    /// Returns the size of a chart of bars below each other, with labels of that many letters to the left.
    pub fn of_bars(bars: usize, letters: usize) -> Self {
        let left = (6.6 * letters as f64 + 14.0).clamp(60.0, 250.0);
        let bottom = 8.0 + LEGEND_LINE * bars as f64;
        Self { width: 520.0, height: bottom + 8.0, left, right: 446.0, top: 8.0, bottom }
    }

    /// Opens a figure.
    pub fn open(&self, page: &mut String, caption: &str) {
        let _ = write!(
            page,
            "<figure><figcaption>{}</figcaption><svg role=\"img\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">",
            escape(caption),
            w = self.width,
            h = self.height
        );
    }

    /// Closes a figure.
    pub fn close(page: &mut String) {
        page.push_str("</svg></figure>\n");
    }

    /// The grid and labels of the y axis.
    pub fn y_axis(&self, page: &mut String, scale: &Scale, ticks: &[f64]) {
        for &tick in ticks {
            let y = scale.place(tick);
            let _ = write!(
                page,
                "<path class=\"axis\" d=\"M{:.1} {y:.1}H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                self.left,
                self.right,
                self.left - 7.0,
                y + 4.0,
                short(tick)
            );
        }
    }

    /// A label under the x axis.
    pub fn x_tick(&self, page: &mut String, x: f64, label: &str) {
        let _ = write!(
            page,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            self.bottom + 18.0,
            escape(label)
        );
    }

    /// Writes the label of the x axis.
    pub fn x_label(&self, page: &mut String, label: &str) {
        let _ = write!(
            page,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (self.left + self.right) / 2.0,
            self.bottom + 38.0,
            escape(label)
        );
    }

    /// One entry of the legend.
    pub fn legend(&self, page: &mut String, position: usize, class: &str, label: &str) {
        let y = self.top + 8.0 + LEGEND_LINE * position as f64;
        let _ = write!(
            page,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"14\" height=\"4\" rx=\"2\"/>\
             <text class=\"legend\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            self.right + 14.0,
            y - 4.0,
            self.right + 34.0,
            y + 2.0,
            escape(label)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let forms = [
            (30_000.0, "30K"),
            (1e6, "1M"),
            (1_234.0, "1234"),
            (0.25, "0.25"),
            (8.0, "8"),
            (2_500.0, "2.5K"),
        ];
        for (number, text) in forms {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn ticks_are_round_and_reach_over_both_ends() {
        assert_eq!(ticks(0.0, 9.3), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        for (least, most) in [(0.0, 0.07), (0.9, 1.7), (0.0, 1e7), (3.0, 3.0)] {
            let ticks = ticks(least, most);
            assert!(ticks.len() >= 2 && ticks.len() <= 8, "{ticks:?}");
            assert!(ticks[0] <= least && *ticks.last().unwrap() >= most - 1e-9, "{ticks:?}");
        }
    }

    #[test]
    fn a_logarithmic_scale_spaces_decades_evenly() {
        let scale = Scale::new((10.0, 1000.0), (0.0, 200.0), true);
        assert!((scale.place(100.0) - 100.0).abs() < 1e-9);
        assert!((scale.place(1e9) - 200.0).abs() < 1e-9, "what lies outside is drawn at the edge");
        let single = Scale::new((5.0, 5.0), (0.0, 200.0), true);
        assert!(single.place(5.0).is_finite());
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
    }
}
