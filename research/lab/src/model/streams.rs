//! The stream prefetcher of a processor: it sees which lines are requested of its secondary cache, and has
//! the lines fetched to which a run through a page will come.
//!
//! # Modelled
//! - A page has one stream. Two requests in a row in one direction, not further apart than a stream is ahead,
//!   begin it; one in the other direction, or further away, begins it again.
//! - Each further request has up to two lines fetched: the next one into the secondary cache, not more than
//!   [`StreamShape::near_lines`] ahead, and the next one into the shared cache, not more than
//!   [`StreamShape::ahead_lines`] ahead. A stream ends at its page's ends, because addresses are physical.
//! - It has its own miss handlers; a line for which none is free isn't fetched now.
//! - The stream that wasn't used for longest makes room for one of another page.

use super::memory::MissHandlers;
use super::parameters::{LINES_OF_PAGE, StreamShape};

/// A line to be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// Into the secondary cache, and into the shared one.
    Near(u64),
    /// Into the shared cache alone.
    Far(u64),
}

/// Lines that one request may have fetched.
pub const PER_REQUEST: usize = 2;

/// The runs through pages that are followed.
#[derive(Debug)]
pub struct Streams {
    shape: StreamShape,
    streams: Vec<Stream>,
    requests: u64,
    /// Those of its own fetches.
    pub handlers: MissHandlers,
}

/// A run through a page. Lines are places in the page.
#[derive(Debug, Clone, Copy)]
struct Stream {
    page: u64,
    /// The place that was requested last.
    last: i64,
    /// Up, down, or not known yet: 1, -1, 0.
    step: i64,
    /// The furthest places that were fetched into each cache, or `last`.
    near: i64,
    far: i64,
    /// Its last use, in requests.
    used: u64,
}

impl Streams {
    /// No stream yet.
    pub fn new(shape: StreamShape) -> Self {
        let streams = Vec::with_capacity(shape.streams);
        Self { shape, streams, requests: 0, handlers: MissHandlers::new(shape.miss_handlers) }
    }

    /// Forgets all streams. Fetches in flight stay so.
    pub fn clear(&mut self) {
        self.streams.clear();
    }

    /// Sees a request for `line`, and returns the lines to be fetched. O(streams).
    pub fn see(&mut self, line: u64) -> [Option<Ahead>; PER_REQUEST] {
        self.requests += 1;
        let (page, at) = (line / LINES_OF_PAGE, (line % LINES_OF_PAGE) as i64);
        let fresh = Stream { page, last: at, step: 0, near: at, far: at, used: self.requests };
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.page == page) else {
            self.follow(fresh);
            return [None; PER_REQUEST];
        };
        stream.used = self.requests;
        let distance = at - stream.last;
        if distance == 0 {
            return [None; PER_REQUEST];
        }
        if distance.abs() > self.shape.ahead_lines as i64 {
            *stream = fresh;
            return [None; PER_REQUEST];
        }
        if stream.step != distance.signum() {
            *stream = Stream { step: distance.signum(), ..fresh };
        }
        stream.pass(at);
        [(); PER_REQUEST].map(|()| stream.next(&self.shape))
    }

    fn follow(&mut self, fresh: Stream) {
        if self.streams.len() < self.shape.streams {
            return self.streams.push(fresh);
        }
        if let Some(oldest) = self.streams.iter_mut().min_by_key(|stream| stream.used) {
            *oldest = fresh;
        }
    }
}

impl Stream {
    /// The run has come to this place.
    fn pass(&mut self, at: i64) {
        self.last = at;
        for place in [&mut self.near, &mut self.far] {
            if (*place - at) * self.step < 0 {
                *place = at;
            }
        }
    }

    /// Returns the next line to be fetched, if one is near enough.
    fn next(&mut self, shape: &StreamShape) -> Option<Ahead> {
        let (step, last) = (self.step, self.last);
        let line = |place: i64| self.page * LINES_OF_PAGE + place as u64;
        let within = |place: i64, most: usize| {
            (0..LINES_OF_PAGE as i64).contains(&place) && (place - last) * step <= most as i64
        };
        if within(self.near + step, shape.near_lines) {
            let near = self.near + step;
            let ahead = Ahead::Near(line(near));
            self.near = near;
            if (self.far - near) * step < 0 {
                self.far = near;
            }
            return Some(ahead);
        }
        if within(self.far + step, shape.ahead_lines) {
            let far = self.far + step;
            let ahead = Ahead::Far(line(far));
            self.far = far;
            return Some(ahead);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ahead::{Far, Near};

    const SHAPE: StreamShape = StreamShape { streams: 2, near_lines: 2, ahead_lines: 5, miss_handlers: 16 };

    fn seen(lines: &[u64]) -> Vec<Ahead> {
        let mut streams = Streams::new(SHAPE);
        lines.iter().flat_map(|&line| streams.see(line).into_iter().flatten()).collect()
    }

    #[test]
    fn a_run_up_is_fetched_ahead_near_lines_first() {
        assert_eq!(seen(&[64]), []);
        assert_eq!(seen(&[64, 64]), []);
        assert_eq!(seen(&[64, 65]), [Near(66), Near(67)]);
        let further = seen(&[64, 65, 66, 67]);
        assert_eq!(further[2..], [Near(68), Far(69), Near(69), Far(70)]);
    }

    #[test]
    fn a_run_down_is_fetched_ahead_to_the_page_s_start() {
        assert_eq!(seen(&[70, 69]), [Near(68), Near(67)]);
        assert_eq!(seen(&[66, 65]), [Near(64)]);
        assert_eq!(seen(&[125, 126]), [Near(127)], "and one up to its end");
    }

    #[test]
    fn requests_in_no_order_have_nothing_fetched() {
        assert_eq!(seen(&[64, 90, 70, 100, 80, 64 * 7, 64]), []);
    }

    #[test]
    fn a_stream_is_no_further_ahead_than_it_may_be() {
        let mut streams = Streams::new(SHAPE);
        for line in 0..64 {
            for ahead in streams.see(line).into_iter().flatten() {
                let (fetched, most) = match ahead {
                    Near(fetched) => (fetched, 2),
                    Far(fetched) => (fetched, 5),
                };
                assert!(fetched > line && fetched - line <= most && fetched < 64, "{ahead:?} at {line}");
            }
        }
    }

    #[test]
    fn the_oldest_stream_makes_room() {
        let mut streams = Streams::new(SHAPE);
        [0, 64, 1, 128].iter().for_each(|&line| _ = streams.see(line));
        assert_eq!(streams.see(2), [Some(Near(4)), Some(Far(5))]);
        assert_eq!(streams.see(65), [None, None], "its page was forgotten");
    }
}
