//! Hints made of one or two bit fields of a key.
//!
//! Usually a hint has one *field*: the leading bits of the key's distance from the low fence. Where keys lie
//! in runs that are far apart, such as those of a few users that begin with the user's number, one field of
//! sixteen bits distinguishes the runs or the keys in a run, but not both. Then a hint has two fields. The
//! upper one distinguishes the runs; the lower one is a window of the key's bits further down.
//!
//! The lower field is cut off at the top, so hints of two fields are in order only while keys with the same
//! upper field agree on all bits between the fields. The keys for which the form is chosen do; a later key
//! may not. So an insert compares the key's hint with those of the adjacent keys, and rebuilds all hints if
//! they are out of order. An inner node is also searched for keys that it doesn't contain, so its searches
//! don't rely on hints of two fields alone (`inner_search.rs`).

use super::hints::{Form, HINT_MAX, Shape};
use latchless_core::base::key::Bits;

/// Bits of a hint.
const HINT_BITS: u32 = u16::BITS;

/// Returns the highest bit that is set in a number that isn't zero.
pub(super) fn top(number: u64) -> u32 {
    number.checked_ilog2().unwrap_or(0)
}

/// Returns all bits below this one.
pub(super) fn below(bit: u32) -> u64 {
    1u64.checked_shl(bit).map_or(u64::MAX, |bit| bit - 1)
}

/// Returns the form of hints for ascending `keys` with this low fence, which extend to `span` after it, or
/// will soon, if one field doesn't distinguish all blocks. `starts` are the places of the keys with which
/// blocks begin.
pub(super) fn form_for<B: Bits>(keys: &[B], low: u64, span: u64, starts: &[usize]) -> Form {
    fields_for::<B>(neighbours_differ(keys, starts), low, span)
}

/// Returns the form of hints, given the bits in which the keys differ: see [`neighbours_differ`].
pub(super) fn fields_for<B: Bits>(differ: Differing, low: u64, span: u64) -> Form {
    let Differing { all, borders } = differ;
    let plain = Shape::<B>::form_for_span(span);
    let split = if B::BYTES == 8 { two_fields(all, borders, low, span) } else { None };
    let tied = borders & below(plain.shift) != 0;
    split.unwrap_or(Form { tied, lower: u32::from(tied && B::BYTES == 8), ..plain })
}

/// The highest bits in which neighbours among keys differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Differing {
    pub(super) all: u64,
    /// Those that distinguish blocks.
    pub(super) borders: u64,
}

/// Returns the highest bits in which neighbours among these keys differ.
pub(super) fn neighbours_differ<B: Bits>(keys: &[B], starts: &[usize]) -> Differing {
    let bit = |at: usize| 1 << top(keys[at - 1].to_u64() ^ keys[at].to_u64());
    let wanted = |at: &&usize| (1..keys.len()).contains(*at);
    let all = (1..keys.len()).fold(0, |bits, at| bits | bit(at));
    Differing { all, borders: starts.iter().filter(wanted).fold(0, |bits, &at| bits | bit(at)) }
}

