//! The index in lanes: keys divided among NUMA nodes, batches among threads (Algorithm 1).

use super::context::Context;
use super::domain::{Domain, Threshold};
use super::execute::{Outcome, execute, search};
use super::options::{Options, Prefetch};
use super::ranges;
use super::rebuild::{Built, Plan};
use super::work::Work;
use crate::error;
use crate::pi::batch::carry::{Carry, chain};
use crate::pi::batch::partition::row;
use crate::pi::batch::pool::{Assignment, Hands, Pool, assign, threads_per_node};
use crate::pi::crew::{ScopedTask, one_by_one};
use crate::pi::mem::budget::Budget;
use crate::pi::segments::Segments;
use core::marker::PhantomData;
use core::ops::Range;
use latchless_core::base::error::{Broken, Error, Result};
use latchless_core::base::key::Bits;
use latchless_core::batch::{Order, sorted};
use latchless_core::mem::touch::Trace;
use latchless_core::search::Dispatch;

/// See the file's head.
pub(super) struct Engine<B: Bits, T> {
    pub(super) domains: Vec<Domain<B>>,
    /// The first key of each domain; that of the first is the smallest possible key.
    borders: Vec<B>,
    budget: Budget,
    /// `None`: the caller's thread does everything.
    pool: Option<Pool>,
    pub(super) options: Options,
    pub(super) dispatch: Dispatch,
    /// The system's numbers of the domains' nodes.
    node_numbers: Vec<Option<usize>>,
    /// The number of threads of each domain in the last batch.
    pub(super) last_threads: Vec<usize>,
    /// Entries that ranges have fetched, whether they were wanted or not.
    #[cfg(test)]
    pub(super) fetched: usize,
    touch: PhantomData<T>,
}

/// The destination of a batch's answers.
pub(super) trait Answers<B> {
    /// Receives the previous value under the key of the query of this number.
    fn answer(&mut self, number: u32, before: Option<B>);
    /// Receives more entries of the range of this number, in ascending order.
    fn found(&mut self, _number: u32, _entries: Vec<(B, B)>) {}
    /// The query of this number was refused.
    fn refused(&mut self, number: u32, error: Error);
}

impl<B: Bits, T: Trace> Engine<B, T> {
    pub(super) fn new(options: &Options) -> error::Result<Self> {
        options.check()?;
        let dispatch = options.kernel.map_or(Ok(Dispatch::best()), Dispatch::of)?;
        let topology = options.resolved_topology();
        let nodes = topology.nodes().len();
        let refused = |_| Error::OutOfMemory { requested_bytes: 0 };
        // A model hears one thread alone, and what many would allocate is elsewhere every time.
        let pool = match options.threads > 1 && !T::LISTENING {
            true => Some(Pool::new(&topology, options.threads, options.pin).map_err(refused)?),
            false => None,
        };
        let node_numbers: Vec<_> =
            topology.nodes().iter().map(|node| node.number.filter(|_| nodes > 1)).collect();
        let mut engine = Self {
            domains: Vec::new(),
            borders: (0..nodes).map(|node| even_border(node, nodes)).collect(),
            budget: Budget::new(options.limit_bytes, 0),
            pool,
            options: options.clone(),
            dispatch,
            last_threads: vec![0; nodes],
            #[cfg(test)]
            fetched: 0,
            node_numbers,
            touch: PhantomData,
        };
        for node in 0..nodes {
            let domain = Domain::empty(options.form(engine.node_numbers[node])?, engine.plan(node, 1))?;
            engine.domains.push(domain);
        }
        engine.recount();
        Ok(engine)
    }

    fn plan(&self, node: usize, parts: usize) -> Plan {
        Plan::new(&self.options, self.dispatch, self.node_numbers[node], parts)
    }

    fn threshold(&self) -> Threshold {
        let Options { rebuild_percent, rebuild_from, background, .. } = self.options;
        // A model hears one thread alone.
        Threshold { percent: rebuild_percent, from: rebuild_from, background: background && !T::LISTENING }
    }

    fn recount(&mut self) {
        let held = self.domains.iter().map(Domain::memory_bytes).sum();
        self.budget.set_held(held);
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.budget.held_bytes()
    }

    pub(super) fn len(&self) -> usize {
        self.domains.iter().map(|domain| domain.built.list.len()).sum()
    }

    /// Returns the domain of a key.
    pub(super) fn domain_of(&self, key: B) -> usize {
        match self.borders.len() {
            1 => 0,
            _ => self.borders.partition_point(|&border| border <= key) - 1,
        }
    }

    pub(super) fn get(&self, key: B) -> Option<B> {
        self.domains[self.domain_of(key)].get::<T>(self.dispatch, key)
    }

