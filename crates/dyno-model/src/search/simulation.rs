//! Simulated servers with a known highest load, and the measurements of a load generator on them.

use super::evidence::Evidence;
use super::{LoadStep, Next, Observed, SaturationSearch, SearchRecord, Slow, StepLengths};
use crate::latency;
use crate::random::SplitMix64;

/// A queue with a number of servers, and Poisson arrivals or waiting clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue {
    pub(super) servers: usize,
    /// Mean service time, exponential, in milliseconds.
    pub(super) mean_ms: f64,
    /// A share of all transactions (0 to 1) that takes a constant time instead, in milliseconds.
    pub(super) slow: Option<(f64, f64)>,
}

/// Disturbance of the load generator's machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Disturbance {
    /// None.
    Quiet,
    /// Other processes slow every service by a factor up to this one, differently in each step, and
    /// are detected.
    Others(f64),
    /// The generator is late in each step, by this number of milliseconds per transaction.
    Late(f64),
}

pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64(seed))
    }

    pub(super) fn unit(&mut self) -> f64 {
        (self.0.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// Outcome of a window's transactions, in milliseconds.
struct Tally {
    from: f64,
    until: f64,
    evidence: Evidence,
}

impl Tally {
    fn new(window: StepLengths) -> Self {
        let (from, seconds) = (window.warmup * 1e3, window.seconds);
        let evidence = Evidence { seconds, ..Evidence::default() };
        Self { from, until: from + seconds * 1e3, evidence }
    }

    /// A transaction with its due, start and end times. A transaction for which no server is free
    /// until the window closes never starts.
    fn take(&mut self, due: f64, start: f64, answered: f64) {
        if due < self.from || due >= self.until {
            return;
        }
        self.evidence.arrived += 1;
        let nanos = |ms: f64| (ms * 1e6) as u64;
        if start < self.until {
            self.evidence.committed += 1;
            latency::record(&mut self.evidence.responses.committed, nanos(answered - due));
        } else {
            latency::record(&mut self.evidence.responses.censored, nanos(self.until - due));
        }
    }
}

impl Queue {
    fn service(&self, random: &mut Random, factor: f64) -> f64 {
        match self.slow {
            Some((share, ms)) if random.unit() < share => ms,
            _ => random.exponential(self.mean_ms) * factor,
        }
    }

    /// Transactions that arrive at a rate.
    pub(super) fn open(
        &self,
        rate: f64,
        window: StepLengths,
        random: &mut Random,
        factor: f64,
        late: f64,
    ) -> Evidence {
        let mut tally = Tally::new(window);
        tally.evidence.is_open_loop = true;
        let mut free = vec![0.0_f64; self.servers];
        let mut now = 0.0;
        while now < tally.until {
            now += random.exponential(1e3 / rate);
            let first = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            let start = free[first].max(now + late);
            free[first] = start + self.service(random, factor);
            tally.take(now, start, free[first]);
        }
        tally.evidence
    }

    /// Clients that each wait for their answer.
    pub(super) fn closed(
        &self,
        clients: usize,
        window: StepLengths,
        random: &mut Random,
        factor: f64,
    ) -> Evidence {
        let mut tally = Tally::new(window);
        let mut free = vec![0.0_f64; self.servers];
        let mut ready_at = vec![0.0_f64; clients];
        loop {
            let client = (0..clients).min_by(|a, b| ready_at[*a].total_cmp(&ready_at[*b])).unwrap();
            let now = ready_at[client];
            if now >= tally.until {
                return tally.evidence;
            }
            let first = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            free[first] = free[first].max(now) + self.service(random, factor);
            ready_at[client] = free[first];
            tally.take(now, now, free[first]);
        }
    }
}

/// A search, and its duration, in seconds.
pub(super) struct Ran {
    pub(super) record: SearchRecord,
    pub(super) seconds: f64,
}

/// Time for connecting, preparing and closing, per measurement.
const AROUND: f64 = 0.3;

/// Runs a search against a queue.
pub(super) fn run(
    mut search: SaturationSearch,
    queue: Queue,
    seed: u64,
    disturbance: Disturbance,
) -> Ran {
    let mut random = Random::new(seed);
    let mut seconds = 0.0;
    loop {
        let (factor, late) = match disturbance {
            Disturbance::Quiet => (1.0, 0.0),
            Disturbance::Others(most) => (1.0 + (most - 1.0) * random.unit(), 0.0),
            Disturbance::Late(late) => (1.0, late),
        };
        let mut observed = |evidence: Evidence, window: StepLengths| {
            seconds += window.warmup + window.seconds + AROUND;
            Observed {
                throughput: evidence.committed as f64 / window.seconds,
                evidence,
                is_by_generator: late > 0.0,
                other_processes_cpu: if factor > 1.0 { 0.3 } else { 0.0 },
                slow: queue
                    .slow
                    .map(|(_, alone_ms)| Slow { transaction: Some("slow".to_owned()), alone_ms }),
                ..Observed::default()
            }
        };
        match search.next() {
            Next::Capacity(window) => {
                let evidence = queue.closed(queue.servers, window, &mut random, factor);
                search.take_capacity(observed(evidence, window).throughput);
            }
            Next::Alone(window) => {
                let evidence = queue.closed(1, window, &mut random, factor);
                search.take_alone(&observed(evidence, window));
            }
            Next::Load(load, window) | Next::Keep(load, window) => {
                let evidence = queue.open(load, window, &mut random, factor, late);
                if search.take(&observed(evidence, window)) {
                    return Ran { record: search.into_record(), seconds };
                }
            }
            Next::Over => return Ran { record: search.into_record(), seconds },
        }
    }
}

/// One line per step, for test messages.
pub(super) fn steps_text(record: &SearchRecord) -> String {
    let line = |it: &LoadStep| {
        format!(
            "  {} {:.1}s n={} {:?} {:?}\n",
            it.load, it.seconds, it.transactions, it.figure, it.outcome
        )
    };
    record.steps.iter().map(line).collect::<String>()
        + &format!("  {:?} {:?} {:?}", record.passed, record.failed, record.end)
}
