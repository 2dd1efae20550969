//! A chart as data: curves of ours along an axis, and what the text of the paper states.

use crate::claims::judge::distinct;
use crate::claims::kept::{Record, Stated};
use crate::report::text::{ChartText, Form, Text};

/// The colours, each with a marker of its own.
pub const COLOURS: usize = 8;
/// The most bars of a block.
pub(super) const BARS: usize = 17;

/// What a chart shows at one place.
#[derive(Debug, Clone, Default)]
pub struct Plot {
    /// What is above it.
    pub caption: String,
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the y axis.
    pub y_label: String,
    /// Whether the x axis is logarithmic.
    pub log_x: bool,
    /// Whether the y axis is logarithmic.
    pub log_y: bool,
    /// The curves, at most as many as there are colours.
    pub curves: Vec<Curve>,
    /// The number of further curves that aren't drawn.
    pub left_out: usize,
}

/// A series: ours, and what is stated about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// The name as the chart shows it.
    pub name: String,
    /// The colour and the marker.
    pub colour: usize,
    /// Our points, by x.
    pub points: Vec<Point>,
    /// What is stated.
    pub marks: Vec<Mark>,
}

/// A point of a curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// The place on the x axis.
    pub x: f64,
    /// Our number.
    pub y: f64,
}

/// What a text states about a point, in the unit of the chart: a number, a band, or a bound whose other
/// end is infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// The place on the x axis.
    pub x: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Plot {
    /// Returns the chart that a text describes, from the rows of one experiment at one place; `None` if it
    /// has no rows there.
    pub fn of(chart: &ChartText, text: &Text, rows: &[&Record], x_label: &str) -> Option<Self> {
        let unit = chart.unit.first()?;
        let in_panel = |row: &&&Record| {
            chart.until.is_none_or(|until| row.x <= until)
                && match chart.panels.is_empty() {
                    true => row.panel == chart.panel,
                    false => chart.panels.contains(&row.panel),
                }
        };
        let in_chart: Vec<&Record> = rows.iter().filter(in_panel).copied().collect();
        let drawn: Vec<&Record> = in_chart.iter().filter(|row| is_in(row, unit)).copied().collect();
        let native = drawn.first()?.on == "native";
        let times = if native { chart.times_native.or(chart.times) } else { chart.times }.unwrap_or(1.0);
        let names = order(chart, &drawn);
        let mut plot = Self {
            caption: caption(chart, unit),
            x_label: if chart.x.is_empty() { x_label } else { &chart.x }.to_string(),
            y_label: y_label(chart, &drawn, native),
            log_x: chart.log_x,
            log_y: chart.log_y,
            ..Self::default()
        };
        let is_one_x =
            chart.form != Form::Curves || drawn.iter().all(|row| row.x.to_bits() == drawn[0].x.to_bits());
        // Bars have their names beside them and may share colours.
        let most = if is_one_x { BARS } else { COLOURS };
        plot.left_out = names.len().saturating_sub(most);
        let mut taken = [false; COLOURS];
        for name in names.iter().take(most) {
            let wished = text.colour(name).unwrap_or(plot.curves.len()) % COLOURS;
            let others = (wished..wished + COLOURS).map(|colour| colour % COLOURS);
            let colour = others.clone().find(|&colour| !taken[colour]).unwrap_or(wished);
            taken[colour] = true;
            let mut points: Vec<Point> = drawn
                .iter()
                .filter(|row| series_of(chart, row) == *name && value(row, unit).is_finite())
                .map(|row| Point { x: row.x, y: times * value(row, unit) })
                .collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            points.dedup_by(|one, other| one.x.to_bits() == other.x.to_bits());
            let of_series: Vec<&Record> =
                in_chart.iter().filter(|row| series_of(chart, row) == *name).copied().collect();
            let marks = marks(&of_series, &in_chart, unit, times);
            plot.curves.push(Curve { name: chart.shown(text, name).to_string(), colour, points, marks });
        }
        if chart.form == Form::Steps {
            plot.in_one_block();
        }
        plot.curves.retain(|curve| !curve.points.is_empty());
        if plot.curves.is_empty() { None } else { Some(plot) }
    }

    /// Puts everything at one place of the x axis: steps, each of which is a place of its own.
    fn in_one_block(&mut self) {
        for curve in &mut self.curves {
            curve.points.truncate(1);
            curve.points.iter_mut().for_each(|point| point.x = 0.0);
            curve.marks.iter_mut().for_each(|mark| mark.x = 0.0);
        }
    }

    /// Returns the places on the x axis, in order.
    pub fn xs(&self) -> Vec<f64> {
        let mut xs: Vec<f64> =
            self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        xs
    }

    /// Returns the least and the greatest number, what is stated included.
    pub fn ends(&self) -> (f64, f64) {
        let ours = self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.y);
        let stated = self.curves.iter().flat_map(|curve| &curve.marks).flat_map(|mark| [mark.low, mark.high]);
        let all = ours.chain(stated).filter(|number| number.is_finite());
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), number| {
            (least.min(number), most.max(number))
        })
    }
}

