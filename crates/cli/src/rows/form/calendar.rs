//! The Gregorian calendar, continued backwards and forwards without an end: days since 1970-01-01, and back.
//!
//! The year is taken to begin in March here, so that a leap day is its last one and no month after it moves.

/// From the first of March of the year 0 to the first of January 1970.
const EPOCH: i64 = 719_468;

/// A day by its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// As astronomers count: the year before 1 is 0.
    pub year: i64,
    /// From 1.
    pub month: u32,
    /// From 1.
    pub day: u32,
}

impl Civil {
    /// Days since 1970-01-01; `None` if there is no such day.
    pub fn days(self) -> Option<i64> {
        let Self { year, month, day } = self;
        if !(1..=12).contains(&month) || !(1..=length(year, month)).contains(&day) {
            return None;
        }
        let year = year - i64::from(month < 3);
        let before_month = (153 * (i64::from(month) + 9).rem_euclid(12) + 2) / 5;
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        Some(365 * year + leap_days + before_month + i64::from(day) - 1 - EPOCH)
    }

    /// The day that is this many days after 1970-01-01.
    #[cfg(any(feature = "parquet", test))]
    pub fn after(days: i64) -> Self {
        /// Days of 400 years, after which the calendar repeats.
        const CYCLE_DAYS: i64 = 146_097;
        const CENTURY_DAYS: i64 = 36_524;
        const FOUR_YEARS_DAYS: i64 = 1_461;
        let since = days + EPOCH;
        let (cycles, rest) = (since.div_euclid(CYCLE_DAYS), since.rem_euclid(CYCLE_DAYS));
        // The last of four centuries, and of four years, has a day more.
        let centuries = (rest / CENTURY_DAYS).min(3);
        let rest = rest - centuries * CENTURY_DAYS;
        let fours = rest / FOUR_YEARS_DAYS;
        let rest = rest - fours * FOUR_YEARS_DAYS;
        let years = (rest / 365).min(3);
        let rest = rest - years * 365;
        let month = (5 * rest + 2) / 153;
        let day = rest - (153 * month + 2) / 5 + 1;
        let month = (month + 2) % 12 + 1;
        let year = 400 * cycles + 100 * centuries + 4 * fours + years + i64::from(month < 3);
        Self { year, month: month as u32, day: day as u32 }
    }
}

/// How many days a month has.
fn length(year: i64, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_hundred_years_follows_the_one_before_it() {
        let mut expected = Civil { year: 1597, month: 1, day: 1 };
        for days in -136_235..156_000 {
            assert_eq!((Civil::after(days), expected.days()), (expected, Some(days)));
            let Civil { year, month, day } = expected;
            expected = match (month, day == length(year, month)) {
                (_, false) => Civil { day: day + 1, ..expected },
                (12, true) => Civil { year: year + 1, month: 1, day: 1 },
                (_, true) => Civil { month: month + 1, day: 1, ..expected },
            };
        }
        assert!(expected.year > 2390);
    }

    #[test]
    fn days_that_are_not_in_the_calendar_are_none() {
        let days = |year, month, day| Civil { year, month, day }.days();
        assert_eq!((days(1970, 1, 1), days(2000, 2, 29)), (Some(0), Some(11_016)));
        assert_eq!((days(-4713, 11, 24), days(0, 2, 29)), (Some(-2_440_588), Some(-719_469)));
        for (year, month, day) in [(1900, 2, 29), (2023, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 13, 1)]
        {
            assert_eq!(days(year, month, day), None, "{year}-{month}-{day}");
        }
        assert_eq!((days(2024, 0, 1), days(2024, 1, 0)), (None, None));
    }
}
