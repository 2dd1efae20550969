//! Every schedule with up to a number of preemptions, one after the other.
//!
//! A thread runs until it ends, waits, or is preempted; the first two involve no choice, except for the next
//! thread. Bugs that need more preemptions than two are rare ("Iterative context bounding", PLDI 2007), and
//! so few schedules can be run completely: with one preemption there is one for each step of each thread,
//! with two one for each pair of steps.

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// The options at a step, and the one that was taken.
struct Choice {
    options: Vec<TaskId>,
    taken: usize,
    /// Whether all options but the first preempt a thread.
    preempts: bool,
}

/// See the module documentation.
pub struct Bounded {
    preemptions: usize,
    choices: Vec<Choice>,
    /// The number of steps of this execution, and the number of preemptions.
    at: usize,
    used: usize,
    started: bool,
}

impl Bounded {
    pub fn new(preemptions: usize) -> Self {
        Self { preemptions, choices: Vec::new(), at: 0, used: 0, started: false }
    }

    fn options(&self, runnable: &[&Task], current: Option<TaskId>, waits: bool) -> Choice {
        let mut options: Vec<TaskId> = runnable.iter().map(|task| task.id()).collect();
        let preempts = match current.and_then(|own| options.iter().position(|&task| task == own)) {
            // Others have to run first: the next one in rotation, or waiting would never end.
            Some(own) if waits => {
                options = vec![options[(own + 1) % options.len()]];
                false
            }
            Some(own) => {
                options.swap(0, own);
                // The test's own thread only starts the others and waits for them.
                if self.used == self.preemptions || options[0] == TaskId::from(0) {
                    options.truncate(1);
                }
                true
            }
            None => false,
        };
        Choice { options, taken: 0, preempts }
    }
}

impl Scheduler for Bounded {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.started {
            // The next schedule differs from the last one as late as possible.
            while self.choices.pop_if(|choice| choice.taken + 1 == choice.options.len()).is_some() {}
            self.choices.last_mut()?.taken += 1;
        }
        (self.started, self.at, self.used) = (true, 0, 0);
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, waits: bool) -> Option<TaskId> {
        if self.at == self.choices.len() {
            self.choices.push(self.options(runnable, current, waits));
        }
        let choice = &self.choices[self.at];
        let task = choice.options[choice.taken];
        assert!(runnable.iter().any(|other| other.id() == task), "what ran before runs the same way again");
        self.used += usize::from(choice.preempts && choice.taken > 0);
        self.at += 1;
        Some(task)
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
