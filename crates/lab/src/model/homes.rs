//! Which node of the machine a page, and a processor, belongs to.

use super::pages::PAGE_LINES;
use super::system::{Placement, System};

/// The node of every page that has been touched, by its number.
#[derive(Debug)]
pub struct Homes {
    nodes: usize,
    processors: usize,
    placement: Placement,
    /// Empty on a machine of one node.
    of_page: Vec<u8>,
}

impl Homes {
    /// No page yet.
    pub fn new(system: &System) -> Self {
        let (nodes, processors) = (system.nodes, system.processors);
        Self { nodes, processors, placement: system.placement, of_page: Vec::new() }
    }

    /// The node of a processor: as many neighbours to each as go evenly.
    pub fn node_of(&self, processor: usize) -> usize {
        processor * self.nodes / self.processors
    }

    /// The node of a line.
    pub fn of(&self, line: u64) -> usize {
        self.of_page.get(line as usize / PAGE_LINES).copied().map_or(0, usize::from)
    }

    /// The first `pages` pages are there; those that weren't have been touched by `processor`.
    pub fn settle(&mut self, pages: usize, processor: usize) {
        if self.nodes == 1 {
            return;
        }
        while self.of_page.len() < pages {
            let node = match self.placement {
                Placement::FirstTouch => self.node_of(processor),
                Placement::Interleaved => self.of_page.len() % self.nodes,
            };
            self.of_page.push(node as u8);
        }
    }

    /// Puts a page that is there onto `node`.
    pub fn move_page(&mut self, page: usize, node: usize) {
        if let Some(of_page) = self.of_page.get_mut(page) {
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
        homes.settle(1, 3);
        homes.settle(2, 0);
        homes.settle(2, 3);
        assert_eq!((homes.of(0), homes.of(PAGE_LINES as u64)), (1, 0));
        homes.move_page(1, 1);
        assert_eq!(homes.of(2 * PAGE_LINES as u64 - 1), 1);
    }

    #[test]
    fn interleaved_pages_go_round() {
        let mut homes = homes(3, 3, Placement::Interleaved);
        homes.settle(5, 0);
        let nodes: Vec<usize> = (0..5).map(|page| homes.of((page * PAGE_LINES) as u64)).collect();
        assert_eq!(nodes, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn one_node_has_everything() {
        let mut homes = homes(1, 4, Placement::Interleaved);
        homes.settle(5, 3);
        assert_eq!((homes.of(0), homes.node_of(3)), (0, 0));
    }
}
