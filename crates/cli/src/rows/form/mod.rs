//! Forms of cells that are neither plain numbers nor texts: dates, times, addresses, versions, exact
//! decimals.
//!
//! Each form converts a cell to a key: bytes in the order of the cells' meanings, none of which is a prefix
//! of another. So an index of byte strings keeps their order, alone and as a part of a longer key.

mod address;
mod calendar;
pub mod clock;
pub mod date;
mod decimal;
mod forms;
pub mod moment;
mod version;

pub use date::Order;
pub use decimal::{Mark, number};
pub use forms::Forms;
pub use moment::Zone;

use std::fmt;

/// The meaning of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Numbers of any size and any count of digits.
    Decimal(Mark),
    /// Days.
    Date(Order),
    /// Days with a time.
    Timestamp(Order, Zone),
    /// Times of day.
    Time,
    /// IP addresses of either version.
    Address,
    /// Versions of software.
    Version,
}

/// The name of each form, and a cell that has it.
const NAMES: [(Form, &str, &str); 17] = {
    use Form::{Address, Date, Decimal, Time, Timestamp, Version};
    use Order::{Dmy, Mdy, Mon, Ymd};
    use Zone::{With, Without};
    [
        (Date(Ymd), "date", "2023-12-31"),
        (Date(Mdy), "date-mdy", "12/31/2023"),
        (Date(Dmy), "date-dmy", "31/12/2023"),
        (Date(Mon), "date-mon", "31 Dec 2023"),
        (Timestamp(Ymd, Without), "timestamp", "2023-12-31T23:59:59"),
        (Timestamp(Mdy, Without), "timestamp-mdy", "12/31/2023 23:59:59"),
        (Timestamp(Dmy, Without), "timestamp-dmy", "31/12/2023 23:59:59"),
        (Timestamp(Mon, Without), "timestamp-mon", "31 Dec 2023 23:59:59"),
        (Timestamp(Ymd, With), "timestamptz", "2023-12-31T23:59:59Z"),
        (Timestamp(Mdy, With), "timestamptz-mdy", "12/31/2023 23:59:59Z"),
        (Timestamp(Dmy, With), "timestamptz-dmy", "31/12/2023 23:59:59Z"),
        (Timestamp(Mon, With), "timestamptz-mon", "31 Dec 2023 23:59:59Z"),
        (Time, "time", "23:59:59"),
        (Address, "ip", "10.0.0.1"),
        (Version, "version", "1.10.2"),
        (Decimal(Mark::Point), "decimal", "1.50"),
        (Decimal(Mark::Comma), "decimal-comma", "1,50"),
    ]
};

