//! NUMA: the machine's nodes, the processors of each, and the placement of threads and memory on one of
//! them.
//!
//! The topology is the operating system's, or a synthetic one: an index partitioned for four nodes runs on
//! a machine with one.

use core::fmt;

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The system's number; `None` for a made-up node, to which nothing can be bound.
    pub number: Option<usize>,
    /// The system's numbers of its processors that this process may use; empty: any.
    pub processors: Vec<usize>,
    /// The number of threads that it can run at once.
    pub hardware_threads: usize,
}

/// The nodes of a machine, real or made up. At least one.
///
/// ```
/// use latchless_papers::pi::mem::topology::Topology;
/// println!("{}", Topology::of_system());
/// assert_eq!(Topology::synthetic(4, 6).nodes().len(), 4);
/// assert_eq!(Topology::synthetic(4, 6).hardware_threads(), 24);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    nodes: Vec<Node>,
}

impl Topology {
    /// Returns the operating system's topology; one node if it reports none.
    pub fn of_system() -> Self {
        Self::read_system().unwrap_or_else(Self::alone)
    }

    /// Creates `nodes` synthetic nodes with that many hardware threads each, at least one of either.
    /// Threads aren't moved and memory isn't bound.
    pub fn synthetic(nodes: usize, hardware_threads: usize) -> Self {
        let hardware_threads = hardware_threads.max(1);
        let node = || Node { number: None, processors: Vec::new(), hardware_threads };
        Self { nodes: (0..nodes.max(1)).map(|_| node()).collect() }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of threads that all nodes can run at once.
    pub fn hardware_threads(&self) -> usize {
        self.nodes.iter().map(|node| node.hardware_threads).sum()
    }

    fn alone() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let node = Node { number: None, processors: usable_processors(), hardware_threads: threads };
        Self { nodes: vec![node] }
    }

    fn read_system() -> Option<Self> {
        if cfg!(any(miri, not(target_os = "linux"))) {
            return None;
        }
        let usable = usable_processors();
        let list = std::fs::read_to_string("/sys/devices/system/node/online").ok()?;
        let mut nodes = Vec::new();
        for number in numbers(&list)? {
            let path = format!("/sys/devices/system/node/node{number}/cpulist");
            let of_node = numbers(&std::fs::read_to_string(path).ok()?)?;
            let processors: Vec<usize> =
                of_node.into_iter().filter(|processor| usable.contains(processor)).collect();
            // A node of memory alone, or one that this process may not run on, runs no threads.
            if !processors.is_empty() {
                let hardware_threads = processors.len();
                nodes.push(Node { number: Some(number), processors, hardware_threads });
            }
        }
        (!nodes.is_empty()).then_some(Self { nodes })
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made_up = if self.nodes.iter().any(|node| node.number.is_some()) { "" } else { ", made up" };
        write!(f, "{} nodes, {} hardware threads{made_up}", self.nodes.len(), self.hardware_threads())
    }
}

/// The numbers of a list as the kernel writes it: `0-3,8,10-11`. `None` if it isn't one.
fn numbers(list: &str) -> Option<Vec<usize>> {
    /// More processors than the kernel can be built for.
    const MOST: usize = 1 << 16;
    let mut numbers = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse::<usize>().ok()?);
        if last >= MOST {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Returns the processors that this thread may run on; empty if the system doesn't report them.
fn usable_processors() -> Vec<usize> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::thread::{CpuSet, sched_getaffinity};
        let set = sched_getaffinity(None).ok();
        set.map_or(Vec::new(), |set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    Vec::new()
}

/// Moves the calling thread to the processors of `node` and requests memory there. Returns whether the
/// system agreed; nothing depends on it.
pub fn settle(node: &Node) -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        may_run_on(None, &node.processors) && node.number.is_none_or(prefer)
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        let _ = node;
        false
    }
}

/// Returns the processor that the calling thread currently runs on, if the system reports it.
pub fn current_processor() -> Option<usize> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        Some(rustix::thread::sched_getcpu())
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    None
}

/// A running thread, for others to move.
#[derive(Debug, Clone, Copy)]
pub struct Resident {
    #[cfg(all(target_os = "linux", not(miri)))]
    thread: rustix::thread::Pid,
}