/// Returns whether a row has a number in this unit.
fn is_in(row: &Record, unit: &str) -> bool {
    if unit == "cost" { row.cost.is_some() } else { row.unit == unit }
}

/// Our number of a row in this unit.
fn value(row: &Record, unit: &str) -> f64 {
    if unit == "cost" { row.cost.unwrap_or(f64::NAN) } else { row.ours }
}

/// The name by which a row belongs to a curve: its series, or its panel where panels are curves.
fn series_of<'a>(chart: &ChartText, row: &'a Record) -> &'a str {
    if chart.panels.is_empty() { &row.series } else { &row.panel }
}

/// The curves' names, in the order of the text or of the rows.
fn order<'a>(chart: &'a ChartText, drawn: &[&'a Record]) -> Vec<&'a str> {
    let found = distinct(drawn.iter().map(|row| series_of(chart, row)));
    let wanted = if chart.panels.is_empty() { &chart.series } else { &chart.panels };
    if wanted.is_empty() {
        return found;
    }
    wanted.iter().map(String::as_str).filter(|name| found.contains(name)).collect()
}

fn caption(chart: &ChartText, unit: &str) -> String {
    let said = if chart.caption.is_empty() { &chart.panel } else { &chart.caption };
    if said.is_empty() && chart.y.is_empty() && unit != "cost" { String::new() } else { said.clone() }
}

fn y_label(chart: &ChartText, drawn: &[&Record], native: bool) -> String {
    let said = if native && !chart.y_native.is_empty() { &chart.y_native } else { &chart.y };
    if !said.is_empty() {
        return said.clone();
    }
    match (chart.unit.first().map(String::as_str), drawn.first()) {
        (Some("cost"), Some(row)) => row.cost_unit.clone(),
        (Some(unit), _) => unit.to_string(),
        _ => String::new(),
    }
}

/// What is stated about a series, in the chart's unit. A ratio that is stated is drawn from our own
/// number: where our ratio is r and the text's p, the text's number in the chart's unit is ours times p
/// over r. An order whose bound is the other curve is seen without a mark.
fn marks(rows: &[&Record], of_chart: &[&Record], unit: &str, times: f64) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for row in rows {
        let Some(stated) = row.published else { continue };
        let mut ends = stated.ends();
        if row.unit != unit || unit == "cost" {
            let base = rows.iter().find(|other| is_in(other, unit) && other.x.to_bits() == row.x.to_bits());
            let Some(base) = base.map(|base| value(base, unit)) else { continue };
            let Some(of) = kind_of(&row.unit, unit) else { continue };
            let is_the_curve = stated.is_order() && (stated == LEAST || stated == MOST);
            if is_the_curve || row.ours <= 0.0 || !base.is_finite() {
                continue;
            }
            let start = of_chart.iter().find(|other| is_in(other, unit) && other.series == START);
            let start = start.map_or(f64::NAN, |start| value(start, unit));
            let turned = |end: f64| of.in_unit((base, start), row.ours, end);
            ends = (turned(ends.0), turned(ends.1));
            if ends.0 > ends.1 {
                ends = (ends.1, ends.0);
            }
            if ends.0.is_nan() || ends.1.is_nan() {
                continue;
            }
        }
        let mark = Mark { x: row.x, low: times * ends.0, high: times * ends.1 };
        let says_something = mark.low.is_finite() || mark.high.is_finite();
        if says_something && !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    marks
}

/// The step to which gains are relative.
const START: &str = "skip-list";
pub(super) const LEAST: Stated = Stated::Band([Some(1.0), None]);
pub(super) const MOST: Stated = Stated::Band([None, Some(1.0)]);

/// How a relative unit depends on the absolute one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relative {
    /// In proportion: throughput over another's.
    Proportional,
    /// Inversely: the speedup, of a cost.
    Inverse,
    /// What a step adds, in units of the first step's number.
    Gain,
}

fn kind_of(unit: &str, absolute: &str) -> Option<Relative> {
    let begins = |text: &str| unit.starts_with(text);
    match absolute {
        "cost" => begins("speedup over").then_some(Relative::Inverse),
        _ if begins("gain over") => Some(Relative::Gain),
        _ if begins("times ") || begins("throughput over") => Some(Relative::Proportional),
        _ => None,
    }
}

impl Relative {
    /// Returns a stated ratio in the absolute unit, of which we have `base` where our ratio is `ours`, and
    /// `start` at the first step.
    fn in_unit(self, (base, start): (f64, f64), ours: f64, stated: f64) -> f64 {
        match self {
            Self::Proportional => base * stated / ours,
            Self::Inverse if stated.is_infinite() => {
                if stated > 0.0 {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            Self::Inverse => base * ours / stated,
            Self::Gain => base + (stated - ours) * start,
        }
    }
}
