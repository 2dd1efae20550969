//! What a row has to reach, and whether it did.

use super::races::{Measured, Races};
use super::row::{Field, Row, What};
use crate::outcome::{beside, percent};
use std::fmt;

/// What a row has to reach.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// At least so many times as fast as an index, in the same row or as that index was in another.
    Faster {
        /// The other index.
        than: &'static str,
        /// Where its time is from, if not from the same row.
        in_row: Option<&'static str>,
        /// How many times.
        times: f64,
    },
    /// At least so many times as fast as each of these rivals.
    Ahead {
        /// The rivals.
        of: Field,
        /// How many times.
        times: f64,
    },
    /// At least so many times as fast as each of these rivals was in another row.
    AheadIn {
        /// The other row.
        row: &'static str,
        /// The rivals.
        of: Field,
        /// How many times.
        times: f64,
    },
    /// At most so many nanoseconds, if the index holds so many keys.
    Nanoseconds {
        /// The bound.
        at_most: f64,
        /// The number of keys that it is for.
        records: usize,
    },
    /// At most so many bytes per key.
    BytesPerKey(f64),
    /// At most so many bytes per key beside the key and its value.
    BytesBeside {
        /// The bound.
        at_most: f64,
        /// A key set that has a bound of its own, and this bound.
        but_of: Option<(&'static str, f64)>,
    },
    /// At most so many microseconds.
    AtMostMicroseconds(f64),
    /// At most so many times what the same row takes on the uniform key set.
    OfUniform(f64),
    /// At most this share of the lookups went to a wrong leaf.
    Misled(f64),
}

/// Whether a goal is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Yes.
    Reached,
    /// No, and what it is instead.
    Missed(String),
    /// Nobody can say, and why.
    Open(String),
    /// The goal is for another setting.
    Elsewhere,
}

impl Goal {
    /// The other row that it needs, if it needs one.
    pub const fn other_row(&self) -> Option<&'static str> {
        match *self {
            Self::Faster { in_row, .. } => in_row,
            Self::AheadIn { row, .. } => Some(row),
            _ => None,
        }
    }

    /// Whether `row` has reached it.
    pub fn judge(&self, row: &Row, races: &Races) -> Verdict {
        let Some(ours) = races.of(row, row.ours) else {
            return Verdict::Open(format!("{} didn't race", row.ours));
        };
        match *self {
            Self::Faster { than, in_row, times } => {
                match in_row.map_or_else(|| races.of(row, than), |other| races.in_row(other, than)) {
                    Some(theirs) => at_least(theirs.median_ns / ours.median_ns, times),
                    None => Verdict::Open(format!("{than} didn't race")),
                }
            }
            Self::Ahead { of, times } => ahead(ours.median_ns, of, times, row, races),
            Self::AheadIn { row: other, of, times } => match races.row(other) {
                Some(other) => ahead(ours.median_ns, of, times, other, races),
                None => Verdict::Open(format!("there is no row {other}")),
            },
            Self::Nanoseconds { records, .. } if records != races.records() => Verdict::Elsewhere,
            Self::Nanoseconds { at_most, .. } => at_most_of(ours.median_ns, at_most, "ns"),
            Self::BytesBeside { at_most, but_of } => {
                let own = but_of.filter(|(keys, _)| races.keys() == *keys);
                let bound = own.map_or(at_most, |(_, bound)| bound);
                at_most_of(beside(ours.bytes_per_key, ours.key_bytes), bound, "B")
            }
            Self::BytesPerKey(at_most) => at_most_of(ours.bytes_per_key, at_most, "B"),
            Self::AtMostMicroseconds(at_most) => at_most_of(number(row, ours), at_most, "µs"),
            Self::OfUniform(times) => match races.uniform_ns(row) {
                Some(uniform) if ours.median_ns / uniform <= times => Verdict::Reached,
                Some(uniform) => Verdict::Missed(format!("{} uniform", ratio(ours.median_ns / uniform))),
                None => Verdict::Open("uniform keys didn't race".to_owned()),
            },
            Self::Misled(at_most) => match ours.misled {
                Some(share) if share <= at_most => Verdict::Reached,
                Some(share) => Verdict::Missed(format!("{} misled", percent(share))),
                None => Verdict::Open("nothing says how many were misled".to_owned()),
            },
        }
    }
}

/// Whether each of these rivals took at least so many times as long, in that row.
fn ahead(ours_ns: f64, of: Field, times: f64, row: &Row, races: &Races) -> Verdict {
    let known: Vec<_> = of.entries().into_iter().map(|entry| entry.name).collect();
    match races.best_rival(row, |name| known.contains(&name)) {
        Some(best) if best.median_ns / ours_ns < times => {
            Verdict::Missed(format!("{} {}", best.index, ratio(best.median_ns / ours_ns)))
        }
        _ if !known.iter().all(|name| races.asked(row, name)) => {
            Verdict::Open("not all rivals raced".to_owned())
        }
        _ => Verdict::Reached,
    }
}

