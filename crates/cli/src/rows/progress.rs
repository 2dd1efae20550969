//! A progress line on standard error, on a terminal only, for operations that take longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use latchless_terminal::say;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long nothing is shown.
const QUIET: Duration = Duration::from_secs(1);

/// How often the line is drawn once it is shown.
const TICK: Duration = Duration::from_millis(100);

/// Shows the current step, from a second after it was made until it is dropped.
pub struct Progress {
    bar: ProgressBar,
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Nothing shown yet.
    pub fn start() -> Self {
        let bar = ProgressBar::hidden();
        let shown = bar.clone();
        let (done, is_done) = mpsc::channel();
        let waiting = thread::spawn(move || {
            if is_done.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) && !say::is_quiet() {
                // Draws nothing if standard error is no terminal.
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        });
        Self { bar, waiting: Some((done, waiting)) }
    }

    /// Starts a phase of this many bytes; 0 if that is unknown.
    pub fn phase(&self, what: &'static str, total_bytes: u64) {
        let form = if total_bytes == 0 {
            "{spinner} {msg} {elapsed}"
        } else {
            "{msg} {wide_bar} {bytes}/{total_bytes}"
        };
        if let Ok(style) = ProgressStyle::with_template(form) {
            self.bar.set_style(style);
        }
        self.bar.set_length(total_bytes);
        self.bar.set_position(0);
        self.bar.set_message(what);
    }

    /// This many bytes of the phase are done.
    pub fn reached(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, waiting)) = self.waiting.take() {
            // Both fail only if the thread has ended already, which is all that is wanted.
            let _ = done.send(());
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}
