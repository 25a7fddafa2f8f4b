//! Observes PostgreSQL with the cumulative statistics and `pg_stat_activity`.

use crate::control_connection::{ControlConnection, QueryResult};
use crate::engine::SessionActivity;
use crate::engine::Values;
use crate::engine::queries::{Observed, Watched};
use dyno_model::engine::Engine;
use dyno_model::monitor::names;
use dyno_model::target::Target;
use std::collections::BTreeMap;

/// Views of one row; which exist depends on the version.
const VIEWS: [&str; 3] = ["pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_wal"];

/// The monitor's connection. If the account may, it connects to the database `postgres`, so that
/// its own transactions and reads count in another database's statistics; otherwise the figures
/// include one transaction per query.
struct Statistics {
    session: ControlConnection,
    counters: String,
}

/// Opens the monitor's connection; also returns the id of the server process that serves it.
pub(super) fn observe(target: &Target, databases: &[String]) -> QueryResult<Watched> {
    let apart = Target { database: "postgres".to_owned(), ..target.clone() };
    let mut session =
        ControlConnection::open(&apart).or_else(|_| ControlConnection::open(target))?;
    // The engine waits for sessions named `dyno` to end.
    session.run("SET application_name = 'dyno monitor'")?;
    let process = session.first("SELECT pg_backend_pid()")?.and_then(|pid| pid.parse().ok());
    let views: Vec<String> = session
        .rows("SELECT viewname FROM pg_catalog.pg_views WHERE schemaname = 'pg_catalog'")?
        .into_iter()
        .filter_map(|row| row.into_iter().next()?)
        .collect();
    let has = |view: &str| views.iter().any(|known| known == view);
    let databases = listed(databases);
    let mut queries =
        vec![view_query("pg_stat_database", &format!("WHERE s.datname IN ({databases})"))];
    queries.extend(VIEWS.iter().filter(|view| has(view)).map(|view| view_query(view, "")));
    let size =
        "SELECT 'data_bytes', sum(pg_database_size(datname))::text FROM pg_catalog.pg_database";
    queries.push(format!("{size} WHERE datname IN ({databases})"));
    if has("pg_stat_io") {
        // Per kind of process, over all objects and contexts.
        queries.push(
            "SELECT 'pg_stat_io.' || replace(s.backend_type, ' ', '_') || '.' || e.key, sum(e.value::numeric)::text \
             FROM pg_catalog.pg_stat_io AS s, jsonb_each_text(to_jsonb(s)) AS e \
             WHERE e.key IN ('reads', 'writes', 'extends', 'hits', 'evictions', 'fsyncs', 'writebacks') \
             GROUP BY s.backend_type, e.key"
                .to_owned(),
        );
    }
    let counters = queries.join(" UNION ALL ");
    Ok((Box::new(Statistics { session, counters }), process))
}

impl Observed for Statistics {
    fn counters(&mut self, values: &mut Values) -> QueryResult<()> {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for (name, value) in self.session.pairs(&self.counters)? {
            let Ok(value) = value.parse::<f64>() else { continue };
            // Each database has its own row.
            *sums.entry(name).or_default() += value;
        }
        for (name, value) in sums {
            match name.as_str() {
                "pg_stat_database.datid" => {}
                "pg_stat_database.numbackends" => {
                    values.put("server.pg_stat_database.numbackends", value);
                }
                "data_bytes" => values.put(names::SERVER_DATA, value),
                name => values.put(&format!("server.{name}_total"), value),
            }
        }
        Ok(())
    }

    fn sessions(&mut self, _is_detailed: bool) -> QueryResult<Option<Vec<SessionActivity>>> {
        let rows = self.session.rows(
            "SELECT count(*), coalesce(state, ''), coalesce(wait_event_type || ':' || wait_event, ''), \
             CASE WHEN state = 'idle' THEN '' ELSE left(query, 300) END \
             FROM pg_catalog.pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
             GROUP BY 2, 3, 4",
        )?;
        let seen = |row: Vec<Option<String>>| {
            let mut fields = row.into_iter().map(Option::unwrap_or_default);
            Some(SessionActivity {
                sessions: fields.next()?.parse().ok()?,
                state: fields.next()?,
                wait: fields.next()?,
                statement: fields.next()?,
            })
        };
        Ok(Some(rows.into_iter().filter_map(seen).collect()))
    }
}

/// A query that returns a view as pairs of name and value through JSON, so that the columns of
/// every version appear under their names.
fn view_query(view: &str, condition: &str) -> String {
    format!(
        "SELECT '{view}.' || e.key, e.value FROM pg_catalog.{view} AS s, jsonb_each_text(to_jsonb(s)) AS e {condition}"
    )
}

/// Database names as a list in SQL.
pub(super) fn listed(databases: &[String]) -> String {
    let literals = databases.iter().map(|name| match name.as_str() {
        // The address may leave the choice to the server.
        "" => "current_database()".to_owned(),
        name => Engine::Postgres.dialect().literal(name),
    });
    literals.collect::<Vec<_>>().join(", ")
}
