//! One cache: sets of lines, replaced least recently used first.

use super::parameters::CacheShape;

/// The rights of the holder of a line: the states of the MESI protocol; an invalid line is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Read it. Other caches may hold it as well.
    Shared,
    /// Read and write it. No other cache holds it; it is as memory has it.
    Exclusive,
    /// Read and write it. No other cache holds it; memory's copy is stale.
    Modified,
}

/// One slot of a cache. Empty unless its generation is the cache's.
#[derive(Debug, Clone, Copy)]
struct CacheSlot {
    line: u64,
    /// When the line's data arrives; in the past for a line that has arrived.
    ready: u64,
    /// When the place was last used, in lookups.
    used: u64,
    generation: u32,
    hold: Hold,
}

const EMPTY: CacheSlot = CacheSlot { line: 0, ready: 0, used: 0, generation: 0, hold: Hold::Shared };

/// A line that a cache has or waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// When it is or was there.
    pub ready: u64,
    /// The hold before this access.
    pub hold: Hold,
}

/// A line that was evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victim {
    /// Its line number.
    pub line: u64,
    /// Whether it was written to since it arrived.
    pub dirty: bool,
}

/// A set-associative cache of line numbers. It holds no data: the real memory does.
#[derive(Debug)]
pub struct Cache {
    places: Vec<CacheSlot>,
    ways: usize,
    /// The sets of a slice, minus 1: a power of two.
    set_mask: u64,
    /// An odd number of equal parts, 1 unless the number of sets isn't a power of two.
    slices: u64,
    generation: u32,
    clock: u64,
}

impl Cache {
    /// An empty cache. The shape has been checked.
    pub fn new(shape: CacheShape) -> Self {
        let of_slice = 1 << shape.sets().trailing_zeros();
        Self {
            places: vec![EMPTY; shape.sets() * shape.ways],
            ways: shape.ways,
            set_mask: of_slice - 1,
            slices: shape.sets() as u64 / of_slice,
            generation: 1,
            clock: 0,
        }
    }

    /// When `line` is (or was) ready and how it is held, if the cache has it or waits for it. Counts as
    /// a use; a write also makes a line modified that is held exclusively. O(ways).
    pub fn access(&mut self, line: u64, write: bool) -> Option<Hit> {
        self.clock += 1;
        let (clock, place) = (self.clock, self.find(line)?);
        let found = Hit { ready: place.ready, hold: place.hold };
        place.used = clock;
        if write && place.hold == Hold::Exclusive {
            place.hold = Hold::Modified;
        }
        Some(found)
    }

    /// Puts `line`, which isn't there, in place of the least recently used one of its set. O(ways).
    pub fn fill(&mut self, line: u64, ready: u64, hold: Hold) -> Option<Victim> {
        self.clock += 1;
        let (clock, generation) = (self.clock, self.generation);
        let places = self.set(line);
        let age = |place: &CacheSlot| if place.generation == generation { place.used } else { 0 };
        let place = places.iter_mut().min_by_key(|place| age(place))?;
        let victim = (place.generation == generation)
            .then_some(Victim { line: place.line, dirty: place.hold == Hold::Modified });
        *place = CacheSlot { line, ready, used: clock, generation, hold };
        victim
    }

    /// Returns whether the cache has `line` or waits for it. Doesn't count as a use.
    pub fn holds(&self, line: u64) -> bool {
        let first = self.first_of_set(line);
        self.places[first..first + self.ways].iter().any(|place| place.is(line, self.generation))
    }

    /// Holds `line` like this from `ready` on, if the cache has it. Doesn't count as a use.
    pub fn set_hold(&mut self, line: u64, ready: u64, hold: Hold) {
        if let Some(place) = self.find(line) {
            (place.hold, place.ready) = (hold, ready.max(place.ready));
        }
    }

    /// Marks `line`, which is held exclusively, as modified; doesn't count as a use.
    pub fn mark_dirty(&mut self, line: u64) {
        self.set_hold(line, 0, Hold::Modified);
    }

    /// Downgrades `line` to shared and returns whether it was modified.
    pub fn demote(&mut self, line: u64) -> bool {
        self.find(line).is_some_and(|place| {
            let dirty = place.hold == Hold::Modified;
            place.hold = Hold::Shared;
            dirty
        })
    }

    /// Invalidates `line` and returns whether it was modified.
    pub fn invalidate(&mut self, line: u64) -> bool {
        self.find(line).is_some_and(|place| {
            place.generation = 0;
            place.hold == Hold::Modified
        })
    }

