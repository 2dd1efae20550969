//! Axes: from numbers to places, and round numbers along them.

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

    /// Returns the place of a number; what lies outside is at the edge.
    pub fn place(&self, number: f64) -> f64 {
        let number = if self.logarithmic { number.max(f64::MIN_POSITIVE).ln() } else { number };
        let place = self.start + (number - self.from) / (self.to - self.from) * (self.end - self.start);
        let (low, high) = (self.start.min(self.end), self.start.max(self.end));
        place.clamp(low, high)
    }
}

/// Round numbers around `least..=most`: along a linear axis from 0 if that isn't far, along a logarithmic
/// one 1, 2 and 5 of each decade, or decades alone.
pub fn ticks((least, most): (f64, f64), logarithmic: bool) -> Vec<f64> {
    if logarithmic && least > 0.0 {
        return decades(least, most);
    }
    let least = if least >= 0.0 && least < 0.8 * most { 0.0 } else { least };
    let span = (most - least).max(most.abs() * 1e-3).max(1e-9);
    let rough = span / 4.0;
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|&step| step >= rough * 0.999)
        .unwrap_or(10.0 * magnitude);
    let first = (least / step + 1e-9).floor();
    let last = (most / step - 1e-9).ceil().max(first + 1.0);
    // Counted in tenths of a step, so that 3 × 0.1 is 0.3.
    (0..=(last - first) as usize).map(|nth| rounded((first + nth as f64) * step, step)).collect()
}

fn rounded(number: f64, step: f64) -> f64 {
    let digits = (2.0 - step.log10().floor()).max(0.0) as i32;
    let power = 10f64.powi(digits);
    (number * power).round() / power
}

fn decades(least: f64, most: f64) -> Vec<f64> {
    let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
    let powers = (first..=last).map(|power| 10f64.powi(power));
    if last - first > 2 {
        return powers.collect();
    }
    let each: Vec<f64> = powers.flat_map(|power| [power, 2.0 * power, 5.0 * power]).collect();
    let begin = each.iter().rposition(|&tick| tick <= least * 1.0001).unwrap_or(0);
    let end = each.iter().position(|&tick| tick >= most * 0.9999).unwrap_or(each.len() - 1);
    each[begin..=end.max((begin + 1).min(each.len() - 1))].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_over_both_ends() {
        assert_eq!(ticks((0.0, 9.3), false), [0.0, 2.5, 5.0, 7.5, 10.0]);
        assert_eq!(ticks((0.1, 0.35), false), [0.0, 0.1, 0.2, 0.3, 0.4]);
        assert_eq!(ticks((3.0, 40.0), true), [2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(ticks((3.0, 4e5), true), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        for (least, most) in [(0.0, 0.07), (0.9, 1.7), (0.0, 1e7), (3.0, 3.0), (0.97, 1.02)] {
            for logarithmic in [false, true] {
                let ticks = ticks((least, most), logarithmic);
                assert!(ticks.len() >= 2 && ticks.len() <= 9, "{ticks:?}");
                assert!(
                    ticks[0] <= least && *ticks.last().unwrap() >= most - 1e-9,
                    "{least} {most} {ticks:?}"
                );
            }
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
}
