//! A message between two threads, or between two processors of a memory model.

use latchless_core::mem::touch::Trace;
use latchless_core::sync::Backoff;
use std::sync::Arc;
use std::sync::mpsc::{self, TryRecvError};

/// The cache line that is reported to a model: the message's.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Line(u8);

/// The sending end.
#[derive(Debug)]
pub struct Sender<V> {
    line: Arc<Line>,
    to: mpsc::SyncSender<V>,
}

/// The receiving end.
#[derive(Debug)]
pub struct Receiver<V> {
    line: Arc<Line>,
    from: mpsc::Receiver<V>,
}

/// A way for one message.
pub fn mailbox<V>() -> (Sender<V>, Receiver<V>) {
    let line = Arc::new(Line::default());
    let (to, from) = mpsc::sync_channel(1);
    (Sender { line: line.clone(), to }, Receiver { line, from })
}

impl<V> Sender<V> {
    /// Sends the message. A thread that doesn't listen any more has panicked, and is heard of otherwise.
    pub fn send<T: Trace>(self, message: V) {
        T::exchange(&raw const self.line.0);
        let _ = self.to.send(message);
    }
}

impl<V> Receiver<V> {
    /// Waits for the message; `None`: the sender is gone.
    pub fn receive<T: Trace>(self) -> Option<V> {
        if !T::LISTENING {
            return self.from.recv().ok();
        }
        // On a model no other processor runs until this wait is reported.
        let mut backoff = Backoff::default();
        loop {
            T::read(&raw const self.line.0, 1);
            match self.from.try_recv() {
                Ok(message) => return Some(message),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {
                    T::wait(&raw const self.line.0);
                    backoff.wait();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn a_message_arrives_or_its_sender_is_known_to_be_gone() {
        let (to, from) = mailbox();
        std::thread::scope(|scope| {
            scope.spawn(|| to.send::<NoTrace>(7));
            assert_eq!(from.receive::<NoTrace>(), Some(7));
        });
        let (to, from) = mailbox::<u8>();
        drop(to);
        assert_eq!(from.receive::<NoTrace>(), None);
    }
}