impl Form {
    /// All forms, in the order in which they are guessed.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|&(form, ..)| form)
    }

    /// The form of that name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, called, _)| *called == name).map(|&(form, ..)| form)
    }

    fn place(self) -> usize {
        NAMES
            .iter()
            .position(|&(form, ..)| form == self)
            .unwrap_or_else(|| unreachable!("all forms have names"))
    }

    /// A cell that has this form.
    pub fn example(self) -> &'static str {
        NAMES[self.place()].2
    }

    /// How dates are written in it, if there are some.
    pub fn order(self) -> Option<Order> {
        match self {
            Self::Date(order) | Self::Timestamp(order, _) => Some(order),
            _ => None,
        }
    }

    /// Appends the key of a cell; `None`, and appends nothing, if the cell hasn't this form.
    pub fn push(self, cell: &str, key: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Decimal(mark) => decimal::push(cell, mark, key)?,
            Self::Date(order) => push_day(date::read(cell, order, false)?, key),
            Self::Timestamp(order, zone) => moment::read(cell, order, zone, false)?[0].push(key),
            Self::Time => key.extend_from_slice(&time(cell)?.to_be_bytes()),
            Self::Address => address::push(cell, key)?,
            Self::Version => version::push(cell, key)?,
        }
        Some(())
    }

    /// The first and the last key that a text in a question means. A day among time stamps is all of its
    /// moments; dates may be written as ISO 8601 has them, whatever the column's are.
    pub fn span(self, text: &str) -> Option<[Vec<u8>; 2]> {
        let keys = |push: &dyn Fn(&mut Vec<u8>, usize)| {
            [0, 1].map(|end| {
                let mut key = Vec::new();
                push(&mut key, end);
                key
            })
        };
        match self {
            Self::Date(order) => {
                let orders = [order, Order::Ymd];
                let days = orders.iter().find_map(|&order| date::read(text, order, false))?;
                Some(keys(&|key, _| push_day(days, key)))
            }
            Self::Timestamp(order, zone) => {
                let orders = [order, Order::Ymd];
                let ends = orders.iter().find_map(|&order| moment::read(text, order, zone, false))?;
                Some(keys(&|key, end| ends[end].push(key)))
            }
            _ => {
                let mut key = Vec::new();
                self.push(text, &mut key)?;
                Some([key.clone(), key])
            }
        }
    }

    /// The point in time of a text, in days for dates and in nanoseconds for others, a day at its start;
    /// `None` for other forms, too.
    pub fn time(self, text: &str) -> Option<i128> {
        if !matches!(self, Self::Date(_) | Self::Timestamp(..) | Self::Time) {
            return None;
        }
        let [key, _] = self.span(text)?;
        let (first, rest) = key.split_first_chunk::<8>()?;
        let signed = |bits: u64| i128::from((bits ^ 1 << 63) as i64);
        Some(match (self, rest.first_chunk::<4>()) {
            (Self::Date(_), _) => signed(u64::from_be_bytes(*first)),
            (Self::Timestamp(..), Some(after)) => {
                let seconds = signed(u64::from_be_bytes(*first));
                seconds * i128::from(clock::SECOND_NS) + i128::from(u32::from_be_bytes(*after))
            }
            _ => u64::from_be_bytes(*first).into(),
        })
    }

    /// Whether a cell has this form, and would be taken for it unless other cells contradict.
    pub fn looks_so(self, cell: &str) -> bool {
        match self {
            Self::Decimal(mark) => decimal::looks_so(cell, mark),
            Self::Date(order) => date::read(cell, order, true).is_some(),
            Self::Timestamp(order, zone) => moment::read(cell, order, zone, true).is_some(),
            Self::Version => version::looks_so(cell),
            Self::Time | Self::Address => self.push(cell, &mut Vec::new()).is_some(),
        }
    }

    /// The bounds, by their first bytes, of the keys that are compared: all but NaN, which is in no range.
    pub fn ends(self) -> Option<[u8; 2]> {
        matches!(self, Self::Decimal(_)).then_some(decimal::ENDS)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES[self.place()].1)
    }
}

/// Eight bytes in the order of days.
fn push_day(days: i64, key: &mut Vec<u8>) {
    key.extend_from_slice(&(days as u64 ^ 1 << 63).to_be_bytes());
}

