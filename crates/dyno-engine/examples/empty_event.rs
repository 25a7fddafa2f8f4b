//! Cost of starting and ending an event in a script client; prints nanoseconds per event.
//!
//! usage: empty_event [CLIENTS] [SECONDS] [RATE]; with a rate per second it is an open loop, and
//! the response time is the delay of events
use dyno_engine::workload::ClientId;
use dyno_engine::{LoadInput, Meter, Script, ScriptFailure, ScriptThreads, run_script};
use dyno_model::plan::{LoadPlan, StopRule};
use dyno_model::units::Nanos;
use std::sync::atomic::AtomicUsize;

struct Empty;

impl Script for Empty {
    fn kinds(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn run(&self, _client: ClientId, mut meter: Meter) -> Result<(), ScriptFailure> {
        meter.await_start();
        while meter.begin_event() {
            meter.end_event();
        }
        Ok(())
    }
}

#[expect(clippy::print_stdout, reason = "a measuring program for the command line")]
fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let clients: u32 = arguments.next().unwrap_or(1);
    let seconds = u64::from(arguments.next().unwrap_or(2));
    let rate = arguments.next().map(f64::from);
    let load = LoadPlan { rate, ..LoadPlan::new(StopRule::Duration(Nanos::from_secs(seconds))) };
    let interrupts = AtomicUsize::new(0);
    let input = LoadInput::new("empty", clients, &load, 1, &interrupts);
    let record = run_script(Empty, &ScriptThreads::default(), &input, &mut ()).expect("measured");
    let threads: f64 = record.generator.workers.iter().map(|worker| worker.cpu.as_secs_f64()).sum();
    let all = record.generator.cpu_user.as_secs_f64() + record.generator.cpu_system.as_secs_f64();
    println!(
        "{clients} clients: {:.2} million events/s; processor time per event {:.1} ns in the clients, {:.1} ns in all; {} KB",
        record.throughput() / 1e6,
        threads * 1e9 / record.counters.committed as f64,
        all * 1e9 / record.counters.committed as f64,
        record.generator.memory_peak >> 10,
    );
    if let Some(open_loop) = record.open_loop {
        let (p50, p99) =
            (Nanos(record.transaction_latency.p50), Nanos(record.transaction_latency.p99));
        println!("{open_loop:?}, p50 {p50}, p99 {p99}");
    }
}
