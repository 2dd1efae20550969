//! Many walks at once, round robin (Vu 2023, §3.1.2).

use super::{Aim, Step, Walk};

/// The walks that take part in a round, and the use of their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rounds {
    /// Unfinished walks; requests are served at the ends of their walks.
    #[default]
    Unfinished,
    /// All walks, including finished ones; requests are served from the root. The paper's Algorithms 3 and
    /// 4.
    Naive,
}

/// Walks that proceed together: places, keys, and the end of each. Kept between batches, so that memory is
/// allocated once.
#[derive(Debug)]
pub struct Walks<K, P, A> {
    places: Vec<P>,
    keys: Vec<K>,
    anchors: Vec<Option<A>>,
    /// Walks that aren't done, in their order.
    unfinished: Vec<u16>,
}

/// The walks of an index.
pub type WalksOf<W> = Walks<<W as Walk>::Key, <W as Walk>::Place, <W as Walk>::Anchor>;

impl<K, P, A> Default for Walks<K, P, A> {
    fn default() -> Self {
        Self { places: Vec::new(), keys: Vec::new(), anchors: Vec::new(), unfinished: Vec::new() }
    }
}

impl<K: Copy, P: Copy, A: Copy> Walks<K, P, A> {
    /// The most walks that go together.
    pub const MAX: usize = 1024;

    /// Leads `len` requests, at most [`Walks::MAX`], to their anchors, which are in the requests' order;
    /// `None` if another thread changed the structure under a walk.
    ///
    /// ```
    /// use latchless_core::mem::touch::NoTrace;
    /// use latchless_papers::spiderman::tree::{OlcOptions, OlcTree, PageWalk};
    /// use latchless_papers::common::walk::{Aim, Rounds, Walks};
    /// use latchless_papers::spiderman::Prefetch;
    ///
    /// let options =
    ///     OlcOptions { page_bytes: 4096, limit_bytes: None, huge_pages: true, references: u32::MAX };
    /// let tree = OlcTree::<NoTrace>::new(options)?;
    /// (0..1000u64).try_for_each(|key| tree.put(key, 2 * key).map(|_| ()))?;
    /// let keys = [7, 500, 1000];
    /// let walk = PageWalk::new(&tree, Prefetch::BEST, true);
    /// let mut walks = Walks::default();
    /// let anchors = walks.lead(&walk, Rounds::Unfinished, 3, |at| (keys[at], Aim::Look));
    /// let values: Vec<_> =
    ///     keys.iter().zip(anchors).map(|(&key, anchor)| tree.get_from(anchor.unwrap(), key)).collect();
    /// assert_eq!(values, [Some(14), Some(1000), None]);
    /// # Ok::<(), latchless_papers::Error>(())
    /// ```
    #[inline(always)]
    pub fn lead(
        &mut self,
        walk: &impl Walk<Key = K, Place = P, Anchor = A>,
        rounds: Rounds,
        len: usize,
        request_at: impl Fn(usize) -> (K, Aim),
    ) -> &[Option<A>] {
        self.places.clear();
        self.keys.clear();
        self.anchors.clear();
        for at in 0..len.min(Self::MAX) {
            let (key, aim) = request_at(at);
            self.places.push(walk.enter(key, aim));
            self.keys.push(key);
            self.anchors.push(None);
        }
        walk.lead(self, rounds);
        &self.anchors
    }

    /// Takes steps until all have landed. What [`Walk::lead`] is made of.
    #[inline(always)]
    pub fn go(&mut self, walk: &impl Walk<Key = K, Place = P, Anchor = A>, rounds: Rounds) {
        match rounds {
            Rounds::Unfinished => self.go_on(walk),
            Rounds::Naive => self.go_round(walk),
        }
    }

    /// Rounds of those that aren't there yet.
    #[inline(always)]
    fn go_on(&mut self, walk: &impl Walk<Key = K, Place = P, Anchor = A>) {
        self.unfinished.clear();
        self.unfinished.extend(0..self.places.len() as u16);
        while !self.unfinished.is_empty() {
            let mut left = 0;
            for nth in 0..self.unfinished.len() {
                let at = usize::from(self.unfinished[nth]);
                match walk.step(&mut self.places[at], self.keys[at]) {
                    Step::On => {
                        self.unfinished[left] = at as u16;
                        left += 1;
                    }
                    Step::Landed(anchor) => self.anchors[at] = anchor,
                }
            }
            self.unfinished.truncate(left);
        }
    }

    /// Rounds of all, as in Algorithm 3.
    #[inline(always)]
    fn go_round(&mut self, walk: &impl Walk<Key = K, Place = P, Anchor = A>) {
        let len = self.places.len();
        let mut done = vec![false; len];
        let (mut finished, mut at) = (0, 0);
        while finished < len {
            if !done[at]
                && let Step::Landed(anchor) = walk.step(&mut self.places[at], self.keys[at])
            {
                self.anchors[at] = anchor;
                done[at] = true;
                finished += 1;
            }
            at = (at + 1) % len;
        }
    }
}
