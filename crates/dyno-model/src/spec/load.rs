//! `[load]`: how many clients, and for how long.

use super::diagnostic::{Diagnostic, Problems};
use super::keys::LOAD;
use super::quantity;
use super::reader::{Fields, integer};
use super::tree::{Node, Value};
use crate::plan::{LoadPlan, StopRule};
use crate::units::Nanos;

/// Most clients of one treatment. More than ports and memory of one machine bear; a slip of the finger is caught.
pub(super) const CLIENTS_MAX: i64 = 100_000;

/// Longest list of numbers of clients.
const LIST_MAX: usize = 1000;

const GRACE_DEFAULT: Nanos = Nanos(5_000_000_000);
const TIME_LIMIT_DEFAULT: Nanos = Nanos(600_000_000_000);
const WARMUP_DEFAULT_MAX: Nanos = Nanos(5_000_000_000);

/// Slowest and fastest arrivals, per second. A generator cannot do ten million; a slip of the finger is caught.
const RATE_MIN: f64 = 1.0 / 3600.0;
const RATE_MAX: f64 = 1e7;

/// Numbers of clients, in the order they are written.
pub(super) fn clients(fields: &Fields<'_>) -> Vec<u32> {
    match fields.node("clients") {
        None => {
            fields.missing("clients", "add for example `clients = [1, 8, 64]`");
            Vec::new()
        }
        Some(Node { span, value: Value::Integer(value) }) => {
            let node = Node { span: *span, value: Value::Integer(*value) };
            client_count(&node, &fields.path("clients"), fields.problems).into_iter().collect()
        }
        Some(node) => client_list(node, &fields.path("clients"), fields.problems),
    }
}

/// A list of numbers of clients: not empty, each in range, none twice.
pub(super) fn client_list(node: &Node, path: &str, problems: &Problems) -> Vec<u32> {
    let help = "write for example `clients = [1, 8, 64]`";
    let Value::List(items) = &node.value else {
        let message =
            format!("`{path}` must be an integer or a list of integers, not {}", node.value.type_name());
        problems.report(Diagnostic::new(node.span, message).help(help));
        return Vec::new();
    };
    if items.is_empty() {
        let message = format!("`{path}` is an empty list");
        problems.report(Diagnostic::new(node.span, message).label("nothing to measure").help(help));
    }
    if items.len() > LIST_MAX {
        let message = format!("`{path}` holds {} numbers, at most {LIST_MAX} make sense", items.len());
        problems.report(Diagnostic::new(node.span, message));
        return Vec::new();
    }
    let mut counts: Vec<u32> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let Some(count) = client_count(item, path, problems) else { continue };
        if counts.contains(&count) {
            let first = items
                .iter()
                .take(i)
                .find(|other| other.value == item.value)
                .map_or(item.span, |other| other.span);
            let message = format!("`{path}` holds {count} twice");
            let help = "remove one; `design.blocks` sets the number of repeats";
            problems.report(
                Diagnostic::new(item.span, message).label("again").related(first, "first here").help(help),
            );
        }
        counts.push(count);
    }
    counts
}

fn client_count(node: &Node, path: &str, problems: &Problems) -> Option<u32> {
    integer(node, path, 1..=CLIENTS_MAX, problems).and_then(|count| u32::try_from(count).ok())
}

/// Everything but the clients. `clients_max` is the largest number of clients.
pub(super) fn rules(fields: &Fields<'_>, clients_max: Option<u32>) -> Option<LoadPlan> {
    let stop = stop_rule(fields, clients_max);
    let warmup = fields.duration("warmup", Nanos(0));
    let grace = fields.duration("grace", Nanos(0)).unwrap_or(GRACE_DEFAULT);
    let time_limit = fields.duration("time_limit", Nanos(1));
    let workers = fields.integer("workers", 1..=1024).and_then(|workers| u32::try_from(workers).ok());
    let attempts_max =
        fields.integer("attempts_max", 1..=1000).and_then(|count| u32::try_from(count).ok()).unwrap_or(10);
    let rate = rate(fields);
    let stop = stop?;
    if let (StopRule::Duration(duration), Some(limit), Some(node)) =
        (stop, time_limit, fields.node("time_limit"))
        && limit < duration
    {
        let message = "`load.time_limit` is shorter than `load.duration`";
        let help = "leave it out: measuring by time ends by itself";
        fields.problems.report(Diagnostic::new(node.span, message).help(help));
    }
    let (warmup_default, limit_default) = match stop {
        StopRule::Duration(duration) => (Nanos(duration.0 / 10).min(WARMUP_DEFAULT_MAX), duration),
        StopRule::Transactions(_) | StopRule::TransactionsPerClient(_) => (Nanos(0), TIME_LIMIT_DEFAULT),
    };
    Some(LoadPlan {
        warmup: warmup.unwrap_or(warmup_default),
        grace,
        time_limit: time_limit.unwrap_or(limit_default),
        workers,
        attempts_max,
        rate,
        ..LoadPlan::new(stop)
    })
}

/// Arrivals per second of an open loop.
fn rate(fields: &Fields<'_>) -> Option<f64> {
    let node = fields.node("rate")?;
    let path = fields.path("rate");
    let example = "write a number and a time: `\"500/s\"`, `\"2.5/s\"`, `\"30/min\"`";
    let message = match &node.value {
        Value::Text(text) => match quantity::rate(text) {
            Ok(rate) if (RATE_MIN..=RATE_MAX).contains(&rate) => return Some(rate),
            Ok(_) => format!("`{path}` must be between one an hour and ten million a second, got `{text}`"),
            Err(reason) => format!("`{path}` is not a rate: {reason}"),
        },
        other => format!("`{path}` must be a text, not {}", other.type_name()),
    };
    fields.problems.report(Diagnostic::new(node.span, message).help(example));
    None
}

fn stop_rule(fields: &Fields<'_>, clients_max: Option<u32>) -> Option<StopRule> {
    let keys = ["transactions", "transactions_per_client", "duration"];
    let given: Vec<_> = keys.iter().filter_map(|key| fields.table.entry(key)).collect();
    if given.is_empty() {
        let message = format!("nothing in {} says when measuring ends", LOAD.heading);
        let help = "add `transactions = 10_000` (all clients together), `transactions_per_client = 500` or \
                    `duration = \"30s\"`";
        fields.problems.report(Diagnostic::new(fields.span, message).help(help));
    }
    if let [first, second, ..] = given[..] {
        let message = format!("`load.{}` and `load.{}` cannot both be given", first.key, second.key);
        fields.problems.report(
            Diagnostic::new(second.key_span, message)
                .related(first.key_span, "the other one")
                .help("remove one of them"),
        );
    }
    let count = |key| fields.integer(key, 1..=i64::MAX).and_then(|count| u64::try_from(count).ok());
    let transactions = count("transactions");
    let per_client = count("transactions_per_client");
    let duration = fields.duration("duration", Nanos(1));
    if let (Some(total), Some(clients), Some(node)) = (transactions, clients_max, fields.node("transactions"))
        && total < u64::from(clients)
    {
        let message = format!("`load.transactions` is {total}, but {clients} clients are to share them");
        let help = format!("give at least {clients}, or count per client with `transactions_per_client`");
        fields.problems.report(Diagnostic::new(node.span, message).help(help));
    }
    transactions
        .map(StopRule::Transactions)
        .or(per_client.map(StopRule::TransactionsPerClient))
        .or(duration.map(StopRule::Duration))
}