/// A time of day and nothing else, in nanoseconds.
fn time(text: &str) -> Option<u64> {
    clock::read(text).filter(|(_, rest)| rest.is_empty()).map(|(since_midnight_ns, _)| since_midnight_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(form: Form, text: &str) -> Option<Vec<u8>> {
        let mut key = Vec::new();
        form.push(text, &mut key).map(|()| key)
    }

    #[test]
    fn every_form_has_a_name_and_reads_its_example_as_nothing_before_it() {
        for (form, name, example) in NAMES {
            assert_eq!(
                (Form::named(name), form.to_string(), form.example()),
                (Some(form), name.to_owned(), example)
            );
            // 1.50 would do as a version, but numbers are tried before.
            let first = Form::all()
                .find(|&first| first.looks_so(example) && (first != Form::Version || first == form));
            assert_eq!(first, Some(form), "{name}");
            assert_eq!(form.span(example).unwrap()[0], key(form, example).unwrap());
        }
        assert_eq!(Form::named("number"), None);
    }

    #[test]
    fn addresses_are_in_the_order_of_their_numbers() {
        let ascending =
            ["9.0.0.1", "10.0.0.1", "10.0.0.9", "10.0.0.10", "255.255.255.255", "::", "::1", "2001:db8::1"];
        assert!(ascending.map(|text| key(Form::Address, text).expect(text)).is_sorted_by(|a, b| a < b));
        assert_eq!(key(Form::Address, "2001:DB8:0::1"), key(Form::Address, "2001:db8::1"));
        for none in ["10.0.0", "10.0.0.256", "010.0.0.1", "10.0.0.1/8", ":::", ""] {
            assert_eq!(key(Form::Address, none), None, "{none}");
        }
    }

    #[test]
    fn ids_with_zeros_in_front_have_no_form() {
        assert!(Form::all().all(|form| !form.looks_so("01000")));
    }

    /// Two cells of a form, and the order of their meanings.
    fn pairs() -> impl Strategy<Value = (Form, [String; 2], std::cmp::Ordering)> {
        let days = prop::array::uniform2((1600i64..2400, 1u32..13, 1u32..29));
        let dates = (days, 0usize..4).prop_map(|(days, order)| {
            let order = [Order::Ymd, Order::Mdy, Order::Dmy, Order::Mon][order];
            let months =
                ["Jan", "feb", "MARCH", "Apr", "May", "June", "Jul", "Aug", "Sept", "Oct", "Nov", "December"];
            let text = |(year, month, day): (i64, u32, u32)| match order {
                Order::Ymd => format!("{year}-{month:02}-{day}"),
                Order::Mdy => format!("{month}/{day:02}/{year}"),
                Order::Dmy => format!("{day}.{month}.{year}"),
                Order::Mon => format!("{day} {} {year}", months[month as usize - 1]),
            };
            (Form::Date(order), days.map(text), days[0].cmp(&days[1]))
        });
        let instants =
            prop::array::uniform2((-3i64..3, 0i64..86_400, 0i64..3, -14i64..15)).prop_map(|both| {
                let text = |(day, second, ns, zone): (i64, i64, i64, i64)| {
                    let date = calendar::Civil::after(day);
                    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
                    format!(
                        "{}-{:02}-{:02} {hour:02}:{minute:02}:{second:02}.{ns:09}{zone:+03}:30",
                        date.year, date.month, date.day
                    )
                };
                let instant = |(day, second, ns, zone): (i64, i64, i64, i64)| {
                    let half = if zone < 0 { -1800 } else { 1800 };
                    (day * 86_400 + second - zone * 3600 - half, ns)
                };
                let texts = both.map(text);
                (Form::Timestamp(Order::Ymd, Zone::With), texts, instant(both[0]).cmp(&instant(both[1])))
            });
        let times = prop::array::uniform2((0u32..24, 0u32..60, 0u32..60, 0u32..1000)).prop_map(|both| {
            let text = |(hour, minute, second, ms)| format!("{hour}:{minute:02}:{second:02}.{ms:03}");
            (Form::Time, both.map(text), both[0].cmp(&both[1]))
        });
        let addresses = prop::array::uniform2(any::<std::net::IpAddr>())
            .prop_map(|both| (Form::Address, both.map(|address| address.to_string()), both[0].cmp(&both[1])));
        let versions = prop::array::uniform2([0u64..3, 8..12, 98..101]).prop_map(|both| {
            let text = |[a, b, c]: [u64; 3]| format!("{a}.{b}.{c}");
            (Form::Version, both.map(text), both[0].cmp(&both[1]))
        });
        prop_oneof![dates, instants, times, addresses, versions]
    }

    proptest! {
        #[test]
        fn keys_have_the_order_of_what_cells_mean((form, cells, expected) in pairs()) {
            let [a, b] = cells.each_ref().map(|cell| key(form, cell).expect(cell));
            prop_assert_eq!(a.cmp(&b), expected, "{} {:?}", form, cells);
            prop_assert_eq!(a.starts_with(&b), a == b);
            prop_assert!(cells.iter().all(|cell| form.looks_so(cell)), "{} {:?}", form, cells);
        }

        #[test]
        fn no_text_is_too_odd(text in prop_oneof!["[-+0-9:./ TZé,aApPmMvj]{0,24}", any::<String>()]) {
            for form in Form::all() {
                let there = key(form, &text);
                prop_assert!(there.is_some() || !form.looks_so(&text));
                prop_assert!(there.is_none() || form.span(&text).is_some());
            }
        }
    }
}
