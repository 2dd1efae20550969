//! Charts: one curve a series, what is stated beside it, and nothing that covers them.

use super::chart::{BARS, COLOURS, LEAST, MOST, Mark};
use super::*;
use crate::catalogue::catalogue;
use crate::claims::judge::{distinct, grouped};
use crate::claims::kept::{Kept, Record, Stated};
use crate::experiment::Body;
use crate::report::text::{ChartText, Form, Text};
use std::collections::BTreeSet;
use std::path::Path;

/// The kept rows of an experiment, of both places.
fn kept(paper: &str, experiment: &str) -> Vec<Record> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    let of =
        |place| Kept::read(&results.join(place).join(paper).join(format!("{experiment}.json"))).unwrap().rows;
    ["model", "native"].into_iter().flat_map(of).collect()
}

fn record(series: &str, x: f64, unit: &str, ours: f64) -> Record {
    let row = crate::row::Row::new(series, x, unit, ours);
    Record::from(&crate::row::Row { on: crate::on::On::Model, ..row })
}

fn text() -> Text {
    Text::of("pb-tree")
}

fn kind(body: &Body) -> &'static str {
    match body {
        Body::Measured(_) => "measured",
        Body::Parallel(_) => "parallel",
        Body::Timed { .. } => "timed",
        Body::Batched(_) => "batched",
        Body::Driven { .. } => "driven",
        Body::Computed { .. } => "computed",
    }
}

