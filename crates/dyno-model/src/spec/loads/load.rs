//! `[load]`: number of clients, arrivals, and length of trials.

use crate::catalog::{LUA, OptionValue, PACED, PACING};
use crate::limit::LimitMetric;
use crate::plan::{LoadBy, LoadPlan, Spacing, Stages, StopRule, SystemPlan, WorkloadPlan};
use crate::search::Search;
use crate::spec::diagnostic::{Diagnostic, Problems, Span};
use crate::spec::factors::{self, Factor};
use crate::spec::keys::{FIND, LOAD};
use crate::spec::reader::{Fields, integer, wrong_type};
use crate::spec::scripts::ScriptFiles;
use crate::spec::tree::{Node, STOP_RULES, Table, Value};
use crate::spec::{databases, limit, stages};
use crate::units::Nanos;

const STATEMENT_TIMEOUT: &str = "statement_timeout";

/// Maximum length of the list of numbers of clients.
const LIST_MAX: usize = 1000;

const GRACE_DEFAULT: Nanos = Nanos::from_secs(5);
const TIME_LIMIT_DEFAULT: Nanos = Nanos::from_secs(600);
const WARMUP_DEFAULT_MAX: Nanos = Nanos::from_secs(5);

/// Numbers of clients, in the order of the file.
pub(in crate::spec) fn clients(fields: &Fields<'_>) -> Vec<u32> {
    match fields.node("clients") {
        None => {
            fields.missing("clients", "add for example `clients = [1, 8, 64]`");
            Vec::new()
        }
        Some(node) if matches!(node.value, Value::Integer(_)) => {
            fields.integer_of("clients", node).into_iter().collect()
        }
        Some(node) => client_list(fields, node),
    }
}

/// A list of numbers of clients: not empty, each in range, without duplicates.
pub(in crate::spec) fn client_list(fields: &Fields<'_>, node: &Node) -> Vec<u32> {
    let (path, problems) = (fields.path("clients"), fields.problems);
    let help = "write for example `clients = [1, 8, 64]`";
    let Value::List(items) = &node.value else {
        let message = format!(
            "`{path}` must be an integer or a list of integers, not {}",
            node.value.type_name()
        );
        problems.refuse(node.span, message, help);
        return Vec::new();
    };
    if items.is_empty() {
        let message = format!("`{path}` is an empty list");
        problems.report(Diagnostic::new(node.span, message).label("nothing to measure").help(help));
    }
    if items.len() > LIST_MAX {
        let message = format!("`{path}` has {} numbers; the maximum is {LIST_MAX}", items.len());
        problems.report(Diagnostic::new(node.span, message));
        return Vec::new();
    }
    let mut counts: Vec<u32> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let Some(count) = fields.integer_of("clients", item) else { continue };
        if counts.contains(&count) {
            let first = items[..i].iter().find(|other| other.value == item.value).unwrap_or(item);
            let message = format!("`{path}` contains {count} twice");
            let help = "remove one; `design.blocks` sets the number of repeats";
            let diagnostic = Diagnostic::new(item.span, message).label("again");
            problems.report(diagnostic.related(first.span, "first here").help(help));
        }
        counts.push(count);
    }
    counts
}