    pub(super) fn put(&mut self, key: B, value: B) -> Result<Option<B>> {
        let domain = self.domain_of(key);
        let before = self.domains[domain].put::<T>(self.dispatch, (key, value), &self.budget)?;
        self.between_batches();
        Ok(before)
    }

    pub(super) fn take(&mut self, key: B) -> Option<B> {
        let domain = self.domain_of(key);
        let before = self.domains[domain].take::<T>(self.dispatch, key);
        self.between_batches();
        before
    }

    /// Starts the rebuilds that are due and swaps in those that are done.
    fn between_batches(&mut self) {
        let threshold = self.threshold();
        let mut swapped = false;
        for node in 0..self.domains.len() {
            let plan = self.plan(node, 1);
            swapped |= self.domains[node].between_batches(threshold, plan);
        }
        if swapped {
            self.recount();
        }
    }

    /// Ends the rebuilds that are going on.
    pub(super) fn settle(&mut self) -> Result<()> {
        let settled = (0..self.domains.len()).map(|node| {
            let plan = self.plan(node, 1);
            self.domains[node].settle(plan, true)
        });
        let settled: Result<Vec<bool>> = settled.collect();
        self.recount();
        settled.map(|_| ())
    }

    /// Runs pieces of work on all threads.
    fn on_all_threads(pool: Option<&Pool>, jobs: Vec<ScopedTask<'_>>) {
        match pool {
            Some(pool) if jobs.len() <= pool.seats().len() => {
                pool.run(jobs.into_iter().enumerate().collect())
            }
            _ => one_by_one(jobs),
        }
    }

    /// Rebuilds what has drifted, now, on all threads.
    pub(super) fn rebuild(&mut self) -> Result<()> {
        let threads = self.options.threads;
        for node in 0..self.domains.len() {
            let plan = self.plan(node, threads);
            let pool = self.pool.as_ref();
            self.domains[node].rebuild_now(plan, &|jobs| Self::on_all_threads(pool, jobs))?;
        }
        self.recount();
        Ok(())
    }

    /// Fills the empty index: evenly distributed among the domains (§4.3.1).
    pub(super) fn load(&mut self, len: usize, entry_at: &(dyn Fn(usize) -> (B, B) + Sync)) -> Result<()> {
        let (nodes, threads) = (self.domains.len(), self.options.threads);
        let mut loaded = Vec::with_capacity(nodes);
        let mut borders = Vec::with_capacity(nodes);
        let mut held = 0;
        for node in 0..nodes {
            let own = len * node / nodes..len * (node + 1) / nodes;
            borders.push(match node {
                0 => B::MIN,
                _ if own.start < len && len >= nodes => entry_at(own.start).0,
                _ => even_border(node, nodes),
            });
            let own = if len >= nodes { own } else { self.sparse(len, entry_at, node) };
            let of_node = |at: usize| entry_at(own.start + at);
            let pool = self.pool.as_ref();
            let run = |jobs: Vec<ScopedTask<'_>>| Self::on_all_threads(pool, jobs);
            let form = self.domains[node].built.list.form();
            let list = Segments::from_sorted(own.len(), &of_node, form, (threads, &run))?;
            let built = Built::over(list, self.plan(node, threads), &run)?;
            held += built.list.memory_bytes() + built.layer.memory_bytes();
            if let Some(limit_bytes) = self.options.limit_bytes
                && held > limit_bytes
            {
                return Err(Error::MemoryLimit { requested_bytes: held, limit_bytes });
            }
            loaded.push(built);
        }
        // No refusal is possible any more.
        self.settle()?;
        self.borders = borders;
        self.domains.iter_mut().zip(loaded).for_each(|(domain, built)| domain.built = built);
        self.recount();
        Ok(())
    }

    /// If there are fewer entries than nodes, returns those that belong to a node by the even borders.
    fn sparse(&self, len: usize, entry_at: &dyn Fn(usize) -> (B, B), node: usize) -> Range<usize> {
        let nodes = self.domains.len();
        let before = |border: B| (0..len).filter(|&at| entry_at(at).0 < border).count();
        let end = if node + 1 < nodes { before(even_border(node + 1, nodes)) } else { len };
        before(even_border(node, nodes))..end
    }

    /// Each domain's part of a sorted batch.
    fn by_domain(&self, order: &[(B, u32)]) -> Vec<Range<usize>> {
        let start = |border: B| order.partition_point(|&(key, _)| key < border);
        let starts: Vec<usize> = self.borders.iter().map(|&border| start(border)).collect();
        let end = |node: usize| starts.get(node + 1).copied().unwrap_or(order.len());
        (0..starts.len()).map(|node| starts[node]..end(node)).collect()
    }

