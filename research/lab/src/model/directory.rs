//! The directory of lines and their holders, which keeps private caches coherent.
//!
//! The protocol is MESI by invalidation: a line is held by any number of processors that read it, or by
//! one that may write it. A write by another invalidates all copies, and the next access of a former
//! holder is a *coherence miss*: a miss that no larger cache would have saved (OLFIT paper, §2.1). A bus
//! that every cache snoops and a directory differ in how the holders are found, not in who they are, so
//! one table models both.

/// A set of processors, one bit each.
pub type Set = u64;

/// The most processors that one machine has: the bits of a set.
pub const PROCESSORS_MAX: usize = Set::BITS as usize;

const NOBODY: u8 = u8::MAX;

/// One line.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The processors that hold it.
    holders: Set,
    /// The processors that lost it to another's write and haven't had it since.
    lost: Set,
    /// The arrival of the line at its latest writer. No other processor gets it before.
    given: u64,
    /// The arrival of the line at its latest reader. No processor gets it for writing before.
    read: u64,
    /// The processor that holds it exclusively, if one does.
    owner: u8,
}

const UNKNOWN: Entry = Entry { holders: 0, lost: 0, given: 0, read: 0, owner: NOBODY };

/// The actions for a processor that requests a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The others that hold it. To a writer they lose it.
    pub others: Set,
    /// The other that holds it alone, perhaps modified.
    pub owner: Option<usize>,
    /// Whether the requester had it and lost it to another's write.
    pub coherence: bool,
    /// When others that were given it before have got it.
    pub from: u64,
}

/// The lines of one machine.
#[derive(Debug)]
pub struct Directory {
    entries: Vec<Entry>,
    /// Whether there is only one processor, and so nothing to record.
    alone: bool,
}

impl Directory {
    /// Creates an empty directory. At most [`PROCESSORS_MAX`] processors.
    pub fn new(processors: usize) -> Self {
        Self { entries: Vec::new(), alone: processors == 1 }
    }

    /// Returns the actions by which `who` gets `line`, for writing or for reading, and records them as
    /// done. O(1).
    pub fn ask(&mut self, line: u64, who: usize, write: bool) -> Answer {
        if self.alone {
            return Answer { others: 0, owner: None, coherence: false, from: 0 };
        }
        let entry = self.entry(line);
        let own = 1 << who;
        let answer = Answer {
            others: entry.holders & !own,
            owner: (entry.owner != NOBODY && usize::from(entry.owner) != who)
                .then_some(usize::from(entry.owner)),
            coherence: entry.lost & own != 0,
            from: if write { entry.given.max(entry.read) } else { entry.given },
        };
        entry.lost &= !own;
        if write {
            entry.lost |= answer.others;
            entry.holders = own;
        } else {
            entry.holders |= own;
        }
        let alone = entry.holders == own;
        entry.owner = if alone { who as u8 } else { NOBODY };
        answer
    }

    /// The processor that requested `line` last gets it at `ready`.
    pub fn gets(&mut self, line: u64, ready: u64, write: bool) {
        if self.alone {
            return;
        }
        let entry = self.entry(line);
        let latest = if write { &mut entry.given } else { &mut entry.read };
        *latest = ready.max(*latest);
    }

    /// Records that `who` has evicted `line`.
    pub fn leave(&mut self, line: u64, who: usize) {
        if self.alone {
            return;
        }
        let entry = self.entry(line);
        entry.holders &= !(1 << who);
        if usize::from(entry.owner) == who {
            entry.owner = NOBODY;
        }
    }

    /// Empties the directory; nothing is in flight. O(lines).
    pub fn clear(&mut self) {
        self.entries.fill(UNKNOWN);
    }

    fn entry(&mut self, line: u64) -> &mut Entry {
        let line = line as usize;
        if line >= self.entries.len() {
            self.entries.resize((line + 1).next_multiple_of(1 << 16), UNKNOWN);
        }
        &mut self.entries[line]
    }
}

/// The processors in `set`, ascending.
pub fn members(set: Set) -> impl Iterator<Item = usize> {
    let mut rest = set;
    core::iter::from_fn(move || {
        let next = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reader_holds_a_line_alone_and_the_second_shares_it() {
        let mut directory = Directory::new(4);
        let first = directory.ask(7, 0, false);
        assert_eq!(first, Answer { others: 0, owner: None, coherence: false, from: 0 });
        let second = directory.ask(7, 2, false);
        assert_eq!((second.others, second.owner), (0b001, Some(0)));
        let third = directory.ask(7, 3, false);
        assert_eq!((third.others, third.owner), (0b101, None));
    }

    #[test]
    fn a_write_takes_the_line_from_everybody_and_is_remembered() {
        let mut directory = Directory::new(4);
        directory.ask(7, 0, false);
        directory.ask(7, 1, false);
        assert_eq!(directory.ask(7, 2, true).others, 0b011);
        let again = directory.ask(7, 0, false);
        assert!(again.coherence, "it lost the line to the write");
        assert_eq!(again.owner, Some(2));
        assert!(!directory.ask(7, 0, true).coherence, "it has had it since");
    }

    #[test]
    fn who_made_room_has_no_coherence_miss() {
        let mut directory = Directory::new(4);
        directory.ask(7, 0, true);
        directory.leave(7, 0);
        assert_eq!(directory.ask(7, 1, true).owner, None);
        assert!(!directory.ask(7, 0, false).coherence);
    }

    #[test]
    fn nobody_gets_a_line_before_who_was_given_it_has_it() {
        let mut directory = Directory::new(4);
        directory.ask(7, 0, true);
        directory.gets(7, 500, true);
        assert_eq!(directory.ask(7, 1, false).from, 500);
        directory.gets(7, 600, false);
        assert_eq!(directory.ask(7, 2, false).from, 500, "readers don't wait for readers");
        assert_eq!(directory.ask(7, 0, true).from, 600, "a writer does");
    }

    #[test]
    fn a_processor_that_is_alone_shares_nothing() {
        let mut directory = Directory::new(1);
        directory.ask(7, 0, true);
        directory.gets(7, 500, true);
        directory.leave(7, 0);
        assert_eq!(directory.ask(7, 0, true), Answer { others: 0, owner: None, coherence: false, from: 0 });
        assert!(directory.entries.is_empty());
    }

    #[test]
    fn members_ascend() {
        assert_eq!(members(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
        assert_eq!(members(0).count(), 0);
    }
}