/// All load rules except the numbers of clients, which are given.
pub(in crate::spec) fn rules(
    fields: &Fields<'_>,
    files: ScriptFiles<'_>,
    clients: &[u32],
) -> Option<LoadPlan> {
    let clients_max = clients.iter().copied().max();
    let stages = stages::read(fields, files, clients);
    let stop = stop_rule(fields, clients_max, stages.as_ref());
    let warmup = fields.duration("warmup");
    let grace = fields.duration("grace").unwrap_or(GRACE_DEFAULT);
    let time_limit = fields.duration("time_limit");
    let workers = fields.integer("workers");
    let generators = fields.integer("generators");
    let attempts_max = fields.integer("attempts_max").unwrap_or(10);
    let rate = rate(fields, "rate");
    let spacing = fields.choice("spacing", &Spacing::ALL.map(|spacing| (spacing.name(), spacing)));
    let is_overload = fields.boolean("overload").unwrap_or(false);
    let think = fields.duration("think");
    check_stages(fields, stages.as_ref(), is_overload);
    let find = find(fields, clients_max);
    check_think(fields, stages.as_ref(), find.as_ref());
    let milestones = milestones(fields, stop);
    let stop = stop?;
    if let (StopRule::Duration(duration), Some(limit), Some(node)) =
        (stop, time_limit, fields.node("time_limit"))
        && limit < duration
    {
        let message = "`load.time_limit` is shorter than `load.duration`";
        fields.problems.refuse(
            node.span,
            message,
            "remove it: a measurement with a duration ends on its own",
        );
    }
    let (warmup_default, limit_default) = match stop {
        StopRule::Duration(duration) => (Nanos(duration.0 / 10).min(WARMUP_DEFAULT_MAX), duration),
        StopRule::Transactions(_) | StopRule::TransactionsPerClient(_) | StopRule::Rows(_) => {
            (Nanos(0), TIME_LIMIT_DEFAULT)
        }
    };
    Some(LoadPlan {
        warmup: warmup.unwrap_or(warmup_default),
        grace,
        time_limit: time_limit.unwrap_or(limit_default),
        workers,
        generators,
        attempts_max,
        rate,
        spacing: spacing.unwrap_or_default(),
        stages,
        think,
        statement_timeout: fields.duration(STATEMENT_TIMEOUT),
        is_overload,
        find,
        milestones,
        databases: databases::read(fields),
        ..LoadPlan::new(stop)
    })
}

/// Rejects a timeout for answers where it is not supported. An in-process engine answers
/// synchronously; Lua scripts (among `kinds`, the workloads that have the timeout) send statements
/// through functions of their own.
pub(in crate::spec) fn check_timeout<'a>(
    top: &Fields<'_>,
    systems: &[SystemPlan],
    factors: &[Factor],
    mut kinds: impl Iterator<Item = &'a str>,
) {
    let node = top.node("load").and_then(|_| top.table("load")?.0.get(STATEMENT_TIMEOUT));
    if kinds.any(|kind| kind == LUA) {
        let varied = factors.iter().flat_map(Factor::changes);
        let varied = varied
            .filter(|change| matches!(&change.target, factors::FactorTarget::Load(key) if key == STATEMENT_TIMEOUT))
            .map(|change| change.node.span);
        let span = node.map(|node| node.span).into_iter().chain(varied).next().unwrap_or(top.span);
        let message = format!(
            "`load.statement_timeout` has no effect on `{LUA}`: scripts wait for answers without a \
             timeout"
        );
        let help = "remove it and set a timeout on the server, or write the transactions in SQL \
                    (`kind = \"sql\"`)";
        top.problems.refuse(span, message, help);
    }
    if let Some(node) = node
        && let Some(system) = systems.iter().find(|system| system.engine().is_embedded())
    {
        let message = format!(
            "`load.statement_timeout` has no effect on `{}`, which is part of dyno",
            system.name
        );
        top.problems.refuse(node.span, message, "remove it: it applies to servers only");
    }
}

/// The search.
fn find(fields: &Fields<'_>, clients_max: Option<u32>) -> Option<Search> {
    let find = fields.inner("find", &FIND)?;
    let most =
        find.choice("most", &LoadBy::ALL.map(|most| (most.name(), most))).unwrap_or(LoadBy::Rate);
    let example = "write for example `while = \"p99 < 20ms\"`";
    let text = find.required_text("while", example)?;
    let read = match LimitMetric::leading(text) {
        Some((LimitMetric::Throughput | LimitMetric::Max | LimitMetric::Lost, _)) | None => {
            Err("it uses none of `mean`, `p50`, `p90`, `p95`, `p99`, `p99.9` and `failed`"
                .to_owned())
        }
        Some((metric, limit)) => limit::figure(metric, limit).map(|below| (metric, below)),
    };
    let (metric, below) = match read {
        Ok(read) => read,
        Err(reason) => {
            find.refuse("while", format!("`load.find.while` is not a limit: {reason}"), example);
            return None;
        }
    };
    if fields.node("duration").is_none() {
        let help = "add the time of each load step: `duration = \"10s\"`";
        find.refuse("while", "`load.find` needs `load.duration`", help);
    }
    for key in ["rate", "overload", "stages"].into_iter().filter(|key| fields.node(key).is_some()) {
        let message = format!("`load.find` and `load.{key}` cannot both be given");
        find.refuse(
            "while",
            message,
            "remove one of them; the load of the first step is `find.from`",
        );
    }
    let from = match (most, find.node("from")) {
        (_, None) => None,
        (LoadBy::Rate, Some(_)) => Some(rate(&find, "from")?),
        (LoadBy::Clients, Some(node)) => {
            let most = clients_max.map_or(i64::MAX, i64::from);
            Some(integer(node, &find.path("from"), &(1..=most), fields.problems)? as f64)
        }
    };
    let transaction = find.text("transaction").map(str::to_owned);
    Some(Search { most, metric, below, transaction, from })
}