    /// Assigns threads, and their seats, to domains.
    fn assignments(&self, hands: &dyn Hands, queries: &[usize]) -> Vec<Assignment> {
        let threads = self.options.threads.clamp(1, hands.seats().len());
        let busy = queries.iter().filter(|&&queries| queries > 0).count();
        let per_node = match self.options.self_adjusted || threads < queries.len() || busy == 0 {
            true => threads_per_node(queries, threads),
            false => {
                let nodes = queries.len();
                let even = |node: usize| threads * (node + 1) / nodes - threads * node / nodes;
                queries.iter().enumerate().map(|(node, &queries)| even(node).min(queries)).collect()
            }
        };
        assign(&per_node, threads, hands.seats())
    }

    /// Serves a batch of searches. Other threads may search at the same time; of those that want the pool,
    /// one waits for the other.
    pub(super) fn search_all(&self, len: usize, key_at: impl Fn(usize) -> B, answers: &mut dyn Answers<B>) {
        let order = sorted(len, key_at);
        self.search_sorted(self.pool.as_ref().map(|pool| pool as &dyn Hands), &order, answers);
    }

    /// Returns the number of threads that worked for each domain.
    fn search_sorted(
        &self,
        hands: Option<&dyn Hands>,
        order: &[(B, u32)],
        answers: &mut dyn Answers<B>,
    ) -> Vec<usize> {
        let parts = self.by_domain(order);
        let hands = hands.unwrap_or(&Alone);
        let queries: Vec<usize> = parts.iter().map(Range::len).collect();
        let assignments = self.assignments(hands, &queries);
        let mut slots: Vec<Vec<Option<B>>> = assignments.iter().map(|_| Vec::new()).collect();
        let own_of = |one: &Assignment| slice_of(&parts[one.node], one.nth, one.of);
        let work = |(one, slot): (&Assignment, &mut Vec<Option<B>>)| {
            let context = self.context(one.node, Work::Search, self.prefetch_group());
            *slot = search::<B, T>(&context, &self.domains[one.node].built.list, &order[own_of(one)]);
        };
        let work = &work;
        let mut jobs = BySeat::default();
        for (one, slot) in assignments.iter().zip(&mut slots) {
            jobs.add(one.seat, Box::new(move || work((one, slot))));
        }
        hands.run(jobs.joined());
        let mut threads = vec![0; self.domains.len()];
        for (one, slot) in assignments.iter().zip(slots) {
            threads[one.node] += 1;
            for (&(_, number), answer) in order[own_of(one)].iter().zip(slot) {
                answers.answer(number, answer);
            }
        }
        threads
    }

    fn prefetch_group(&self) -> (usize, Prefetch) {
        (self.options.group, self.options.prefetch)
    }