fn at_least(found: f64, wanted: f64) -> Verdict {
    if found >= wanted { Verdict::Reached } else { Verdict::Missed(ratio(found)) }
}

fn at_most_of(found: f64, wanted: f64, unit: &str) -> Verdict {
    if found <= wanted { Verdict::Reached } else { Verdict::Missed(format!("{found:.1} {unit}")) }
}

/// `4.5×`, for people.
pub fn ratio(times: f64) -> String {
    if times < 10.0 { format!("{times:.2}×") } else { format!("{times:.1}×") }
}

impl fmt::Display for Goal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Faster { than, in_row: None, times } => write!(out, "{times}× {than}"),
            Self::Faster { than, in_row: Some(row), times } => write!(out, "{times}× {than} in {row}"),
            Self::Ahead { of, times } if *times == 1.0 => write!(out, "ahead of {}", whom(*of)),
            Self::Ahead { of, times } => write!(out, "{times}× {}", whom(*of)),
            Self::AheadIn { row, of, times } => write!(out, "{times}× {} in {row}", whom(*of)),
            Self::Nanoseconds { at_most, records } => {
                write!(out, "≤ {at_most} ns at {}M keys", records / 1_000_000)
            }
            Self::BytesPerKey(bytes) => write!(out, "≤ {bytes} B"),
            Self::BytesBeside { at_most, but_of: None } => write!(out, "≤ {at_most} B beside"),
            Self::BytesBeside { at_most, but_of: Some((keys, bound)) } => {
                write!(out, "≤ {at_most} B beside ({bound} of {keys})")
            }
            Self::AtMostMicroseconds(us) => write!(out, "≤ {us} µs"),
            Self::OfUniform(times) => write!(out, "≤ {times}× uniform"),
            Self::Misled(share) => write!(out, "≤ {} misled", percent(*share)),
        }
    }
}

/// The rivals of a goal, for people.
const fn whom(of: Field) -> &'static str {
    match of {
        Field::Concurrent => "every concurrent rival",
        Field::All | Field::Baseline | Field::Kinds | Field::Bytes => "every rival",
    }
}

/// What is said of all goals of a row together; nothing where there are none.
pub fn together(verdicts: &[Verdict]) -> String {
    let told = |tell: fn(&Verdict) -> Option<&String>| {
        let mut told: Vec<_> = verdicts.iter().filter_map(tell).cloned().collect();
        // What two goals miss for the same reason is said once.
        told.dedup();
        told.join(", ")
    };
    let missed = told(|verdict| if let Verdict::Missed(what) = verdict { Some(what) } else { None });
    let open = told(|verdict| if let Verdict::Open(why) = verdict { Some(why) } else { None });
    match (missed.as_str(), open.as_str()) {
        ("", "") if verdicts.contains(&Verdict::Reached) => "yes".to_owned(),
        ("", "") => String::new(),
        ("", open) => format!("open: {open}"),
        (missed, _) => format!("no: {missed}"),
    }
}