/// Returns a form of two fields, if there is one, that distinguishes keys which differ first in one of the
/// bits `borders`, and keeps keys in order which differ first in one of the bits `all`. Of several, it is
/// the one with most bits to spare in both fields.
fn two_fields(all: u64, borders: u64, low: u64, span: u64) -> Option<Form> {
    let (mut best, mut most) = (None, 0);
    for width in 1..HINT_BITS - 1 {
        // The extent of the upper field without the hint that no key has.
        let shift = (u64::BITS - span.leading_zeros() + width).saturating_sub(HINT_BITS - 1);
        let lower = borders & below(shift);
        if shift >= u64::BITS || lower == 0 {
            continue;
        }
        debug_assert!(((low.saturating_add(span) >> shift) - (low >> shift) + 1) << width <= HINT_MAX);
        let (lowest, highest) = (lower.trailing_zeros(), top(all & below(shift)));
        let Some(spare) = width.checked_sub(highest - lowest + 1) else { continue };
        let least = 1 + spare.min((borders >> shift).trailing_zeros());
        if least > most {
            // Half of the spare bits are above the window, for keys that are further away.
            let lower = lowest.saturating_sub(spare / 2);
            (best, most) = (Some(Form { shift, lower, width, picked: 0, tied: false }), least);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::testing::Rng;

    /// Returns keys of `users` users with numbers far apart, each with `items` items.
    fn of_users(users: u64, items: u64, step: u64) -> Vec<u64> {
        let mut random = Rng(0x9E37_79B9_7F4A_7C15);
        let mut numbers: Vec<_> =
            (0..users).map(|_| (1 << 50 | random.next() >> 16) & !0xFFFF_FFFF).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.iter().flat_map(|user| (0..items).map(move |item| user + item * step)).collect()
    }

    /// Returns the form for `keys` in blocks of four, and their hints.
    fn hints_of(keys: &[u64], low: u64) -> (Form, Vec<u16>) {
        let starts: Vec<_> = (0..keys.len()).step_by(4).collect();
        let form = form_for(keys, low, 2 * (keys[keys.len() - 1] - low), &starts);
        let shape = Shape::<u64>::new(form);
        (form, keys.iter().map(|&key| shape.hint(key, low)).collect())
    }

    #[test]
    fn two_fields_tell_users_and_their_items_apart_in_order() {
        for (users, items, step) in
            [(2, 30, 1), (2, 30, 1 << 12), (4, 15, 3), (8, 7, 1), (15, 4, 1), (1, 60, 1)]
        {
            let keys = of_users(users, items, step);
            for low in [0, keys[0] - 1, keys[0]] {
                let (form, hints) = hints_of(&keys, low);
                assert!(hints.is_sorted(), "{users} users, low {low}: {form:?} keeps the order");
                let apart = (4..keys.len()).step_by(4).all(|at| hints[at - 1] < hints[at]);
                assert!(apart && !form.tied, "{users} users, {items} items: {form:?} tells blocks apart");
                assert!(form.width > 0 || u64::from(low == keys[0]) + users < 3, "one field doesn't do");
            }
        }
    }

    #[test]
    fn a_second_field_has_bits_to_spare_above_its_keys() {
        let keys = of_users(2, 30, 1);
        let (form, hints) = hints_of(&keys, 0);
        // The next items of the first user.
        let shape = Shape::<u64>::new(form);
        let next: Vec<_> = (30..60).map(|item| shape.hint(keys[0] + item, 0)).collect();
        assert!(next.is_sorted_by(|a, b| a < b) && next[0] > hints[29] && next[29] < hints[30], "{form:?}");
    }

    #[test]
    fn where_two_fields_are_not_enough_hints_are_tied_and_in_order() {
        // Three levels of runs, which together need more bits than there are.
        let level = |at: u64| (0..4u64).map(move |item| item << at);
        let keys: Vec<_> = level(58)
            .flat_map(|a| level(30).map(move |b| a + b))
            .flat_map(|b| level(0).map(move |c| b + c))
            .take(60)
            .collect();
        let (form, hints) = hints_of(&keys, 0);
        assert!(hints.is_sorted());
        let apart = (4..keys.len()).step_by(4).all(|at| hints[at - 1] < hints[at]);
        assert_eq!(form.tied, !apart, "{form:?}");
    }

    #[test]
    fn one_field_is_known_to_be_the_best_only_where_it_ties_blocks() {
        let (span, highest) = (1 << 41, 1 << 41);
        let plain = |tied, lower| Form { tied, lower, ..Shape::<u64>::form_for_span(span) };
        assert_eq!(fields_for::<u64>(Differing { all: highest, borders: highest }, 0, span), plain(false, 0));
        // Neighbours differ in every bit, so no window of them is in order.
        assert_eq!(
            fields_for::<u64>(Differing { all: below(42), borders: highest | 1 }, 0, span),
            plain(true, 1)
        );
    }
}
