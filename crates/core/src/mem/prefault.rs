//! Prefaulting: a thread of the process populates memory before it is needed.
//!
//! On the first write to a page the system allocates and zeroes memory for it. For a huge page that takes a
//! tenth of a millisecond if the system has free memory, and several milliseconds if a hypervisor has to
//! find it. No system call does that in pieces, so an insert that mustn't wait for it needs another thread.
//!
//! # Thread safety
//! The thread starts with the first request of the process and serves all requests in order. It changes no
//! content. It holds a mapping only while it populates a part of it, and drops requests for mappings that
//! are gone. Requests never wait: if the thread isn't available, pages are populated when they are written.
//!
//! A child of a fork has no such thread. Its first request starts one.

use super::mapping::Mapping;
use super::system::PREFAULTS;
use std::sync::Arc;

/// Requests that the committed bytes `from..to` of a mapping be prefaulted, where the system can.
pub(super) fn ask(mapping: &Arc<Mapping>, from: usize, to: usize) {
    if !PREFAULTS {
        return;
    }
    mapping.unready.count_asked();
    if !helper::send(helper::Job { mapping: Arc::downgrade(mapping), from, to }) {
        mapping.unready.count_served();
    }
}

mod helper {
    use crate::mem::mapping::Mapping;
    use crate::sync::Origin;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::sync::{Mutex, TryLockError, Weak};

    /// A range of a mapping to prefault.
    #[derive(Debug)]
    pub(super) struct Job {
        pub(super) mapping: Weak<Mapping>,
        pub(super) from: usize,
        pub(super) to: usize,
    }

    /// The thread, and its process.
    struct Helper {
        origin: Origin,
        jobs: Sender<Job>,
    }

    static HELPER: Mutex<Option<Helper>> = Mutex::new(None);

    /// Sends a job to the thread. Returns `false` if that isn't possible now.
    pub(super) fn send(job: Job) -> bool {
        // Another thread may hold it for a moment; in a child of a fork, for ever.
        let mut helper = match HELPER.try_lock() {
            Ok(helper) => helper,
            Err(TryLockError::Poisoned(helper)) => helper.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if helper.as_ref().is_some_and(|helper| helper.origin.is_inherited()) {
            // Its channel may have been in use at the fork, so it isn't dropped.
            core::mem::forget(helper.take());
        }
        if helper.is_none() {
            *helper = start();
        }
        helper.as_ref().is_some_and(|helper| helper.jobs.send(job).is_ok())
    }

    fn start() -> Option<Helper> {
        let (jobs, inbox) = channel();
        let builder = std::thread::Builder::new().name("latchless-prefault".to_owned());
        builder.spawn(move || serve(&inbox)).ok()?;
        Some(Helper { origin: Origin::here(), jobs })
    }

    fn serve(inbox: &Receiver<Job>) {
        while let Ok(Job { mapping, from, to }) = inbox.recv() {
            if let Some(mapping) = mapping.upgrade() {
                mapping.populate(from, to);
                mapping.unready.count_served();
            }
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use crate::mem::mapping::HUGE_PAGE_BYTES;
    use std::time::{Duration, Instant};

    /// Returns how many of these bytes have memory.
    fn resident_bytes(mapping: &Mapping) -> usize {
        let mut pages = vec![0u8; mapping.bytes() / 4096];
        // SAFETY: the range is a mapping's, and the vector has a byte for each of its pages.
        let told =
            unsafe { libc::mincore(mapping.start().as_ptr().cast(), mapping.bytes(), pages.as_mut_ptr()) };
        assert_eq!(told, 0);
        4096 * pages.iter().filter(|&&page| page & 1 == 1).count()
    }

    fn until_ready(mapping: &Mapping) {
        let start = Instant::now();
        while mapping.unready.are_any() {
            assert!(start.elapsed() < Duration::from_secs(60), "nobody serves the request");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn memory_is_ready_before_it_is_written_and_keeps_what_it_holds() {
        let mapping = Arc::new(Mapping::reserve(4 * HUGE_PAGE_BYTES).unwrap());
        mapping.commit(0, 3 * HUGE_PAGE_BYTES).unwrap();
        let at = mapping.start().as_ptr();
        // SAFETY: the byte is committed, and no other thread reads or writes it.
        unsafe { at.write(7) };
        ask(&mapping, 0, 2 * HUGE_PAGE_BYTES);
        until_ready(&mapping);
        // A sandbox may not support the call: nothing is populated then, which is harmless.
        let resident = resident_bytes(&mapping);
        assert!(resident == 2 * HUGE_PAGE_BYTES || resident < HUGE_PAGE_BYTES, "{resident} bytes");
        // SAFETY: as above.
        assert_eq!(unsafe { at.read() }, 7);
    }

    #[test]
    fn a_mapping_that_is_gone_is_left_out() {
        for _ in 0..20 {
            let mapping = Arc::new(Mapping::reserve(HUGE_PAGE_BYTES).unwrap());
            mapping.commit(0, HUGE_PAGE_BYTES).unwrap();
            ask(&mapping, 0, HUGE_PAGE_BYTES);
        }
        let mapping = Arc::new(Mapping::reserve(HUGE_PAGE_BYTES).unwrap());
        mapping.commit(0, HUGE_PAGE_BYTES).unwrap();
        ask(&mapping, 0, HUGE_PAGE_BYTES);
        until_ready(&mapping);
    }
}
