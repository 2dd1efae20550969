//! Inserts, removals and moves of pairs between pages. The caller holds the latch.

use super::Page;
use super::form::Form;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Work;

impl<T: Form> Page<'_, T> {
    /// Moves words within the page; the places may overlap.
    fn shift(self, from: usize, to: usize, words: usize) {
        if words == 0 {
            return;
        }
        self.tell_read(from, words);
        self.tell_write(to, words);
        let (source, target) = (&self.words[from..from + words], &self.words[to..to + words]);
        let step = |i: usize| target[i].store_relaxed(source[i].load_relaxed());
        if from < to { (0..words).rev().for_each(step) } else { (0..words).for_each(step) }
    }

    /// Copies words to another page.
    fn copy_words(self, from: usize, to: Self, at: usize, words: usize) {
        if words == 0 {
            return;
        }
        self.tell_read(from, words);
        to.tell_write(at, words);
        for (to, from) in to.words[at..at + words].iter().zip(&self.words[from..from + words]) {
            // A child's reference leads to a page that was written before: this thread saw that.
            to.publish(from.load_relaxed());
        }
    }

    /// Inserts an entry at a place of a leaf; it has room.
    pub fn insert_entry(self, place: usize, key: u64, value: u64) {
        let size = self.size();
        debug_assert!(place <= size && size < self.layout.places);
        T::work(Work::Shift(size - place));
        self.shift(self.key_at(place), self.key_at(place + 1), size - place);
        self.shift(self.second_at(place), self.second_at(place + 1), size - place);
        self.set_key(place, key);
        self.set_value(place, value);
        self.set_size(size + 1);
    }

    /// Takes the entry at a place of a leaf out.
    pub fn remove_entry(self, place: usize) {
        let size = self.size();
        debug_assert!(place < size);
        let behind = size - place - 1;
        T::work(Work::Shift(behind));
        self.shift(self.key_at(place + 1), self.key_at(place), behind);
        self.shift(self.second_at(place + 1), self.second_at(place), behind);
        self.set_size(size - 1);
    }

    /// Inserts a child after the one at `place`, which from now on ends with `separator`; the page has
    /// room.
    pub fn insert_child(self, place: usize, separator: u64, right: NodeRef) {
        let size = self.size();
        debug_assert!(place < size && size < self.layout.places);
        let behind = size - 1 - place;
        T::work(Work::Shift(behind));
        self.shift(self.key_at(place), self.key_at(place + 1), behind);
        self.set_key(place, separator);
        self.shift(self.second_at(place + 1), self.second_at(place + 2), behind);
        self.set_child(place + 1, right);
        self.set_size(size + 1);
    }

    /// Removes the child after the one at `place`, which takes its keys over.
    pub fn remove_child_behind(self, place: usize) {
        let size = self.size();
        debug_assert!(place + 1 < size);
        let behind = size - 2 - place;
        T::work(Work::Shift(behind));
        self.shift(self.key_at(place + 1), self.key_at(place), behind);
        self.shift(self.second_at(place + 2), self.second_at(place + 1), behind);
        self.set_size(size - 1);
    }

    /// Adds a pair after all others, to a page with room; for filling a leaf in order.
    pub fn push_entry(self, key: u64, value: u64) {
        let size = self.size();
        self.set_key(size, key);
        self.set_value(size, value);
        self.set_size(size + 1);
    }

    /// Adds a child after all others, the last of which ends with `separator`.
    pub fn push_child(self, separator: Option<u64>, child: NodeRef) {
        let size = self.size();
        if let (Some(separator), Some(last)) = (separator, size.checked_sub(1)) {
            self.set_key(last, separator);
        }
        self.set_child(size, child);
        self.set_size(size + 1);
    }

    /// Moves the pairs from place `cut` on to `right`, an empty page, and returns the key with which this
    /// one now ends. For an inner page that is the separator after its last child.
    pub fn split_to(self, right: Self, cut: usize) -> u64 {
        let moved = self.size() - cut;
        debug_assert!(cut > 0 && moved > 0);
        T::work(Work::Shift(moved));
        self.copy_words(self.key_at(cut), right, right.key_at(0), moved);
        self.copy_words(self.second_at(cut), right, right.second_at(0), moved);
        right.set_size(moved);
        self.set_size(cut);
        self.key(cut - 1)
    }

    /// Takes over all pairs of the page on the right; there is room for them. `separator` is the separator
    /// between the two; inner pages need it.
    pub fn take_all_of(self, right: Self, separator: u64) {
        let (size, more) = (self.size(), right.size());
        debug_assert!(size + more <= self.layout.places);
        T::work(Work::Shift(more));
        if right.meta().level() > 0 && size > 0 {
            self.set_key(size - 1, separator);
        }
        right.copy_words(right.key_at(0), self, self.key_at(size), more);
        right.copy_words(right.second_at(0), self, self.second_at(size), more);
        self.set_size(size + more);
    }

    /// Moves pairs between two neighbours until this one, the left, has `wanted` of them. `separator` is
    /// the separator between the two; returns the new one.
    pub fn share_with(self, right: Self, separator: u64, wanted: usize) -> u64 {
        let (size, more) = (self.size(), right.size());
        let inner = right.meta().level() > 0;
        debug_assert!(wanted > 0 && wanted < size + more);
        if inner {
            self.set_key(size - 1, separator);
        }
        let keys = |page: Self, place: usize| page.key_at(place);
        let seconds = |page: Self, place: usize| page.second_at(place);
        if wanted > size {
            let moved = wanted - size;
            T::work(Work::Shift(more));
            right.copy_words(keys(right, 0), self, keys(self, size), moved);
            right.copy_words(seconds(right, 0), self, seconds(self, size), moved);
            right.shift(keys(right, moved), keys(right, 0), more - moved);
            right.shift(seconds(right, moved), seconds(right, 0), more - moved);
        } else {
            let moved = size - wanted;
            T::work(Work::Shift(more + moved));
            right.shift(keys(right, 0), keys(right, moved), more);
            right.shift(seconds(right, 0), seconds(right, moved), more);
            self.copy_words(keys(self, wanted), right, keys(right, 0), moved);
            self.copy_words(seconds(self, wanted), right, seconds(right, 0), moved);
        }
        self.set_size(wanted);
        right.set_size(size + more - wanted);
        self.key(wanted - 1)
    }
}