/// Arrivals per second of an open loop.
fn rate(fields: &Fields<'_>, key: &str) -> Option<f64> {
    fields.rate(key, fields.node(key)?)
}

/// Rejects conflicts: stages specify the rate, or the number of clients in a closed loop; and
/// options of arrivals require arrivals.
fn check_stages(fields: &Fields<'_>, stages: Option<&Stages>, is_overload: bool) {
    if stages.is_some() && fields.node("rate").is_some() {
        let message = "`load.stages` and `load.rate` cannot both be given";
        fields.refuse("rate", message, "remove one of them; each stage sets its own `rate`");
    }
    // Invalid stages may have been intended to have a rate.
    let may_be_open = fields.node("stages").is_some() && stages.is_none();
    if may_be_open || fields.node("find").is_some() || open_by(fields, stages, None).is_some() {
        return;
    }
    let overload = is_overload.then_some((
        "overload",
        "closed-loop clients wait for answers and do not overload the system",
    ));
    let spacing = fields.node("spacing").map(|_| ("spacing", "only an open loop has arrivals"));
    for (key, reason) in overload.into_iter().chain(spacing) {
        let message = format!("`{}` needs a rate", fields.path(key));
        fields.refuse(key, message, format!("add for example `rate = \"500/s\"`; {reason}"));
    }
}

/// The key that makes the loop open, if one does.
fn open_by(
    fields: &Fields<'_>,
    stages: Option<&Stages>,
    find: Option<&Search>,
) -> Option<&'static str> {
    let has_rate = |by: Option<LoadBy>| by == Some(LoadBy::Rate);
    let stages = has_rate(stages.map(|stages| stages.by)).then_some("stages");
    let find = has_rate(find.map(|find| find.most)).then_some("find");
    fields.node("rate").map(|_| "rate").or(stages).or(find)
}

/// A think time excludes arrivals.
fn check_think(fields: &Fields<'_>, stages: Option<&Stages>, find: Option<&Search>) {
    if let (Some(node), Some(key)) = (fields.node("think"), open_by(fields, stages, find)) {
        thinks_at_a_rate(fields, "load.think", &format!("load.{key}"), node.span);
    }
}

/// The same for workloads with think times of their own.
pub(in crate::spec) fn check_thinking(
    fields: &Fields<'_>,
    workload: &WorkloadPlan,
    load: &LoadPlan,
) {
    if let (Some(think), Some(key)) =
        (own_think(workload), open_by(fields, load.stages.as_ref(), load.find.as_ref()))
    {
        let think = format!("workload.{think}");
        thinks_at_a_rate(fields, &think, &format!("load.{key}"), fields.span_of(key));
    }
}

/// The key of `[workload]` that gives its transactions think times of their own.
pub(in crate::spec) fn own_think(workload: &WorkloadPlan) -> Option<&'static str> {
    let mut options = workload.options.0.iter();
    options.find_map(|(name, value)| match value {
        OptionValue::Scripts(scripts) => {
            scripts.iter().any(|script| script.think.is_some()).then_some("scripts.think")
        }
        OptionValue::Text(pacing) => (name == PACING && pacing == PACED).then_some(PACING),
        _ => None,
    })
}

/// Rejects a think time combined with a rate.
pub(in crate::spec) fn thinks_at_a_rate(fields: &Fields<'_>, think: &str, other: &str, span: Span) {
    let message = format!("`{think}` and a rate in `{other}` cannot both be given");
    let help = "remove one of them: with a rate, arrivals do not depend on think times";
    fields.problems.refuse(span, message, help);
}

