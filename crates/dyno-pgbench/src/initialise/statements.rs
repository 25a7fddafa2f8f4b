//! The SQL of each step, in the engines' dialects.

use super::rows::{TELLERS_PER_BRANCH, accounts};
use crate::options::{Initialisation, PartitionMethod, Step};
use crate::own::OWN;
use dyno_model::target::Engine;

/// Scale from which account numbers need 64 bits.
const BIGINT_SCALE: u32 = 20_000;
/// Rows per INSERT of the small tables.
const ROWS_PER_INSERT: u64 = 1_000;

/// The standard tables in the order in which they are dropped and truncated.
const TABLES: [&str; 4] =
    ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"];

/// Rejects options that an engine does not support.
pub(super) fn check(wanted: &Initialisation, engine: Engine) -> Result<(), String> {
    if engine == OWN {
        return Ok(());
    }
    let refused = [
        (wanted.fillfactor != 100, "-F/--fillfactor"),
        (wanted.is_unlogged, "--unlogged-tables"),
        (wanted.partitions > 0, "--partitions"),
        (wanted.tablespace.is_some(), "--tablespace"),
        (wanted.index_tablespace.is_some(), "--index-tablespace"),
        (wanted.steps.contains(&Step::GenerateOnServer), "server-side data generation (step G)"),
        (
            engine.is_embedded() && wanted.steps.contains(&Step::ForeignKeys),
            "--foreign-keys (step f)",
        ),
    ];
    match refused.into_iter().find(|(is_wanted, _)| *is_wanted) {
        Some((_, option)) => Err(format!("{option} is not possible on {engine}")),
        None => Ok(()),
    }
}

pub(super) fn drop(engine: Engine) -> Vec<String> {
    if !engine.dialect().drops_several {
        return TABLES.iter().map(|table| format!("drop table if exists {table}")).collect();
    }
    // History first, because it may reference rows of the others.
    let tables = ["pgbench_history", "pgbench_tellers", "pgbench_accounts", "pgbench_branches"];
    vec![format!("drop table if exists {}", tables.join(", "))]
}

/// A table's columns with types; the first one is the key, if there is one.
fn columns(table: &str, wanted: &Initialisation, engine: Engine) -> String {
    let account = if wanted.scale >= BIGINT_SCALE { "bigint" } else { "int" };
    let time = engine.dialect().date_and_time;
    match table {
        "pgbench_history" => {
            format!("tid int, bid int, aid {account}, delta int, mtime {time}, filler char(22)")
        }
        "pgbench_tellers" => "tid int not null, bid int, tbalance int, filler char(84)".to_owned(),
        "pgbench_accounts" => {
            format!("aid {account} not null, bid int, abalance int, filler char(84)")
        }
        _ => "bid int not null, bbalance int, filler char(88)".to_owned(),
    }
}

pub(super) fn key(table: &str) -> Option<&'static str> {
    match table {
        "pgbench_tellers" => Some("tid"),
        "pgbench_accounts" => Some("aid"),
        "pgbench_branches" => Some("bid"),
        _ => None,
    }
}

pub(super) fn tables(wanted: &Initialisation, engine: Engine) -> Vec<String> {
    let unlogged = if wanted.is_unlogged { " unlogged" } else { "" };
    ["pgbench_history", "pgbench_tellers", "pgbench_accounts", "pgbench_branches"]
        .into_iter()
        .map(|table| {
            let columns = columns(table, wanted, engine);
            let key = match key(table) {
                Some(key) if engine.dialect().orders_by_key => format!(", primary key ({key})"),
                _ => String::new(),
            };
            let method = wanted.partition_method.name();
            let storage = match table {
                "pgbench_accounts" if wanted.partitions > 0 => {
                    format!(" partition by {method} (aid)")
                }
                "pgbench_history" => String::new(),
                _ if engine == OWN => format!(" with (fillfactor={})", wanted.fillfactor),
                _ => String::new(),
            };
            format!("create{unlogged} table {table}({columns}{key}){storage}{}", tablespace(wanted))
        })
        .collect()
}