    /// Empties the cache without writing anything back. O(1), but for one call in 2^32.
    pub fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.places.fill(EMPTY);
            self.generation = 1;
        }
    }

    fn first_of_set(&self, line: u64) -> usize {
        let within = line & self.set_mask;
        let set = if self.slices == 1 { within } else { self.slice_of(line) * (self.set_mask + 1) + within };
        set as usize * self.ways
    }

    /// The slice of a line: a hash of the bits that don't choose the set in it, so that no stride prefers a
    /// slice.
    fn slice_of(&self, line: u64) -> u64 {
        let hash = (line / (self.set_mask + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        (hash * self.slices) >> 32
    }

    fn set(&mut self, line: u64) -> &mut [CacheSlot] {
        let first = self.first_of_set(line);
        &mut self.places[first..first + self.ways]
    }

    fn find(&mut self, line: u64) -> Option<&mut CacheSlot> {
        let generation = self.generation;
        self.set(line).iter_mut().find(|place| place.is(line, generation))
    }
}

impl CacheSlot {
    fn is(&self, line: u64, generation: u32) -> bool {
        self.line == line && self.generation == generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(sets: usize, ways: usize) -> Cache {
        Cache::new(CacheShape { bytes: sets * ways * 64, ways })
    }

    #[test]
    fn a_filled_line_is_found_until_the_cache_is_cleared() {
        let mut cache = cache(4, 2);
        assert_eq!(cache.access(9, false), None);
        assert_eq!(cache.fill(9, 150, Hold::Exclusive), None);
        assert_eq!(cache.access(9, false), Some(Hit { ready: 150, hold: Hold::Exclusive }));
        assert!(cache.holds(9) && !cache.holds(5));
        cache.clear();
        assert_eq!(cache.access(9, false), None);
        assert_eq!(cache.fill(9, 300, Hold::Exclusive), None, "a cleared place has no victim");
    }

    #[test]
    fn a_direct_mapped_cache_has_conflicts() {
        let mut cache = cache(4, 1);
        cache.fill(1, 0, Hold::Exclusive);
        assert_eq!(cache.fill(5, 0, Hold::Exclusive), Some(Victim { line: 1, dirty: false }));
        assert_eq!(cache.access(1, false), None);
        assert!(cache.access(5, false).is_some());
        assert_eq!(cache.fill(2, 0, Hold::Exclusive), None, "another set is another place");
    }

    #[test]
    fn the_least_recently_used_way_makes_room() {
        let mut cache = cache(4, 2);
        cache.fill(1, 0, Hold::Exclusive);
        cache.fill(5, 0, Hold::Exclusive);
        cache.access(1, false);
        assert_eq!(cache.fill(9, 0, Hold::Exclusive), Some(Victim { line: 5, dirty: false }));
        assert!(cache.access(1, false).is_some());
    }

    #[test]
    fn dirt_is_remembered() {
        let mut cache = cache(1, 2);
        cache.fill(1, 0, Hold::Modified);
        cache.fill(2, 0, Hold::Exclusive);
        cache.access(2, true);
        assert!(cache.invalidate(2));
        assert!(!cache.invalidate(2), "it is gone");
        cache.fill(3, 0, Hold::Exclusive);
        assert_eq!(cache.fill(4, 0, Hold::Exclusive), Some(Victim { line: 1, dirty: true }));
    }

    #[test]
    fn a_shared_line_is_not_modified_until_it_is_owned() {
        let mut cache = cache(1, 2);
        cache.fill(1, 0, Hold::Shared);
        cache.access(1, true);
        assert!(!cache.demote(1), "a write to a shared line must ask the others first");
        cache.set_hold(1, 90, Hold::Exclusive);
        assert_eq!(cache.access(1, true), Some(Hit { ready: 90, hold: Hold::Exclusive }));
        assert!(cache.demote(1) && !cache.demote(1));
        cache.set_hold(7, 0, Hold::Modified);
        assert!(!cache.holds(7), "what isn't there can't be held");
    }

    #[test]
    fn slices_share_the_lines_of_every_stride() {
        for stride in [1, 4, 64, 1 << 20] {
            let mut cache = cache(12, 2);
            assert_eq!((cache.slices, cache.set_mask), (3, 3));
            let mut of_slice = [0; 3];
            for nth in 0..3_000 {
                let line = nth * stride;
                of_slice[cache.slice_of(line) as usize] += 1;
                cache.fill(line, 0, Hold::Exclusive);
                assert!(cache.holds(line));
            }
            assert!(of_slice.iter().all(|&lines| (900..1_100).contains(&lines)), "{stride}: {of_slice:?}");
        }
    }

    #[test]
    fn an_invalidated_place_is_filled_first() {
        let mut cache = cache(1, 2);
        cache.fill(1, 0, Hold::Exclusive);
        cache.fill(2, 0, Hold::Exclusive);
        cache.invalidate(2);
        assert_eq!(cache.fill(3, 0, Hold::Exclusive), None);
        assert!(cache.access(1, false).is_some());
    }
}
