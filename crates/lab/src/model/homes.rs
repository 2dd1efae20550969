//! Which node of the machine a page, and a processor, belongs to.

use super::pages::Place;
use super::system::{Placement, System};

/// The node of every page and line that has been touched, by their numbers.
#[derive(Debug)]
pub struct Homes {
    nodes: usize,
    processors: usize,
    placement: Placement,
    /// Both are empty on a machine of one node.
    of_page: Vec<u8>,
    of_line: Vec<u8>,
}

impl Homes {
    /// No page yet.
    pub fn new(system: &System) -> Self {
        Self {
            nodes: system.nodes,
            processors: system.processors,
            placement: system.placement,
            of_page: Vec::new(),
            of_line: Vec::new(),
        }
    }

    /// The node of a processor: as many neighbours to each as go evenly.
    pub fn node_of(&self, processor: usize) -> usize {
        processor * self.nodes / self.processors
    }

    /// The node of a line.
    pub fn of(&self, line: u64) -> usize {
        self.of_line.get(line as usize).copied().map_or(0, usize::from)
    }

    /// `processor` touches what lies at `place`: if nobody has before, it now has a home.
    pub fn settle(&mut self, place: Place, processor: usize) {
        if self.nodes == 1 {
            return;
        }
        let (page, line) = (place.page as usize, place.line as usize);
        while self.of_page.len() <= page {
            let node = match self.placement {
                Placement::FirstTouch => self.node_of(processor),
                Placement::Interleaved => self.of_page.len() % self.nodes,
            };
            self.of_page.push(node as u8);
        }
        if self.of_line.len() <= line {
            self.of_line.resize(line + 1, 0);
        }
        self.of_line[line] = self.of_page[page];
    }

    /// Puts a page onto `node`. The lines that have been touched follow when they are settled again.
    pub fn move_page(&mut self, page: u64, node: usize) {
        if let Some(of_page) = self.of_page.get_mut(page as usize) {
            *of_page = node as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(nodes: usize, processors: usize, placement: Placement) -> Homes {
        Homes::new(&System { nodes, processors, placement, ..System::ALONE })
    }

    #[test]
    fn processors_are_dealt_out_evenly() {
        let homes = homes(4, 8, Placement::FirstTouch);
        let nodes: Vec<usize> = (0..8).map(|processor| homes.node_of(processor)).collect();
        assert_eq!(nodes, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_page_lies_where_it_was_first_touched_or_moved_to() {
        let mut homes = homes(2, 4, Placement::FirstTouch);
        homes.settle(Place { line: 0, page: 0 }, 3);
        homes.settle(Place { line: 1, page: 1 }, 0);
        homes.settle(Place { line: 2, page: 0 }, 0);
        assert_eq!([0, 1, 2].map(|line| homes.of(line)), [1, 0, 1]);
        homes.move_page(1, 1);
        homes.settle(Place { line: 1, page: 1 }, 0);
        assert_eq!(homes.of(1), 1);
    }

    #[test]
    fn interleaved_pages_go_round() {
        let mut homes = homes(3, 3, Placement::Interleaved);
        let node = |nth: u64| {
            homes.settle(Place { line: nth, page: nth }, 0);
            homes.of(nth)
        };
        assert_eq!([0, 1, 2, 3, 4].map(node), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn one_node_has_everything() {
        let mut homes = homes(1, 4, Placement::Interleaved);
        homes.settle(Place { line: 5, page: 5 }, 3);
        assert_eq!((homes.of(5), homes.node_of(3)), (0, 0));
    }
}