fn stop_rule(
    fields: &Fields<'_>,
    clients_max: Option<u32>,
    stages: Option<&Stages>,
) -> Option<StopRule> {
    let given: Vec<_> = STOP_RULES.iter().filter_map(|key| fields.table.entry(key)).collect();
    if given.is_empty() {
        let message = format!("{} does not say when the measurement ends", LOAD.heading);
        let help = "add `transactions = 10_000` (all clients together), \
                    `transactions_per_client = 500` or `duration = \"30s\"`, or `rows = 1_000_000` \
                    for a table that grows; or [[load.stages]]";
        fields.refuse_table(message, help);
    }
    if let [first, second, ..] = given[..] {
        let message =
            format!("`load.{}` and `load.{}` cannot both be given", first.key, second.key);
        fields.problems.refuse_both(second.key_span, first.key_span, message);
    }
    let transactions = fields.integer("transactions");
    let per_client = fields.integer("transactions_per_client");
    let rows = fields.integer("rows");
    let duration = fields.duration("duration");
    if let (Some(total), Some(clients)) = (transactions, clients_max)
        && total < u64::from(clients)
    {
        let message = format!("`load.transactions` is {total}, but there are {clients} clients");
        let help =
            format!("use at least {clients}, or count per client with `transactions_per_client`");
        fields.refuse("transactions", message, help);
    }
    transactions
        .map(StopRule::Transactions)
        .or(per_client.map(StopRule::TransactionsPerClient))
        .or(rows.map(StopRule::Rows))
        .or(duration.map(StopRule::Duration))
        .or(stages.map(|stages| StopRule::Duration(stages.length())))
}

/// Numbers of rows at which the report compares: ascending, and none beyond the end.
fn milestones(fields: &Fields<'_>, stop: Option<StopRule>) -> Vec<u64> {
    let Some(node) = fields.node("milestones") else { return Vec::new() };
    let path = fields.path("milestones");
    let refuse = |message: String, help: &str| {
        fields.problems.refuse(node.span, message, help);
        Vec::new()
    };
    let Some(StopRule::Rows(target)) = stop else {
        return refuse(format!("`{path}` needs `load.rows`"), "add for example `rows = 1_000_000`");
    };
    let rows = row_list(fields, "milestones", node);
    if rows.windows(2).any(|pair| pair[1] <= pair[0]) {
        let help = "write for example `milestones = [1_000_000, 2_000_000]`";
        return refuse(format!("`{path}` must be in ascending order"), help);
    }
    if rows.last().is_some_and(|last| *last > target) {
        return refuse(format!("`{path}` exceeds `load.rows`, which is {target}"), "raise `rows`");
    }
    rows
}

/// A list of numbers of rows.
pub(in crate::spec) fn row_list(fields: &Fields<'_>, key: &str, node: &Node) -> Vec<u64> {
    let Value::List(items) = &node.value else {
        wrong_type(node, &fields.path(key), "a list of integers", fields.problems);
        return Vec::new();
    };
    items.iter().filter_map(|item| fields.integer_of(key, item)).collect()
}

/// `rows` needs a workload whose table grows, and must exceed its initial number of rows.
pub(in crate::spec) fn check_growth(
    load: &(&Table, Span),
    workload: &WorkloadPlan,
    stop: StopRule,
    problems: &Problems,
) {
    let StopRule::Rows(target) = stop else { return };
    let span = load.0.get("rows").map_or(load.1, |node| node.span);
    let (message, help) = match workload.options.growth() {
        None => (
            format!(
                "`load.rows` cannot end workload `{}`, whose tables do not grow",
                workload.kind
            ),
            "use `mass-insert`, or another key such as `duration`".to_owned(),
        ),
        Some(growth) if growth.rows_before >= target => (
            format!(
                "`load.rows` is {target}, but `workload.rows` already loads {}",
                growth.rows_before
            ),
            "raise `load.rows`, or load fewer".to_owned(),
        ),
        Some(_) => return,
    };
    problems.refuse(span, message, help);
}
