//! The reorder buffer, which limits how early a load can be issued.
//!
//! A dynamically scheduled processor issues a load before its turn to graduate, as soon as the load is
//! among the instructions in flight. With a buffer of 64 that is when the instruction 64 before it
//! graduates. So the model of the buffer answers one question: at what time was this processor 64
//! instructions ago?

use std::collections::VecDeque;

/// The recent past of one processor: how many instructions had graduated when.
#[derive(Debug)]
pub struct ReorderBuffer {
    instructions_in_flight: u64,
    graduated: u64,
    /// (instructions graduated, at this slot), oldest first. The first one lies at or before the
    /// buffer's look back.
    past: VecDeque<(u64, u64)>,
}

impl ReorderBuffer {
    /// Creates a buffer for that many instructions, at time 0.
    pub fn new(instructions_in_flight: u64) -> Self {
        Self { instructions_in_flight, graduated: 0, past: VecDeque::from([(0, 0)]) }
    }

    /// Records that this many more instructions have graduated by `now`; none for a stall.
    pub fn graduate(&mut self, instructions: u64, now: u64) {
        self.graduated += instructions;
        self.past.push_back((self.graduated, now));
        let target = self.graduated.saturating_sub(self.instructions_in_flight);
        while self.past.get(1).is_some_and(|&(graduated, _)| graduated <= target) {
            self.past.pop_front();
        }
    }

    /// Returns the time at which the load that graduates next entered the buffer.
    pub fn entered_at(&self) -> u64 {
        let target = self.graduated.saturating_sub(self.instructions_in_flight);
        let (from, start) = self.past.front().copied().unwrap_or((0, 0));
        let (to, end) = self.past.get(1).copied().unwrap_or((from, start));
        if to == from || target <= from {
            return start;
        }
        start + (end - start) * (target - from) / (to - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_enters_when_the_instruction_a_buffer_before_it_graduates() {
        let mut buffer = ReorderBuffer::new(64);
        buffer.graduate(32, 100);
        assert_eq!(buffer.entered_at(), 0, "everything so far is in flight");
        buffer.graduate(64, 300);
        assert_eq!(buffer.entered_at(), 100);
        buffer.graduate(32, 400);
        assert_eq!(buffer.entered_at(), 200, "half-way through the 64");
    }

    #[test]
    fn a_stall_lets_nothing_into_the_buffer() {
        let mut buffer = ReorderBuffer::new(64);
        buffer.graduate(64, 100);
        buffer.graduate(0, 700);
        buffer.graduate(16, 720);
        assert_eq!(buffer.entered_at(), 25, "16 of the first 64 had graduated then");
        buffer.graduate(48, 800);
        assert_eq!(buffer.entered_at(), 700, "the load entered after the stalled instruction");
    }
}
