//! The four kinds of inner nodes, by how many children they have room for: 4, 16, 48 and 256.
//!
//! A node knows bytes and children. Which byte of a key it branches on is in the reference to it.

use super::reference::{Kind, Ref};
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::touch::{Trace, Work};

/// Children by a byte of their keys.
pub(super) trait Node: Clone {
    /// Which kind it is.
    const KIND: Kind;
    /// Children that it has room for.
    const PLACES: usize;
    /// With so few children a smaller kind does: fewer than that kind's places, so that a node doesn't
    /// change back and forth.
    const THIN: usize;

    /// A node without children.
    fn empty() -> Self;
    /// How many children it has.
    fn len(&self) -> usize;
    /// The child under a byte, or [`Ref::NIL`].
    fn child<T: Trace>(&self, byte: u8) -> Ref;
    /// Asks for the lines that [`Node::child`] will read.
    fn ask<T: Trace>(&self, byte: u8);
    /// Replaces the child under a byte that has one.
    fn replace(&mut self, byte: u8, child: Ref);
    /// Puts a child under a byte that has none. There is room.
    fn add(&mut self, byte: u8, child: Ref);
    /// Removes the child under a byte that has one.
    fn remove(&mut self, byte: u8);
    /// The first child whose byte is at least `from`.
    fn first_from(&self, from: usize) -> Option<(u8, Ref)>;
    /// The last child whose byte is below `end`.
    fn last_below(&self, end: usize) -> Option<(u8, Ref)>;
}

fn ask_all<N, T: Trace>(node: &N) {
    let at = core::ptr::from_ref(node).cast();
    T::prefetch(at, size_of::<N>());
    prefetch_read_all(at, size_of::<N>());
}

fn tell_read<V, T: Trace>(what: &V) {
    T::read(core::ptr::from_ref(what).cast(), size_of::<V>());
}

/// Bytes in ascending order, and the child of each: 4 or 16.
#[derive(Debug, Clone)]
pub(super) struct Sorted<const N: usize> {
    len: u8,
    bytes: [u8; N],
    children: [Ref; N],
}

impl<const N: usize> Sorted<N> {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn below(&self, end: usize) -> usize {
        self.bytes().iter().take_while(|&&byte| usize::from(byte) < end).count()
    }

    fn place(&self, byte: u8) -> usize {
        self.below(usize::from(byte))
    }
}

impl<const N: usize> Node for Sorted<N> {
    const KIND: Kind = if N == 4 { Kind::Four } else { Kind::Sixteen };
    const PLACES: usize = N;
    const THIN: usize = if N == 4 { 0 } else { 3 };

    fn empty() -> Self {
        Self { len: 0, bytes: [0; N], children: [Ref::NIL; N] }
    }

    fn len(&self) -> usize {
        usize::from(self.len)
    }

    #[inline(always)]
    fn child<T: Trace>(&self, byte: u8) -> Ref {
        tell_read::<_, T>(&self.bytes);
        let places = self.bytes().iter().inspect(|_| T::work(Work::Probe));
        let Some(at) = places.into_iter().position(|&one| one == byte) else { return Ref::NIL };
        tell_read::<_, T>(&self.children[at]);
        self.children[at]
    }

    fn ask<T: Trace>(&self, _: u8) {
        ask_all::<_, T>(self);
    }

    fn replace(&mut self, byte: u8, child: Ref) {
        let at = self.place(byte);
        self.children[at] = child;
    }

    fn add(&mut self, byte: u8, child: Ref) {
        let (at, len) = (self.place(byte), self.len());
        self.bytes.copy_within(at..len, at + 1);
        self.children.copy_within(at..len, at + 1);
        (self.bytes[at], self.children[at]) = (byte, child);
        self.len += 1;
    }

    fn remove(&mut self, byte: u8) {
        let (at, len) = (self.place(byte), self.len());
        self.bytes.copy_within(at + 1..len, at);
        self.children.copy_within(at + 1..len, at);
        self.len -= 1;
    }

    fn first_from(&self, from: usize) -> Option<(u8, Ref)> {
        let at = self.below(from);
        (at < self.len()).then(|| (self.bytes[at], self.children[at]))
    }

