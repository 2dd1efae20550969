//! One cache: sets of lines, replaced least recently used first.

use super::parameters::CacheShape;

/// One place of a cache. Empty unless its generation is the cache's.
#[derive(Debug, Clone, Copy)]
struct Place {
    line: u64,
    /// When the line's data arrives; in the past for a line that is there.
    ready: u64,
    /// When the place was last used, in lookups.
    used: u64,
    generation: u32,
    dirty: bool,
}

const EMPTY: Place = Place { line: 0, ready: 0, used: 0, generation: 0, dirty: false };

/// A line that had to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victim {
    /// Its line number.
    pub line: u64,
    /// Whether it was written to since it came.
    pub dirty: bool,
}

/// A set-associative cache of line numbers. It holds no data: the real memory does.
#[derive(Debug)]
pub struct Cache {
    places: Vec<Place>,
    ways: usize,
    set_mask: u64,
    generation: u32,
    clock: u64,
}

impl Cache {
    /// An empty cache. The shape has been checked.
    pub fn new(shape: CacheShape) -> Self {
        Self {
            places: vec![EMPTY; shape.sets() * shape.ways],
            ways: shape.ways,
            set_mask: shape.sets() as u64 - 1,
            generation: 1,
            clock: 0,
        }
    }

    /// When `line` is (or was) ready, if the cache has it or waits for it. Counts as a use; a
    /// write also makes the line dirty. O(ways).
    pub fn access(&mut self, line: u64, write: bool) -> Option<u64> {
        self.clock += 1;
        let (clock, place) = (self.clock, self.find(line)?);
        place.used = clock;
        place.dirty |= write;
        Some(place.ready)
    }

    /// Puts `line`, which isn't there, in place of the least recently used one of its set. O(ways).
    pub fn fill(&mut self, line: u64, ready: u64, dirty: bool) -> Option<Victim> {
        self.clock += 1;
        let (clock, generation) = (self.clock, self.generation);
        let places = self.set(line);
        let age = |place: &Place| if place.generation == generation { place.used } else { 0 };
        let place = places.iter_mut().min_by_key(|place| age(place))?;
        let victim =
            (place.generation == generation).then_some(Victim { line: place.line, dirty: place.dirty });
        *place = Place { line, ready, used: clock, generation, dirty };
        victim
    }

    /// Marks `line` dirty without counting as a use; says whether the cache has it.
    pub fn mark_dirty(&mut self, line: u64) -> bool {
        self.find(line).map(|place| place.dirty = true).is_some()
    }

    /// Throws `line` out and says whether it was dirty.
    pub fn invalidate(&mut self, line: u64) -> bool {
        self.find(line).is_some_and(|place| {
            place.generation = 0;
            place.dirty
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

    fn set(&mut self, line: u64) -> &mut [Place] {
        let first = (line & self.set_mask) as usize * self.ways;
        &mut self.places[first..first + self.ways]
    }

    fn find(&mut self, line: u64) -> Option<&mut Place> {
        let generation = self.generation;
        self.set(line).iter_mut().find(|place| place.line == line && place.generation == generation)
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
        assert_eq!(cache.fill(9, 150, false), None);
        assert_eq!(cache.access(9, false), Some(150));
        cache.clear();
        assert_eq!(cache.access(9, false), None);
        assert_eq!(cache.fill(9, 300, false), None, "a cleared place has no victim");
    }

    #[test]
    fn a_direct_mapped_cache_has_conflicts() {
        let mut cache = cache(4, 1);
        cache.fill(1, 0, false);
        assert_eq!(cache.fill(5, 0, false), Some(Victim { line: 1, dirty: false }));
        assert_eq!(cache.access(1, false), None);
        assert_eq!(cache.access(5, false), Some(0));
        assert_eq!(cache.fill(2, 0, false), None, "another set is another place");
    }

    #[test]
    fn the_least_recently_used_way_makes_room() {
        let mut cache = cache(4, 2);
        cache.fill(1, 0, false);
        cache.fill(5, 0, false);
        cache.access(1, false);
        assert_eq!(cache.fill(9, 0, false), Some(Victim { line: 5, dirty: false }));
        assert!(cache.access(1, false).is_some());
    }

    #[test]
    fn dirt_is_remembered() {
        let mut cache = cache(1, 2);
        cache.fill(1, 0, true);
        cache.fill(2, 0, false);
        cache.access(2, true);
        assert!(cache.invalidate(2));
        assert!(!cache.invalidate(2), "it is gone");
        assert!(cache.mark_dirty(1) && !cache.mark_dirty(7));
        cache.fill(3, 0, false);
        assert_eq!(cache.fill(4, 0, false), Some(Victim { line: 1, dirty: true }));
    }

    #[test]
    fn an_invalidated_place_is_filled_first() {
        let mut cache = cache(1, 2);
        cache.fill(1, 0, false);
        cache.fill(2, 0, false);
        cache.invalidate(2);
        assert_eq!(cache.fill(3, 0, false), None);
        assert!(cache.access(1, false).is_some());
    }
}
