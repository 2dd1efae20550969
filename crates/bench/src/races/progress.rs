//! A progress bar for work that takes longer than a second: on standard error, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use latchless_terminal::say;
use std::time::{Duration, Instant};

/// The time after which the bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// Work in steps, shown once it has taken longer than a second.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: bool,
}

impl Progress {
    /// Creates a bar for that many steps, hidden at first.
    pub fn new(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        let form = "{msg:32!} {wide_bar} {percent:>3} % {elapsed} (about {eta} left)";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), shown: false }
    }

    /// Sets the message.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Advances by that many steps. Not for timed phases: drawing takes time.
    pub fn advance(&mut self, steps: u64) {
        self.bar.inc(steps);
        if !self.shown && !say::is_quiet() && self.started.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            self.shown = true;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
