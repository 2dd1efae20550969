//! A few threads for answers that would block the server, and a bounded queue: a client beyond its bound is
//! refused at once, so that many long ranges don't become as many threads and replies in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;

/// Answers that are made at a time. Each may be as large as a map.
const THREADS: usize = 4;
/// Answers that are made or wait.
const PLACES: usize = 1024;

type Work = Box<dyn FnOnce() + Send>;

/// Started by the first long answer.
static QUEUE: LazyLock<Option<Sender<Work>>> = LazyLock::new(|| {
    let (sender, receiver) = channel();
    let receiver: Arc<Mutex<Receiver<Work>>> = Arc::new(Mutex::new(receiver));
    let started = (0..THREADS).filter(|number| {
        let receiver = Arc::clone(&receiver);
        let thread = thread::Builder::new().name(format!("latchless-{number}"));
        thread
            .spawn(move || {
                while let Some(work) = next(&receiver) {
                    work()
                }
            })
            .is_ok()
    });
    (started.count() > 0).then_some(sender)
});
static TAKEN: AtomicUsize = AtomicUsize::new(0);

fn next(receiver: &Mutex<Receiver<Work>>) -> Option<Work> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// A place in the queue, given back when the answer has been made.
pub struct Place(&'static Sender<Work>);

impl Place {
    /// `None`: the queue is full, or the system refuses a thread.
    pub fn take() -> Option<Self> {
        let queue = QUEUE.as_ref()?;
        let place = Self(queue);
        (TAKEN.fetch_add(1, Ordering::Relaxed) < PLACES).then_some(place)
    }

    /// Has one of the threads do it.
    pub fn hand_over(self, work: impl FnOnce() + Send + 'static) {
        let queue = self.0;
        let work = Box::new(move || {
            let _place = self;
            work();
        });
        // The threads never end, so neither does the channel.
        let _sent = queue.send(work);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Ordering::Relaxed);
    }
}