    fn context<'a>(
        &'a self,
        node: usize,
        work: Work<'a, B>,
        (group, prefetch): (usize, Prefetch),
    ) -> Context<'a, B> {
        let domain = &self.domains[node];
        Context {
            layer: &domain.built.layer,
            work,
            budget: &self.budget,
            dispatch: self.dispatch,
            group,
            prefetch,
            logging: domain.rebuilds.running(),
        }
    }

    /// A batch of any queries, sorted.
    pub(super) fn execute(
        &mut self,
        hands: Option<&dyn Hands>,
        work: Work<'_, B>,
        order: &Order<B>,
        answers: &mut dyn Answers<B>,
    ) {
        let pool = self.pool.take();
        let hands = hands.or(pool.as_ref().map(|pool| pool as &dyn Hands)).unwrap_or(&Alone);
        if let Work::Search = work {
            self.last_threads = self.search_sorted(Some(hands), order, answers);
        } else {
            self.execute_sorted(hands, work, order, answers);
        }
        self.pool = pool;
        self.between_batches();
    }

    fn execute_sorted(
        &mut self,
        hands: &dyn Hands,
        work: Work<'_, B>,
        order: &[(B, u32)],
        answers: &mut dyn Answers<B>,
    ) {
        let parts = self.by_domain(order);
        let len_of = |domain: usize| self.domains[domain].built.list.len();
        let mut coming = ranges::coming(work, order, &parts, |key| self.domain_of(key), len_of);
        let queries: Vec<usize> =
            parts.iter().zip(&coming).map(|(part, coming)| part.len().max(coming.is_some().into())).collect();
        let assignments = self.assignments(hands, &queries);
        let mut slots: Vec<Option<Outcome<B>>> = assignments.iter().map(|_| None).collect();
        let (budget, dispatch, (group, prefetch)) = (&self.budget, self.dispatch, self.prefetch_group());
        let mut jobs = BySeat::default();
        // Remainders are passed from node to node as well: a seat's pieces of work are done in the nodes'
        // order.
        let carries = match work {
            Work::Mixed { limited: true, .. } => chain(assignments.len()),
            _ => assignments.iter().map(|_| Carry::default()).collect(),
        };
        let mut places = slots.iter_mut().zip(&assignments).zip(carries);
        self.last_threads.fill(0);
        for (node, domain) in self.domains.iter_mut().enumerate() {
            let logging = domain.rebuilds.running();
            let Built { list, layer } = &mut domain.built;
            let layer = &*layer;
            let of = assignments.iter().filter(|one| one.node == node).count();
            self.last_threads[node] = of;
            for place in row(list.all(), core::mem::take(&mut coming[node].pieces), of) {
                let Some(((slot, one), carry)) = places.next() else { break };
                let own = slice_of(&parts[node], one.nth, one.of);
                jobs.add(
                    one.seat,
                    Box::new(move || {
                        let context = Context { layer, work, budget, dispatch, group, prefetch, logging };
                        *slot = Some(execute::<B, T>(&context, order, own, (place, carry)));
                    }),
                );
            }
        }
        hands.run(jobs.joined());
        for (one, outcome) in assignments.iter().zip(slots) {
            if let Some(outcome) = outcome {
                self.deliver(one.node, order, outcome, answers);
            }
        }
    }

    fn deliver(
        &mut self,
        node: usize,
        order: &[(B, u32)],
        outcome: Outcome<B>,
        answers: &mut dyn Answers<B>,
    ) {
        let Outcome { queries, answers: own, found, refused, drift, log } = outcome;
        let domain = &mut self.domains[node];
        domain.built.list.changed(drift);
        domain.rebuilds.write_down(log);
        for (&(_, number), answer) in order[queries].iter().zip(own) {
            answers.answer(number, answer);
        }
        #[cfg(test)]
        found.iter().for_each(|(_, entries)| self.fetched += entries.len());
        found.into_iter().for_each(|(number, entries)| answers.found(number, entries));
        refused.into_iter().for_each(|(number, error)| answers.refused(number, error));
    }

    pub(super) fn check(&self) -> Result<(), Broken> {
        for (node, domain) in self.domains.iter().enumerate() {
            domain.check()?;
            let (low, high) = (self.borders[node], self.borders.get(node + 1).copied());
            let mut outside = None;
            domain.built.list.visit_up::<T>(crate::pi::segments::Anchor::HEAD, (B::MIN, B::MAX), |key, _| {
                outside = (key < low || high.is_some_and(|high| key >= high)).then_some(key);
                outside.is_none()
            });
            if let Some(key) = outside {
                return Err(Broken::new(format!("{key:?} isn't one of node {node}'s keys")));
            }
        }
        Ok(())
    }
}

/// Returns the first key of a domain if nothing is known of the keys.
fn even_border<B: Bits>(node: usize, nodes: usize) -> B {
    B::truncate((u128::from(B::MAX.to_u64()) * node as u128 / nodes as u128) as u64)
}

/// The `nth` of `of` about equal parts of a range.
fn slice_of(part: &Range<usize>, nth: usize, of: usize) -> Range<usize> {
    part.start + part.len() * nth / of..part.start + part.len() * (nth + 1) / of
}

/// The caller's thread only.
struct Alone;

impl Hands for Alone {
    fn seats(&self) -> &[usize] {
        &[0]
    }

    fn run<'a>(&self, jobs: Vec<(usize, ScopedTask<'a>)>) {
        jobs.into_iter().for_each(|(_, job)| job());
    }
}

/// Pieces of work, by the thread that does them.
#[derive(Default)]
struct BySeat<'a>(Vec<(usize, Vec<ScopedTask<'a>>)>);

impl<'a> BySeat<'a> {
    fn add(&mut self, seat: usize, job: ScopedTask<'a>) {
        match self.0.iter_mut().find(|(of, _)| *of == seat) {
            Some((_, jobs)) => jobs.push(job),
            None => self.0.push((seat, vec![job])),
        }
    }

    /// Returns one piece for each seat: several pieces for one seat are done one after the other.
    fn joined(self) -> Vec<(usize, ScopedTask<'a>)> {
        let join = |jobs: Vec<ScopedTask<'a>>| -> ScopedTask<'a> {
            Box::new(|| jobs.into_iter().for_each(|job| job()))
        };
        self.0.into_iter().map(|(seat, jobs)| (seat, join(jobs))).collect()
    }
}
