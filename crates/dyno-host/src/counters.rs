//! What servers count themselves: for the record, and to check dyno's own counts against.
//!
//! * MySQL family: `SHOW GLOBAL STATUS`, whole numbers only. A snapshot itself counts as one `Com_show_status` and a
//!   connection's set-up statements; no `Com_select`.
//! * PostgreSQL: `pg_stat_database` of the present database (`xact_commit`, `tup_updated`, ...), `pg_stat_wal`,
//!   `pg_stat_bgwriter` and `pg_stat_checkpointer` under their columns' names; and with `pg_stat_statements` the calls
//!   per kind of statement as `calls.SELECT`, `calls.UPDATE` and so on; and `Uptime`, the seconds since the server started. Sessions report their counts at most once a
//!   second and when they end, so a snapshot is taken when the clients have gone. Each snapshot adds a commit of its own.
//! * SQLite and null count nothing.

use crate::session::Session;
use dyno_model::failure::OperationFailure;
use dyno_model::target::{Engine, Target};
use std::collections::BTreeMap;

/// Seconds that the server has been up, as the MySQL family calls it.
const UPTIME: &str = "Uptime";

/// Counters at one moment.
///
/// # Errors
/// When the system cannot be reached or refuses to answer.
pub fn snapshot(target: &Target) -> Result<BTreeMap<String, i64>, OperationFailure> {
    match target.engine {
        Engine::Mysql => mysql(&mut Session::open(target)?),
        Engine::Postgres => postgres(&mut Session::open(target)?),
        Engine::Sqlite | Engine::Null => Ok(BTreeMap::new()),
    }
}

/// What grew (or shrank) between two snapshots. Counters that did not change are left out, and one that the first
/// snapshot does not have yet began at 0.
#[must_use]
pub fn delta(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let changed = |(name, after): (&String, &i64)| {
        let change = after.checked_sub(before.get(name).copied().unwrap_or(0))?;
        (change != 0).then(|| (name.clone(), change))
    };
    after.iter().filter_map(changed).collect()
}

fn numbers(pairs: Vec<(String, String)>) -> impl Iterator<Item = (String, i64)> {
    pairs.into_iter().filter_map(|(name, value)| Some((name, value.trim().parse().ok()?)))
}

fn mysql(session: &mut Session) -> Result<BTreeMap<String, i64>, OperationFailure> {
    Ok(numbers(session.pairs("SHOW GLOBAL STATUS")?).collect())
}

/// Views become pairs of column and value through JSON, so that columns of every version are there under their names.
fn postgres(session: &mut Session) -> Result<BTreeMap<String, i64>, OperationFailure> {
    let mut counters: BTreeMap<String, i64> = numbers(session.pairs(
        "SELECT key, value FROM pg_catalog.pg_stat_database AS d, jsonb_each_text(to_jsonb(d)) \
         WHERE d.datname = current_database() AND key NOT IN ('datid', 'datname', 'numbackends')",
    )?)
    .collect();
    let views = session.rows(
        "SELECT viewname FROM pg_catalog.pg_views WHERE schemaname = 'pg_catalog' \
         AND viewname IN ('pg_stat_wal', 'pg_stat_bgwriter', 'pg_stat_checkpointer')",
    )?;
    for view in views.into_iter().flatten().flatten() {
        // The names come from the list above.
        let pairs = session
            .pairs(&format!("SELECT key, value FROM pg_catalog.{view} AS v, jsonb_each_text(to_jsonb(v))"))?;
        // Two views have a column of this name, a time.
        counters.extend(numbers(pairs).filter(|(name, _)| name != "stats_reset"));
    }
    let up =
        "SELECT floor(extract(epoch FROM clock_timestamp() - pg_catalog.pg_postmaster_start_time()))::bigint";
    counters.extend(session.first(up)?.and_then(|up| Some((UPTIME.to_owned(), up.trim().parse().ok()?))));
    counters.extend(postgres_statements(session)?);
    Ok(counters)
}

/// Calls by the first word of the statement, without questions to the catalogue such as these; nothing where the
/// extension is not there or may not be read.
fn postgres_statements(session: &mut Session) -> Result<BTreeMap<String, i64>, OperationFailure> {
    let schema = session.first(
        "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = 'pg_stat_statements'",
    )?;
    let Some(schema) = schema else { return Ok(BTreeMap::new()) };
    let pairs = session.pairs(&format!(
        "SELECT 'calls.' || upper(substring(query from '[A-Za-z]+')), sum(calls)::bigint FROM {schema}.pg_stat_statements \
         WHERE dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) \
         AND query NOT LIKE '%pg\\_catalog.%' AND query NOT LIKE '%pg\\_stat\\_%' \
         AND substring(query from '[A-Za-z]+') IS NOT NULL GROUP BY 1"
    ));
    // The library may not be loaded although the extension was made, or be out of this account's reach.
    Ok(pairs.map(|pairs| numbers(pairs).collect()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(pairs: &[(&str, i64)]) -> BTreeMap<String, i64> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn a_delta_holds_what_changed_and_what_is_new() {
        let before = counters(&[("Com_select", 10), ("Threads_connected", 5), ("Uptime", 7), ("gone", 1)]);
        let after = counters(&[("Com_select", 25), ("Threads_connected", 2), ("Uptime", 7), ("new", 1)]);
        assert_eq!(
            delta(&before, &after),
            counters(&[("Com_select", 15), ("Threads_connected", -3), ("new", 1)])
        );
    }

    #[test]
    fn only_whole_numbers_are_counters() {
        let pairs = [("a", "12"), ("b", "0.5"), ("c", "ON"), ("d", ""), ("e", "18446744073709551615")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(numbers(pairs).collect::<Vec<_>>(), [("a".to_owned(), 12)]);
    }
}