fn tablespace(wanted: &Initialisation) -> String {
    wanted.tablespace.as_ref().map_or(String::new(), |name| format!(" tablespace {}", quoted(name)))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(super) fn partitions(wanted: &Initialisation) -> Vec<String> {
    let count = u64::from(wanted.partitions);
    let size = accounts(wanted.scale).div_ceil(count);
    let unlogged = if wanted.is_unlogged { " unlogged" } else { "" };
    (1..=count)
        .map(|part| {
            let values = match wanted.partition_method {
                PartitionMethod::Hash => format!("with (modulus {count}, remainder {})", part - 1),
                PartitionMethod::Range => {
                    let from = if part == 1 {
                        "minvalue".to_owned()
                    } else {
                        ((part - 1) * size + 1).to_string()
                    };
                    let to = if part == count {
                        "maxvalue".to_owned()
                    } else {
                        (part * size + 1).to_string()
                    };
                    format!("from ({from}) to ({to})")
                }
            };
            let (fill, space) = (wanted.fillfactor, tablespace(wanted));
            format!(
                "create{unlogged} table pgbench_accounts_{part} partition of pgbench_accounts \
                 for values {values} with (fillfactor={fill}){space}"
            )
        })
        .collect()
}

/// The rows of all tables but the accounts, which are bulk-loaded.
pub(super) fn small_rows(wanted: &Initialisation, engine: Engine) -> Vec<String> {
    let mut statements = engine.dialect().truncate.statements(&TABLES);
    let scale = u64::from(wanted.scale);
    let mut insert = |head: &str, count: u64, row: &dyn Fn(u64) -> String| {
        for first in (1..=count).step_by(ROWS_PER_INSERT as usize) {
            let last = count.min(first + ROWS_PER_INSERT - 1);
            let rows: Vec<String> = (first..=last).map(row).collect();
            statements.push(format!("insert into {head} values {}", rows.join(", ")));
        }
    };
    insert("pgbench_branches(bid, bbalance)", scale, &|bid| format!("({bid}, 0)"));
    let teller = |tid: u64| format!("({tid}, {}, 0)", (tid - 1) / TELLERS_PER_BRANCH + 1);
    insert("pgbench_tellers(tid, bid, tbalance)", scale * TELLERS_PER_BRANCH, &teller);
    statements
}

/// Statements that generate all rows on the server, PostgreSQL only.
pub(super) fn generate(wanted: &Initialisation) -> Vec<String> {
    let scale = u64::from(wanted.scale);
    let mut statements = vec!["begin".to_owned()];
    statements.extend(OWN.dialect().truncate.statements(&TABLES));
    statements.extend([
        format!(
            "insert into pgbench_branches(bid, bbalance) select bid, 0 from generate_series(1, \
                 {scale}) as bid"
        ),
        format!(
            "insert into pgbench_tellers(tid, bid, tbalance) select tid, (tid - 1) / \
             {TELLERS_PER_BRANCH} + 1, 0 from generate_series(1, {}) as tid",
            scale * TELLERS_PER_BRANCH
        ),
        format!(
            "insert into pgbench_accounts(aid, bid, abalance, filler) select aid, (aid - 1) / {} + \
             1, 0, '' from generate_series(1, {}) as aid",
            super::rows::ACCOUNTS_PER_BRANCH,
            accounts(wanted.scale)
        ),
        "commit".to_owned(),
    ]);
    statements
}

pub(super) fn vacuum(engine: Engine) -> Vec<String> {
    let Some(verb) = engine.traits().analyze.first().map(|verb| verb.to_lowercase()) else {
        return Vec::new();
    };
    ["pgbench_branches", "pgbench_tellers", "pgbench_accounts", "pgbench_history"]
        .into_iter()
        .map(|table| format!("{verb} {table}"))
        .collect()
}

pub(super) fn primary_keys(wanted: &Initialisation, engine: Engine) -> Vec<String> {
    if engine.dialect().orders_by_key {
        return Vec::new();
    }
    let space = wanted
        .index_tablespace
        .as_ref()
        .map_or(String::new(), |name| format!(" using index tablespace {}", quoted(name)));
    ["pgbench_branches", "pgbench_tellers", "pgbench_accounts"]
        .into_iter()
        .filter_map(|table| {
            Some(format!("alter table {table} add primary key ({}){space}", key(table)?))
        })
        .collect()
}

pub(super) fn foreign_keys() -> Vec<String> {
    [
        ("pgbench_tellers", "bid", "pgbench_branches"),
        ("pgbench_accounts", "bid", "pgbench_branches"),
        ("pgbench_history", "bid", "pgbench_branches"),
        ("pgbench_history", "tid", "pgbench_tellers"),
        ("pgbench_history", "aid", "pgbench_accounts"),
    ]
    .into_iter()
    .map(|(table, column, other)| {
        format!(
            "alter table {table} add constraint {table}_{column}_fkey foreign key ({column}) \
             references {other} ({column})"
        )
    })
    .collect()
}
