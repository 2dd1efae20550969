//! The node of the machine that a line, and a processor, belongs to.

use super::parameters::{Granule, LINES_OF_PAGE};
use super::system::{Placement, System};

/// The node of every line that has been touched, by its number.
///
/// Lines are placed by pages if pages have numbers. If each line has a separate number, each is placed
/// separately: which of them share a page is the allocator's doing, and differs from run to run.
#[derive(Debug)]
pub struct Homes {
    nodes: usize,
    processors: usize,
    placement: Placement,
    /// Lines that have a home together.
    together: u64,
    /// By the number of such lines; empty on a machine of one node.
    of: Vec<u8>,
}

impl Homes {
    /// Creates homes for lines that haven't been touched yet.
    pub fn new(system: &System, granule: Granule) -> Self {
        Self {
            nodes: system.nodes,
            processors: system.processors,
            placement: system.placement,
            together: match granule {
                Granule::Page => LINES_OF_PAGE,
                Granule::Line => 1,
            },
            of: Vec::new(),
        }
    }

    /// The node of a processor: as many neighbours to each as go evenly.
    pub fn node_of(&self, processor: usize) -> usize {
        processor * self.nodes / self.processors
    }

    /// The node of a line.
    pub fn of(&self, line: u64) -> usize {
        self.of.get((line / self.together) as usize).copied().map_or(0, usize::from)
    }

    /// Records that `processor` touches a line: the first touch gives it a home.
    pub fn settle(&mut self, line: u64, processor: usize) {
        if self.nodes == 1 {
            return;
        }
        while self.of.len() as u64 <= line / self.together {
            let node = match self.placement {
                Placement::FirstTouch => self.node_of(processor),
                // As many lines as a page has, to one node after the other.
                Placement::Interleaved => {
                    (self.of.len() as u64 * self.together / LINES_OF_PAGE) as usize % self.nodes
                }
            };
            self.of.push(node as u8);
        }
    }

    /// Puts a line that has been touched onto `node`, and those that have a home with it.
    pub fn move_line(&mut self, line: u64, node: usize) {
        if let Some(of) = self.of.get_mut((line / self.together) as usize) {
            *of = node as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(nodes: usize, processors: usize, placement: Placement, granule: Granule) -> Homes {
        Homes::new(&System { nodes, processors, placement, ..System::ALONE }, granule)
    }

    #[test]
    fn processors_are_dealt_out_evenly() {
        let homes = homes(4, 8, Placement::FirstTouch, Granule::Page);
        let nodes: Vec<usize> = (0..8).map(|processor| homes.node_of(processor)).collect();
        assert_eq!(nodes, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_page_lies_where_it_was_first_touched_or_moved_to() {
        let mut homes = homes(2, 4, Placement::FirstTouch, Granule::Page);
        homes.settle(0, 3);
        homes.settle(LINES_OF_PAGE, 0);
        homes.settle(2, 0);
        assert_eq!([0, LINES_OF_PAGE, 2].map(|line| homes.of(line)), [1, 0, 1]);
        homes.move_line(LINES_OF_PAGE + 3, 1);
        homes.settle(LINES_OF_PAGE, 0);
        assert_eq!(homes.of(LINES_OF_PAGE), 1);
    }

    #[test]
    fn a_line_with_a_number_of_its_own_lies_by_itself() {
        let mut homes = homes(2, 4, Placement::FirstTouch, Granule::Line);
        homes.settle(0, 3);
        homes.settle(1, 0);
        assert_eq!([0, 1].map(|line| homes.of(line)), [1, 0]);
        homes.move_line(1, 1);
        homes.settle(2, 0);
        assert_eq!([0, 1, 2].map(|line| homes.of(line)), [1, 1, 0]);
    }

    #[test]
    fn interleaved_pages_go_round() {
        for granule in [Granule::Page, Granule::Line] {
            let mut homes = homes(3, 3, Placement::Interleaved, granule);
            let node = |nth: u64| {
                homes.settle(nth * LINES_OF_PAGE + 5, 0);
                homes.of(nth * LINES_OF_PAGE + 5)
            };
            assert_eq!([0, 1, 2, 3, 4].map(node), [0, 1, 2, 0, 1]);
        }
    }

    #[test]
    fn one_node_has_everything() {
        let mut homes = homes(1, 4, Placement::Interleaved, Granule::Line);
        homes.settle(5, 3);
        assert_eq!((homes.of(5), homes.node_of(3)), (0, 0));
    }
}
