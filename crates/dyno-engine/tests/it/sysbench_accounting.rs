//! Native workloads send and count the same as sysbench's scripts of the same name.

use crate::bench::{NOBODY, SEED, load, native, null};
use dyno_engine::{LoadInput, LoadRecord};
use dyno_model::catalog::OptionValue;
use dyno_model::counters::Outcomes;
use dyno_model::plan::{LoadPlan, StopRule};

fn run(kind: &str, changes: &[(&str, i64)], clients: u32, transactions: u64) -> LoadRecord {
    let options: Vec<_> =
        changes.iter().map(|(name, value)| (*name, OptionValue::Integer(*value))).collect();
    let plan = LoadPlan::new(StopRule::Transactions(transactions));
    let input = LoadInput::new("accounting", clients, &plan, SEED, &NOBODY);
    let record = load(native(kind, &options, clients), null(""), &input, &mut ());
    assert_eq!(record.counters.committed, transactions);
    record
}

#[test]
fn every_preset_has_sysbenchs_reads_writes_and_others() {
    let rows = [
        ("oltp_read_write", 14, 4, 2),
        ("oltp_read_only", 14, 0, 2),
        ("oltp_write_only", 0, 4, 2),
        ("oltp_point_select", 1, 0, 0),
        ("oltp_update_index", 0, 1, 0),
        ("oltp_update_non_index", 0, 1, 0),
        ("oltp_delete", 0, 1, 0),
        ("oltp_insert", 0, 1, 0),
        ("select_random_points", 1, 0, 0),
        ("select_random_ranges", 1, 0, 0),
    ];
    for (kind, reads, writes, others) in rows {
        let outcomes = run(kind, &[], 3, 20).counters.outcomes;
        let expected = Outcomes { reads: 20 * reads, writes: 20 * writes, others: 20 * others };
        assert_eq!(outcomes, expected, "{kind}");
    }
}

#[test]
fn a_client_connects_anew_after_every_so_many_transactions() {
    for kind in ["oltp_point_select", "oltp_read_write", "select_random_ranges"] {
        let record = run(kind, &[("reconnect", 10)], 1, 100);
        assert_eq!((record.counters.reconnects, record.counters.failed), (10, 0), "{kind}");
    }
}

#[test]
fn bulk_insert_counts_rows_as_events_and_sends_at_512_kib() {
    let record = run("bulk_insert", &[("rows_per_insert", 0)], 1, 100_000);
    // (1,1) to (99999,99999) with commas are 1,177,774 characters: three packets.
    assert_eq!(record.counters.outcomes, Outcomes { reads: 0, writes: 3, others: 0 });
    assert_eq!(record.exact_latency.count, 100_000);
    let few = run("bulk_insert", &[("rows_per_insert", 0)], 4, 100);
    assert!((1..=4).contains(&few.counters.outcomes.writes), "what is left is sent at the end");
}
