//! The keys that a filter selects: a range, or individual keys.

use crate::KEY;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;

/// The keys that a query wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Both ends are part of it. Empty where the low end is above the high one.
    Range { low: u64, high: u64 },
    /// These, ascending, each once.
    Some(Vec<u64>),
}

impl Keys {
    pub const ALL: Self = Self::Range { low: u64::MIN, high: u64::MAX };
    const NONE: Self = Self::Some(Vec::new());

    /// The keys that a filter selects, if it has no other condition.
    pub fn of(filter: &Expr) -> Option<Self> {
        match filter {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                Some(Self::of(left)?.and(Self::of(right)?))
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_key(left) => {
                Self::compared(*op, number(right)?)
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_key(right) => {
                Self::compared(op.swap()?, number(left)?)
            }
            Expr::Between(Between { expr, negated: false, low, high }) if is_key(expr) => {
                let (low, high) = (number(low)?, number(high)?);
                Some(Self::compared(Operator::GtEq, low)?.and(Self::compared(Operator::LtEq, high)?))
            }
            Expr::InList(InList { expr, list, negated: false }) if is_key(expr) => {
                let numbers: Vec<i128> = list.iter().map(number).collect::<Option<_>>()?;
                let mut keys: Vec<u64> = numbers.into_iter().filter_map(|key| key.try_into().ok()).collect();
                keys.sort_unstable();
                keys.dedup();
                Some(Self::Some(keys))
            }
            _ => None,
        }
    }

    /// The keys that compare so with a number, which may be none that a key can have.
    fn compared(op: Operator, number: i128) -> Option<Self> {
        let all = (i128::from(u64::MIN), i128::from(u64::MAX));
        let (low, high) = match op {
            Operator::Eq => (number, number),
            Operator::Lt => (all.0, number - 1),
            Operator::LtEq => (all.0, number),
            Operator::Gt => (number + 1, all.1),
            Operator::GtEq => (number, all.1),
            _ => return None,
        };
        let (low, high) = (low.max(all.0), high.min(all.1));
        if low > high {
            return Some(Self::NONE);
        }
        let end = |end: i128| u64::try_from(end).expect("it is between the least key and the greatest");
        Some(Self::Range { low: end(low), high: end(high) })
    }

    /// The keys that both want.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Range { low, high }, Self::Range { low: other_low, high: other_high }) => {
                Self::Range { low: low.max(other_low), high: high.min(other_high) }
            }
            (Self::Some(keys), other) | (other, Self::Some(keys)) => {
                Self::Some(keys.into_iter().filter(|key| other.has(*key)).collect())
            }
        }
    }

    fn has(&self, key: u64) -> bool {
        match self {
            Self::Range { low, high } => (low..=high).contains(&&key),
            Self::Some(keys) => keys.binary_search(&key).is_ok(),
        }
    }
}

/// Whether this is the column of the keys. DataFusion may have widened it, to compare it with a signed
/// number; that changes no key.
fn is_key(expr: &Expr) -> bool {
    match expr {
        Expr::Column(column) => column.name == KEY,
        Expr::Cast(cast) => {
            use datafusion::arrow::datatypes::DataType::Decimal128;
            matches!(cast.field.data_type(), Decimal128(20.., 0)) && is_key(&cast.expr)
        }
        _ => false,
    }
}

/// A whole number that is written in the query.
fn number(expr: &Expr) -> Option<i128> {
    let Expr::Literal(scalar, _) = expr else { return None };
    match *scalar {
        ScalarValue::UInt64(Some(number)) => Some(number.into()),
        ScalarValue::Int64(Some(number)) => Some(number.into()),
        ScalarValue::UInt32(Some(number)) => Some(number.into()),
        ScalarValue::Int32(Some(number)) => Some(number.into()),
        ScalarValue::Decimal128(Some(number), _, 0) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{col, lit};

    fn range(low: u64, high: u64) -> Option<Keys> {
        Some(Keys::Range { low, high })
    }

    #[test]
    fn comparisons_are_ranges() {
        assert_eq!(Keys::of(&col(KEY).eq(lit(5u64))), range(5, 5));
        assert_eq!(Keys::of(&col(KEY).lt(lit(5i64))), range(0, 4));
        assert_eq!(Keys::of(&lit(5i32).lt(col(KEY))), range(6, u64::MAX));
        assert_eq!(Keys::of(&col(KEY).between(lit(3u64), lit(9u64))), range(3, 9));
        let both = col(KEY).gt_eq(lit(3u64)).and(col(KEY).lt_eq(lit(9u64)));
        assert_eq!(Keys::of(&both), range(3, 9));
    }

    #[test]
    fn numbers_that_no_key_can_have_find_nothing() {
        assert_eq!(Keys::of(&col(KEY).lt(lit(0u64))), Some(Keys::NONE));
        assert_eq!(Keys::of(&col(KEY).eq(lit(-1i64))), Some(Keys::NONE));
        assert_eq!(Keys::of(&col(KEY).gt(lit(u64::MAX))), Some(Keys::NONE));
        assert_eq!(Keys::of(&col(KEY).gt_eq(lit(-7i64))), Some(Keys::ALL));
    }

    #[test]
    fn lists_are_lookups_and_meet_ranges() {
        let list = Keys::of(&col(KEY).in_list(vec![lit(9u64), lit(-4i64), lit(2u64), lit(9u64)], false));
        assert_eq!(list, Some(Keys::Some(vec![2, 9])));
        assert_eq!(list.unwrap().and(Keys::Range { low: 3, high: 20 }), Keys::Some(vec![9]));
    }

    #[test]
    fn what_isnt_about_keys_alone_is_left_to_datafusion() {
        let others = [
            col("value").eq(lit(5u64)),
            col(KEY).eq(col("value")),
            col(KEY).not_eq(lit(5u64)),
            col(KEY).in_list(vec![lit(1u64)], true),
            col(KEY).eq(lit(5u64)).or(col("value").eq(lit(5u64))),
            col(KEY).eq(lit(ScalarValue::UInt64(None))),
        ];
        assert!(others.iter().all(|filter| Keys::of(filter).is_none()));
    }
}
