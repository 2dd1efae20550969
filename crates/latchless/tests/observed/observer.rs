//! A recorder of metrics and a subscriber of spans that remember what they saw.

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, SharedString, Unit,
};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};

/// A metric's value: of a histogram, the number of its samples.
#[derive(Default)]
struct Cell(Mutex<f64>);

impl CounterFn for Cell {
    fn increment(&self, value: u64) {
        *self.0.lock().unwrap() += value as f64;
    }
    fn absolute(&self, value: u64) {
        *self.0.lock().unwrap() = value as f64;
    }
}

impl GaugeFn for Cell {
    fn increment(&self, value: f64) {
        *self.0.lock().unwrap() += value;
    }
    fn decrement(&self, value: f64) {
        *self.0.lock().unwrap() -= value;
    }
    fn set(&self, value: f64) {
        *self.0.lock().unwrap() = value;
    }
}

impl HistogramFn for Cell {
    fn record(&self, value: f64) {
        assert!((0.0..60.0).contains(&value), "{value} seconds");
        *self.0.lock().unwrap() += 1.0;
    }
}

#[derive(Default)]
pub struct Recorder(Mutex<BTreeMap<String, Arc<Cell>>>);

impl Recorder {
    fn cell(&self, key: &Key) -> Arc<Cell> {
        let labels = key.labels().map(|label| format!("{}={}", label.key(), label.value()));
        let labels = labels.collect::<Vec<_>>().join(",");
        let name =
            if labels.is_empty() { key.name().to_owned() } else { format!("{}{{{labels}}}", key.name()) };
        Arc::clone(self.0.lock().unwrap().entry(name).or_default())
    }

    /// Returns the value of a metric, which was recorded.
    pub fn value(&self, name: &str) -> f64 {
        let cells = self.0.lock().unwrap();
        let cell = cells.get(name).unwrap_or_else(|| panic!("{name} isn't among {:?}", cells.keys()));
        *cell.0.lock().unwrap()
    }

    /// Returns how many metrics there are.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.cell(key))
    }
}

type Seen = (&'static str, BTreeMap<&'static str, u64>, bool);

/// The spans, in the order in which they began.
#[derive(Default, Clone)]
pub struct Spans(Arc<Mutex<VecDeque<(u64, Seen)>>>, Arc<Mutex<u64>>);

impl Spans {
    /// Checks the first span that wasn't checked, which has ended.
    #[track_caller]
    pub fn expect(&self, name: &str, fields: &[(&'static str, u64)]) {
        let (_, (found, values, ended)) = self.0.lock().unwrap().pop_front().expect("a span");
        assert_eq!((found, values, ended), (name, fields.iter().copied().collect(), true));
    }

    /// Checks that there is no other.
    pub fn expect_none(&self) {
        assert!(self.0.lock().unwrap().is_empty(), "{:?}", self.0);
    }

    fn change(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        let mut spans = self.0.lock().unwrap();
        change(&mut spans.iter_mut().find(|span| span.0 == id.into_u64()).expect("it began").1);
    }
}

struct Fields<'a>(&'a mut BTreeMap<&'static str, u64>);

impl Visit for Fields<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name(), value);
    }
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        panic!("{} is {value:?}, which is no number", field.name());
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("latchless")
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut last = self.1.lock().unwrap();
        *last += 1;
        let mut values = BTreeMap::new();
        span.record(&mut Fields(&mut values));
        self.0.lock().unwrap().push_back((*last, (span.metadata().name(), values, false)));
        Id::from_u64(*last)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        self.change(span, |seen| values.record(&mut Fields(&mut seen.1)));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, span: &Id) {
        self.change(span, |seen| seen.2 = true);
    }
}