/// A row's number of an index, in the row's own unit.
pub fn number(row: &Row, measured: &Measured) -> f64 {
    match row.what {
        What::Time => measured.median_ns,
        What::Bytes => measured.bytes_per_key,
        What::Beside => beside(measured.bytes_per_key, measured.key_bytes),
        What::Within999 => measured.pauses_us[0],
        What::Within99999 => measured.pauses_us[1],
        What::Longest => measured.pauses_us[2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::suite::row::{Of, Run};

    const ROW: Row = Row {
        name: "row",
        of: Of::Run(Run { flags: "--workload get", one_in: 1, field: Field::Concurrent, exclusive: true }),
        ours: "index",
        what: What::Time,
        goals: &[],
        note: "",
    };

    fn measured(index: &str, median_ns: f64) -> Measured {
        Measured {
            index: index.to_owned(),
            median_ns,
            min_ns: median_ns,
            max_ns: median_ns,
            bytes_per_key: 20.0,
            key_bytes: 7.0,
            per: "op".to_owned(),
            misled: (index == "index").then_some(0.02),
            leaf_fill: None,
            pauses_us: [5.0, 80.0, 400.0],
        }
    }

    /// Our 100 ns, and those of all concurrent rivals but `absent`.
    fn races(rival_ns: f64, absent: &[&str]) -> Races {
        let mut names = vec!["btreemap", "index"];
        let entries = catalogue::entries();
        let rivals =
            entries.iter().filter(|entry| entry.concurrent && entry.origin == catalogue::Origin::Rival);
        names.extend(rivals.map(|entry| entry.name).filter(|name| !absent.contains(name)));
        let ns = |name: &str| match name {
            "index" => 100.0,
            "btreemap" => 450.0,
            _ => rival_ns,
        };
        let found = names.iter().map(|name| measured(name, ns(name))).collect();
        Races::of_one(10_000_000, "row", names.iter().map(|&name| name.to_owned()).collect(), found)
    }

    #[test]
    fn ratios_and_bounds_are_judged() {
        let judged = |goal: Goal| goal.judge(&ROW, &races(120.0, &[]));
        let faster = |than, times| judged(Goal::Faster { than, in_row: None, times });
        assert_eq!(faster("btreemap", 4.5), Verdict::Reached);
        assert_eq!(faster("btreemap", 4.6), Verdict::Missed("4.50×".to_owned()));
        assert_eq!(faster("nobody", 1.0), Verdict::Open("nobody didn't race".to_owned()));
        let elsewhere = Goal::Faster { than: "btreemap", in_row: Some("row"), times: 4.0 };
        assert_eq!(judged(elsewhere), Verdict::Reached);
        let nanoseconds = |at_most, records| judged(Goal::Nanoseconds { at_most, records });
        assert_eq!(nanoseconds(100.0, 10_000_000), Verdict::Reached);
        assert_eq!(nanoseconds(99.0, 10_000_000), Verdict::Missed("100.0 ns".to_owned()));
        assert_eq!(nanoseconds(1.0, 1000), Verdict::Elsewhere);
        let longest = Row { what: What::Longest, ..ROW };
        let at_most = |us| Goal::AtMostMicroseconds(us).judge(&longest, &races(120.0, &[]));
        assert_eq!(at_most(400.0), Verdict::Reached);
        assert_eq!(at_most(399.0), Verdict::Missed("400.0 µs".to_owned()));
        assert_eq!(judged(Goal::BytesPerKey(20.0)), Verdict::Reached);
        assert_eq!(judged(Goal::BytesPerKey(19.9)), Verdict::Missed("20.0 B".to_owned()));
        let beside = |at_most, but_of| judged(Goal::BytesBeside { at_most, but_of });
        assert_eq!(beside(5.0, None), Verdict::Reached);
        assert_eq!(beside(4.9, Some(("others", 9.0))), Verdict::Missed("5.0 B".to_owned()));
        assert_eq!(beside(4.9, Some(("", 9.0))), Verdict::Reached, "the bound of these keys");
    }

    #[test]
    fn key_sets_are_judged_by_the_uniform_one_and_by_misled_lookups() {
        let mut races = races(120.0, &[]);
        assert!(matches!(Goal::OfUniform(1.6).judge(&ROW, &races), Verdict::Open(_)));
        races.compare_with_uniform("row", 62.5);
        assert_eq!(Goal::OfUniform(1.6).judge(&ROW, &races), Verdict::Reached);
        assert_eq!(Goal::OfUniform(1.5).judge(&ROW, &races), Verdict::Missed("1.60× uniform".to_owned()));
        assert_eq!(Goal::Misled(0.02).judge(&ROW, &races), Verdict::Reached);
        assert_eq!(Goal::Misled(0.019).judge(&ROW, &races), Verdict::Missed("2.0 % misled".to_owned()));
        let baseline = Row { ours: "btreemap", ..ROW };
        assert!(matches!(Goal::Misled(0.02).judge(&baseline, &races), Verdict::Open(_)));
    }

    #[test]
    fn every_rival_has_to_race_before_we_are_ahead() {
        let ahead = |times, races: Races| Goal::Ahead { of: Field::Concurrent, times }.judge(&ROW, &races);
        assert_eq!(ahead(1.0, races(101.0, &[])), Verdict::Reached);
        assert!(matches!(ahead(1.5, races(101.0, &[])), Verdict::Missed(_)));
        assert!(matches!(ahead(1.0, races(99.0, &["scc"])), Verdict::Missed(_)));
        assert!(matches!(ahead(1.0, races(101.0, &["scc"])), Verdict::Open(_)));
        let in_row =
            |row| Goal::AheadIn { row, of: Field::Concurrent, times: 1.1 }.judge(&ROW, &races(111.0, &[]));
        assert_eq!(in_row("row"), Verdict::Reached);
        assert!(matches!(in_row("nobody"), Verdict::Open(_)));
    }

    #[test]
    fn a_row_is_reached_when_all_of_its_goals_are() {
        let (missed, open) = (Verdict::Missed("2×".to_owned()), Verdict::Open("why".to_owned()));
        assert_eq!(together(&[]), "");
        assert_eq!(together(&[Verdict::Elsewhere]), "");
        assert_eq!(together(&[Verdict::Reached, Verdict::Elsewhere]), "yes");
        assert_eq!(together(&[Verdict::Reached, open.clone()]), "open: why");
        let other = Verdict::Missed("3×".to_owned());
        assert_eq!(together(&[open.clone(), missed.clone(), other]), "no: 2×, 3×");
        assert_eq!(together(&[open.clone(), open]), "open: why");
    }
}
