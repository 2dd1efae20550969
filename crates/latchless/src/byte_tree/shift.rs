//! Moving words of a node up or down; source and destination may overlap.

use super::shape::{RECORD_MAX, entry_words};
use crate::node::lines::Lines;
use latchless_core::sync::Word;

/// Moves all words but the last `by` this many places up.
#[inline(always)]
pub(super) fn shift_up<S: Lines>(words: &[Word], by: usize) {
    let (from, to) = (&words[..words.len() - by], &words[by..]);
    let Some((first, first_to)) = from.first_chunk().zip(to.first_chunk()) else {
        // Of an iterator's loop the compiler would make a call.
        for at in (0..from.len()).rev() {
            to[at].store_relaxed(from[at].load_relaxed());
        }
        return;
    };
    // The first four are read before others are written over them.
    let mut kept = [0; 4];
    S::copy_words(first, &mut kept);
    for (from, to) in from.as_rchunks().1.iter().zip(to.as_rchunks().1).rev() {
        S::move_words(from, to);
    }
    S::set_words(first_to, &kept);
}

/// Moves all words but the first `by` this many places down.
#[inline(always)]
pub(super) fn shift_down<S: Lines>(words: &[Word], by: usize) {
    let (from, to) = (&words[by..], &words[..words.len() - by]);
    let Some((last, last_to)) = from.last_chunk().zip(to.last_chunk()) else {
        for at in 0..from.len() {
            to[at].store_relaxed(from[at].load_relaxed());
        }
        return;
    };
    // The last four are read before others are written over them.
    let mut kept = [0; 4];
    S::copy_words(last, &mut kept);
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks().0) {
        S::move_words(from, to);
    }
    S::set_words(last_to, &kept);
}

/// The words of four records.
type FourRecords = [[u64; 4]; entry_words(RECORD_MAX as u8)];

/// Moves all heads and records but the last `by` this many places up. Both at once, four at a time: how many
/// there are can't be foretold.
#[inline(always)]
pub(super) fn shift_both_up<S: Lines>(heads: &[Word], records: &[Word], by: usize, words: usize) {
    let (own, own_to) = (&heads[..heads.len() - by], &heads[by..]);
    let (record, record_to) = (&records[..records.len() - by * words], &records[by * words..]);
    let Some((first, first_to)) = own.first_chunk().zip(own_to.first_chunk()) else {
        shift_up::<S>(heads, by);
        return shift_up::<S>(records, by * words);
    };
    // The first four are read before others are written over them.
    let (mut kept, mut kept_records) = ([0; 4], FourRecords::default());
    S::copy_words(first, &mut kept);
    copy_four::<S>(record, &mut kept_records[..words]);
    let fours = own.as_rchunks().1.iter().zip(own_to.as_rchunks().1).rev();
    let four_records = record.rchunks_exact(4 * words).zip(record_to.rchunks_exact(4 * words));
    for ((from, to), (record, record_to)) in fours.zip(four_records) {
        S::move_words(from, to);
        for (from, to) in record.as_chunks().0.iter().zip(record_to.as_chunks().0).rev() {
            S::move_words(from, to);
        }
    }
    S::set_words(first_to, &kept);
    set_four::<S>(record_to, &kept_records[..words]);
}

/// Moves all heads and records but the first `by` this many places down.
#[inline(always)]
pub(super) fn shift_both_down<S: Lines>(heads: &[Word], records: &[Word], by: usize, words: usize) {
    let (own, own_to) = (&heads[by..], &heads[..heads.len() - by]);
    let (record, record_to) = (&records[by * words..], &records[..records.len() - by * words]);
    let Some((last, last_to)) = own.last_chunk().zip(own_to.last_chunk()) else {
        shift_down::<S>(heads, by);
        return shift_down::<S>(records, by * words);
    };
    // The last four are read before others are written over them.
    let (mut kept, mut kept_records) = ([0; 4], FourRecords::default());
    let start = record.len() - 4 * words;
    S::copy_words(last, &mut kept);
    copy_four::<S>(&record[start..], &mut kept_records[..words]);
    let fours = own.as_chunks().0.iter().zip(own_to.as_chunks().0);
    let four_records = record.chunks_exact(4 * words).zip(record_to.chunks_exact(4 * words));
    for ((from, to), (record, record_to)) in fours.zip(four_records) {
        S::move_words(from, to);
        for (from, to) in record.as_chunks().0.iter().zip(record_to.as_chunks().0) {
            S::move_words(from, to);
        }
    }
    S::set_words(last_to, &kept);
    set_four::<S>(&record_to[start..], &kept_records[..words]);
}

/// Copies the first four records.
#[inline(always)]
fn copy_four<S: Lines>(records: &[Word], to: &mut [[u64; 4]]) {
    for (from, to) in records.as_chunks().0.iter().zip(to) {
        S::copy_words(from, to);
    }
}

/// Writes the first four records.
#[inline(always)]
fn set_four<S: Lines>(records: &[Word], to: &[[u64; 4]]) {
    for (record, to) in records.as_chunks().0.iter().zip(to) {
        S::set_words(record, to);
    }
}