/// The points of the paths of a chart's curves.
fn paths(page: &str) -> Vec<Vec<f64>> {
    let path = |part: &str| {
        let path = part.split("d=\"M").nth(1).and_then(|path| path.split('"').next()).unwrap();
        path.split('L').map(|point| point.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    page.split("class=\"curve\"").skip(1).map(path).collect()
}

#[test]
fn each_series_of_each_panel_unit_and_place_is_one_curve_with_all_its_points() {
    let mut kinds = BTreeSet::new();
    let (mut charts, mut curves_drawn) = (0, 0);
    for one in catalogue() {
        let rows = kept(one.paper.name, one.experiment.name);
        let all: Vec<&Record> = rows.iter().filter(|row| row.ours.is_finite()).collect();
        for group in grouped(&all, |row| (row.panel.clone(), row.unit.clone(), row.on.clone())) {
            let (paper, name) = (one.paper.name, one.experiment.name);
            let chart = ChartText {
                panel: group[0].panel.clone(),
                unit: vec![group[0].unit.clone()],
                ..ChartText::default()
            };
            let on = &group[0].on;
            let of_place: Vec<&Record> = all.iter().filter(|row| row.on == *on).copied().collect();
            let plot = Plot::of(&chart, &Text::of(paper), &of_place, "x").unwrap();
            let series = distinct(group.iter().map(|row| row.series.as_str()));
            let mut page = String::new();
            curves(&mut page, &plot);
            assert!(!page.contains("NaN") && !page.contains("inf"), "{paper} {name}");
            let xs: BTreeSet<u64> = group.iter().map(|row| row.x.to_bits()).collect();
            if xs.len() == 1 {
                assert_eq!(page.matches("class=\"bar\"").count(), series.len().min(BARS), "{paper} {name}");
                continue;
            }
            let paths = paths(&page);
            assert_eq!(paths.len(), series.len().min(COLOURS), "{paper} {name} {on}");
            let colours: BTreeSet<usize> = plot.curves.iter().map(|curve| curve.colour).collect();
            assert_eq!(colours.len(), plot.curves.len(), "{paper} {name}: two curves have one colour");
            for (series, path) in series.iter().zip(&paths) {
                let of_series: BTreeSet<u64> =
                    group.iter().filter(|row| row.series == *series).map(|row| row.x.to_bits()).collect();
                assert_eq!(path.len(), of_series.len(), "{paper} {name} {on}, {}: {series}", group[0].unit);
                assert!(path.is_sorted(), "{paper} {name}: a curve goes from left to right");
            }
            kinds.insert(kind(&one.experiment.body));
            charts += 1;
            curves_drawn += paths.len();
        }
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}: a kind of experiments has no chart");
    assert!(charts > 200 && curves_drawn > 800, "{charts} charts, {curves_drawn} curves");
}

#[test]
fn a_stated_ratio_is_drawn_in_the_chart_s_own_unit() {
    let row = |unit: &str, ours, published, cost| Record {
        published,
        cost: Some(cost),
        ..record("p8", 10.0, unit, ours)
    };
    let band = Some(Stated::Band([Some(1.25), Some(2.0)]));
    // p8 takes 100 where the baseline takes 150: the band is from 75 to 120.
    let speedup = [row("speedup over b-plus", 1.5, band, 100.0)];
    let speedup: Vec<&Record> = speedup.iter().collect();
    let chart = |unit: &str| ChartText { unit: vec![unit.to_string()], ..ChartText::default() };
    let plot = Plot::of(&chart("cost"), &text(), &speedup, "").unwrap();
    assert_eq!(plot.curves[0].marks, [Mark { x: 10.0, low: 75.0, high: 120.0 }]);
    let bound = [row("speedup over b-plus", 1.5, Some(Stated::Band([Some(1.2), None])), 100.0)];
    let bound: Vec<&Record> = bound.iter().collect();
    let marks = Plot::of(&chart("cost"), &text(), &bound, "").unwrap().curves[0].marks.clone();
    assert_eq!(
        marks,
        [Mark { x: 10.0, low: f64::NEG_INFINITY, high: 125.0 }],
        "at least as fast: at most that time"
    );
    let rows = [
        row("queries a second", 1000.0, None, 1.0),
        row("times binary search", 4.0, Some(Stated::Number(5.0)), 1.0),
        row("times its own at 1", 4.0, Some(LEAST), 1.0),
    ];
    let rows: Vec<&Record> = rows.iter().collect();
    let plot = Plot::of(&chart("queries a second"), &text(), &rows, "").unwrap();
    assert_eq!(plot.curves[0].marks, [Mark { x: 10.0, low: 1250.0, high: 1250.0 }], "an order needs no mark");
}

#[test]
fn a_stated_gain_is_added_to_the_step_before() {
    let mut rows =
        vec![record("skip-list", 1.0, "M queries/s", 10.0), record("+ SIMD", 3.0, "M queries/s", 25.0)];
    rows.push(Record {
        published: Some(Stated::Number(1.3)),
        ..record("+ SIMD", 3.0, "gain over the skip list", 1.5)
    });
    let rows: Vec<&Record> = rows.iter().collect();
    let unit = vec!["M queries/s".to_string()];
    let chart = ChartText { form: Form::Steps, unit, ..ChartText::default() };
    let plot = Plot::of(&chart, &text(), &rows, "").unwrap();
    assert_eq!(plot.curves[1].marks, [Mark { x: 0.0, low: 23.0, high: 23.0 }]);
    let mut page = String::new();
    bars(&mut page, &plot);
    assert_eq!(page.matches("class=\"bar\"").count(), 2, "all steps are in one block");
}

#[test]
fn what_is_stated_never_covers_the_plot() {
    let bounds = [LEAST, MOST, Stated::Band([Some(0.5), Some(2.0)]), Stated::Number(1.0)];
    for bound in bounds {
        let rows: Vec<Record> = ["a", "b", "c"]
            .iter()
            .flat_map(|name| {
                [1.0, 2.0, 3.0].map(|x| Record { published: Some(bound), ..record(name, x, "times", x) })
            })
            .collect();
        let rows: Vec<&Record> = rows.iter().collect();
        let chart = ChartText { unit: vec!["times".to_string()], ..ChartText::default() };
        let mut page = String::new();
        curves(&mut page, &Plot::of(&chart, &text(), &rows, "").unwrap());
        // The same about three curves is said once at each x, in no curve's colour.
        assert_eq!(page.matches("class=\"stated k8\"").count(), 3, "{page}");
        assert!(!page.contains("<rect"), "nothing is filled");
        for path in page.split("class=\"stated k8\" d=\"").skip(1) {
            let path = path.split('"').next().unwrap();
            let xs: Vec<f64> = path
                .split(['M', 'L', 'z'])
                .filter_map(|point| point.split(' ').next()?.parse().ok())
                .collect();
            let width =
                xs.iter().copied().fold(f64::MIN, f64::max) - xs.iter().copied().fold(f64::MAX, f64::min);
            assert!(width <= 14.0, "{width} pixels wide: {path}");
        }
    }
}

#[test]
fn a_table_has_a_line_a_series_and_what_is_stated_below_ours() {
    let mut rows = vec![record("b-plus", 1e4, "levels", 5.0), record("csb", 1e4, "levels", 4.0)];
    rows[0].published = Some(Stated::Number(5.0));
    rows.push(record("b-plus", 1e6, "levels", 7.0));
    let rows: Vec<&Record> = rows.iter().collect();
    let mut page = String::new();
    table(
        &mut page,
        &ChartText { unit: vec!["levels".to_string()], ..ChartText::default() },
        &text(),
        &rows,
        "keys",
    );
    assert!(page.contains("<th scope=\"row\">B+</th><td>5<small>◇ 5</small></td><td>7</td>"), "{page}");
    assert!(page.contains("<th scope=\"row\">CSB+</th><td>4</td><td></td>"), "{page}");
}