impl Resident {
    /// The calling thread.
    pub fn me() -> Self {
        Self {
            #[cfg(all(target_os = "linux", not(miri)))]
            thread: rustix::thread::gettid(),
        }
    }

    /// Lets the thread run on any processor of `node` but this one; on all of them if the node has no
    /// other. Returns whether the system agreed; nothing depends on it.
    pub fn keep_off(self, processor: usize, node: &Node) -> bool {
        let others: Vec<usize> =
            node.processors.iter().copied().filter(|&other| other != processor).collect();
        let own = if others.is_empty() { &node.processors } else { &others };
        #[cfg(all(target_os = "linux", not(miri)))]
        return may_run_on(Some(self.thread), own);
        #[cfg(not(all(target_os = "linux", not(miri))))]
        {
            let _ = own;
            false
        }
    }
}

/// Sets the processors that a thread, or the calling one, may run on.
#[cfg(all(target_os = "linux", not(miri)))]
fn may_run_on(thread: Option<rustix::thread::Pid>, processors: &[usize]) -> bool {
    use rustix::thread::{CpuSet, sched_setaffinity};
    if processors.is_empty() {
        return false;
    }
    let mut set = CpuSet::new();
    processors.iter().for_each(|&processor| set.set(processor));
    sched_setaffinity(thread, &set).is_ok()
}

/// Requests that memory that the calling thread touches first from now on comes from one node.
#[cfg(all(target_os = "linux", not(miri)))]
fn prefer(node: usize) -> bool {
    let nodes = latchless_core::mem::mapping::node_mask(node);
    // SAFETY: a policy for this thread's future pages; the mask is read for the number of bits that is
    // given.
    let refused = unsafe {
        libc::syscall(
            libc::SYS_set_mempolicy,
            libc::MPOL_PREFERRED,
            nodes.as_ptr(),
            nodes.len() * usize::BITS as usize,
        )
    };
    refused == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(numbers("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(numbers("\n"), Some(vec![]));
        for broken in ["a", "1-", "-", "3-b", "0-99999999999", "0-4000000000"] {
            assert_eq!(numbers(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_system_has_a_node_and_made_up_ones_are_as_asked() {
        let system = Topology::of_system();
        assert!(system.nodes().iter().all(|node| node.hardware_threads > 0));
        assert!(system.hardware_threads() > 0);
        let four = Topology::synthetic(4, 0);
        assert_eq!((four.nodes().len(), four.hardware_threads()), (4, 4));
        assert_eq!(four.to_string(), "4 nodes, 4 hardware threads, made up");
        assert_eq!(Topology::synthetic(0, 3).nodes().len(), 1);
    }

    #[test]
    fn a_thread_settles_where_it_may_run() {
        // On a separate thread, whose affinity doesn't matter afterwards.
        let settled = std::thread::spawn(|| {
            let node = Topology::of_system().nodes()[0].clone();
            settle(&node) || node.processors.is_empty()
        });
        assert!(settled.join().unwrap() || cfg!(any(miri, not(target_os = "linux"))));
        assert!(!settle(&Topology::synthetic(1, 1).nodes()[0]), "a made-up node has no place");
    }

    #[test]
    fn a_thread_is_kept_off_a_processor_if_there_is_another() {
        let node = Topology::of_system().nodes()[0].clone();
        let (tell, told) = std::sync::mpsc::channel();
        let (moved, wait) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(Resident::me()).unwrap();
            wait.recv().unwrap();
            (current_processor(), usable_processors())
        });
        let resident: Resident = told.recv().unwrap();
        let unwanted = node.processors.first().copied().unwrap_or(0);
        let agreed = resident.keep_off(unwanted, &node);
        moved.send(()).unwrap();
        let (runs_on, usable) = thread.join().unwrap();
        if agreed {
            assert!(usable.iter().all(|processor| node.processors.contains(processor)));
            assert_eq!(usable.contains(&unwanted), node.processors.len() == 1);
            assert!(runs_on.is_none_or(|processor| usable.contains(&processor)));
        }
        assert!(!resident.keep_off(0, &Topology::synthetic(1, 1).nodes()[0]), "any processor will do");
    }
}