    fn last_below(&self, end: usize) -> Option<(u8, Ref)> {
        let at = self.below(end).checked_sub(1)?;
        Some((self.bytes[at], self.children[at]))
    }
}

/// For each byte the place of its child among 48.
#[derive(Debug, Clone)]
pub(super) struct Indexed {
    len: u8,
    places: [u8; 256],
    children: [Ref; 48],
}

impl Indexed {
    /// No child.
    const NONE: u8 = 48;

    fn entry(&self, byte: usize) -> Option<(u8, Ref)> {
        let place = self.places[byte];
        (place != Self::NONE).then(|| (byte as u8, self.children[usize::from(place)]))
    }
}

impl Node for Indexed {
    const KIND: Kind = Kind::FortyEight;
    const PLACES: usize = 48;
    const THIN: usize = 12;

    fn empty() -> Self {
        Self { len: 0, places: [Self::NONE; 256], children: [Ref::NIL; 48] }
    }

    fn len(&self) -> usize {
        usize::from(self.len)
    }

    #[inline(always)]
    fn child<T: Trace>(&self, byte: u8) -> Ref {
        let place = &self.places[usize::from(byte)];
        tell_read::<_, T>(place);
        let Some(child) = self.children.get(usize::from(*place)) else { return Ref::NIL };
        tell_read::<_, T>(child);
        *child
    }

    /// Where the child is isn't known yet, so its line may be any of three or four.
    fn ask<T: Trace>(&self, byte: u8) {
        ask_all::<_, T>(&self.places[usize::from(byte)]);
        ask_all::<_, T>(&self.children);
    }

    fn replace(&mut self, byte: u8, child: Ref) {
        self.children[usize::from(self.places[usize::from(byte)])] = child;
    }

    fn add(&mut self, byte: u8, child: Ref) {
        self.places[usize::from(byte)] = self.len;
        self.children[self.len()] = child;
        self.len += 1;
    }

    /// The last child takes the place of the one that goes.
    fn remove(&mut self, byte: u8) {
        let place = self.places[usize::from(byte)];
        self.len -= 1;
        self.children[usize::from(place)] = self.children[self.len()];
        let moved = self.len;
        self.places.iter_mut().filter(|one| **one == moved).for_each(|one| *one = place);
        self.places[usize::from(byte)] = Self::NONE;
    }

    fn first_from(&self, from: usize) -> Option<(u8, Ref)> {
        (from..256).find_map(|byte| self.entry(byte))
    }

    fn last_below(&self, end: usize) -> Option<(u8, Ref)> {
        (0..end).rev().find_map(|byte| self.entry(byte))
    }
}

/// A child for each byte.
#[derive(Debug, Clone)]
pub(super) struct Direct {
    len: u16,
    children: [Ref; 256],
}

impl Direct {
    fn entry(&self, byte: usize) -> Option<(u8, Ref)> {
        Some((byte as u8, self.children[byte])).filter(|entry| entry.1 != Ref::NIL)
    }
}

impl Node for Direct {
    const KIND: Kind = Kind::All;
    const PLACES: usize = 256;
    const THIN: usize = 36;

    fn empty() -> Self {
        Self { len: 0, children: [Ref::NIL; 256] }
    }

    fn len(&self) -> usize {
        usize::from(self.len)
    }

    #[inline(always)]
    fn child<T: Trace>(&self, byte: u8) -> Ref {
        let child = &self.children[usize::from(byte)];
        tell_read::<_, T>(child);
        *child
    }

    fn ask<T: Trace>(&self, byte: u8) {
        ask_all::<_, T>(&self.children[usize::from(byte)]);
    }

    fn replace(&mut self, byte: u8, child: Ref) {
        self.children[usize::from(byte)] = child;
    }

    fn add(&mut self, byte: u8, child: Ref) {
        self.replace(byte, child);
        self.len += 1;
    }

    fn remove(&mut self, byte: u8) {
        self.replace(byte, Ref::NIL);
        self.len -= 1;
    }

    fn first_from(&self, from: usize) -> Option<(u8, Ref)> {
        (from..256).find_map(|byte| self.entry(byte))
    }

    fn last_below(&self, end: usize) -> Option<(u8, Ref)> {
        (0..end).rev().find_map(|byte| self.entry(byte))
    }
}
