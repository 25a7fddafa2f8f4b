//! `tpcb`: pgbench's default script as a built-in workload with its own tables.

use crate::initialise::standard_tables;
use crate::script::builtin;
use crate::transactions::{AUDIT, SCRIPTS, Transactions, VARIABLES};
use dyno_engine::workload::isolation_option;
use dyno_model::catalog::{
    OptionDescription, OptionKind, OptionValue, ScriptText, WorkloadDescription, WorkloadOptions,
};
use dyno_model::target::{Engine, QueryMode};
use std::collections::BTreeMap;

/// Name in `workload.kind`, and of its transaction.
pub const TPCB: &str = "tpcb";
const SCALE: &str = "scale";
/// Balances that must agree after every transaction, and the rows of the history.
const BALANCES: [(&str, &str); 4] = [
    (
        "sum(abalance) - (select sum(bbalance) from pgbench_branches) from pgbench_accounts",
        UNCHANGED,
    ),
    (
        "sum(tbalance) - (select sum(bbalance) from pgbench_branches) from pgbench_tellers",
        UNCHANGED,
    ),
    (
        "coalesce(sum(delta), 0) - (select sum(bbalance) from pgbench_branches) from \
         pgbench_history",
        UNCHANGED,
    ),
    ("count(*) from pgbench_history", "+1 per tpcb"),
];
const UNCHANGED: &str = "unchanged";

/// The description against which the spec is checked.
#[must_use]
pub fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: TPCB,
        summary: "TPC-B-like: pgbench's default script on its tables, on every engine. A payment \
                  changes the balance of an account, a teller and a branch, and leaves a row in \
                  the history. It is not TPC-B: account, teller and branch are drawn independently \
                  of each other, some rows are shorter, and response times have no limit.",
        audit: "The balances of accounts, tellers and branches and the amounts in the history must \
                have the same sum; the history must have one row per committed transaction.",
        options: vec![
            OptionDescription {
                name: SCALE,
                kind: OptionKind::Integer { min: 1, max: 20_000 },
                default: OptionValue::Integer(1),
                help: "branches, with 10 tellers and 100,000 accounts each, 16 MB on PostgreSQL; \
                       fewer branches than clients make clients wait for each other",
            },
            isolation_option(),
        ],
    }
}

/// Builds the workload from options that were checked against [`description`].
///
/// # Errors
/// When the engine does not have the isolation level.
pub fn tpcb(
    options: &WorkloadOptions,
    engine: Engine,
    query_mode: QueryMode,
) -> Result<Transactions, String> {
    let script = ScriptText {
        name: TPCB.to_owned(),
        weight: 1,
        think: None,
        text: builtin::DEFAULT.text(engine),
        file: None,
    };
    let texts = |pairs: &[(&str, &str)]| {
        let owned = pairs.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        OptionValue::Texts(owned.collect::<BTreeMap<_, _>>())
    };
    let scale = options.integer(SCALE);
    let mut own = options.clone();
    own.0.remove(SCALE);
    own.0.insert(SCRIPTS.to_owned(), OptionValue::Scripts(vec![script]));
    own.0.insert(VARIABLES.to_owned(), texts(&[(SCALE, &scale.to_string())]));
    own.0.insert(AUDIT.to_owned(), texts(&BALANCES));
    let mut workload = Transactions::build(&own, engine, query_mode)?;
    workload.data = Box::new(standard_tables(scale as u32, engine));
    Ok(workload)
}

/// Its statements on an engine: kind and SQL.
#[must_use]
pub fn tpcb_statements(engine: Engine) -> Vec<(String, String)> {
    let text = builtin::DEFAULT.text(engine);
    let sent = text.lines().filter(|line| !line.starts_with('\\'));
    let kind = |line: &str| line.split([' ', ';']).next().unwrap_or_default().to_lowercase();
    let bare = |line: &str| {
        let values = [":delta", ":aid", ":tid", ":bid"];
        values.iter().fold(line.trim_end_matches(';').to_owned(), |it, name| it.replace(name, "?"))
    };
    sent.map(|line| (kind(line), bare(line))).collect()
}
