//! `[[limit]]`: limits on figures.

use crate::catalog::{MIX, OptionValue, PACED, PACED_P90_MAX, PACING, STANDARD_MIX};
use crate::limit::{Limit, LimitMetric, LimitPart};
use crate::plan::{Configuration, SystemPlan};
use crate::spec::choice::{self, Choice, Known};
use crate::spec::keys::LIMIT;
use crate::spec::names::NamesOf;
use crate::spec::quantity;
use crate::spec::reader::{Fields, wrong_type};
use crate::spec::tree::{Node, Value};
use crate::units::Nanos;
use crate::words::suggestion;

/// A limit, and the configurations that it applies to; `None`: all.
pub(in crate::spec) struct Wanted {
    limits: Vec<Limit>,
    choice: Option<Choice>,
    part: Option<LimitPart>,
    /// Its position.
    span: crate::spec::Span,
}

/// Reads all tables.
pub(in crate::spec) fn read(top: &Fields<'_>, known: &Known<'_>) -> Vec<Wanted> {
    top.each("limit", &LIMIT).map(|fields| one(&fields, known)).collect()
}

fn one(fields: &Fields<'_>, known: &Known<'_>) -> Wanted {
    let aborts = fields.boolean("abort").unwrap_or(false);
    let given = LimitMetric::ALL
        .into_iter()
        .filter_map(|metric| Some((metric, fields.node(metric.name())?)));
    let given: Vec<_> = given.collect();
    if given.is_empty() {
        let help = "add for example `p99 = \"< 20ms\"`, `throughput = \"> 5000/s\"`, \
                    `failed = \"< 0.1 %\"` or `lost = 0`";
        fields.refuse_table("empty limit", help);
    }
    let part = part(fields);
    let limit = |(metric, node): &(LimitMetric, &Node)| {
        if let Some(part) = part.as_ref().filter(|part| !part.has(*metric)) {
            let (key, what) = (part.key(), part.what());
            let message = format!("`limit.{metric}` applies to whole trials, not to a {what}");
            let help = format!("move it to a separate [[limit]] without `{key}`");
            fields.problems.refuse(node.span, message, help);
            return None;
        }
        Some(Limit {
            metric: *metric,
            value: value(fields, *metric, node)?,
            part: part.clone(),
            configurations: Vec::new(),
            aborts,
        })
    };
    let choice = fields
        .node("where")
        .and_then(|node| choice::one(node, "limit.where", known, fields.problems));
    let limits = given.iter().filter_map(limit).collect();
    Wanted { limits, choice, part, span: fields.span }
}

/// The part of the trial that a limit applies to, if not the whole trial.
fn part(fields: &Fields<'_>) -> Option<LimitPart> {
    let named = |key: &str, part: fn(String) -> LimitPart| Some(part(fields.text(key)?.to_owned()));
    let given: Vec<LimitPart> = [
        named("stage", LimitPart::Stage),
        named("transaction", LimitPart::Transaction),
        named("statement", LimitPart::Statement),
        named("background", LimitPart::Background),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let [one, other, ..] = given.as_slice() {
        let message = format!("a limit has both `{}` and `{}`", one.key(), other.key());
        fields.refuse_table(message, "dyno does not record this combination; remove one of them");
    }
    given.into_iter().next()
}

/// `< 20ms`, in the unit of the measure.
fn value(fields: &Fields<'_>, metric: LimitMetric, node: &Node) -> Option<f64> {
    let path = fields.path(metric.name());
    let example = match metric {
        LimitMetric::Throughput => "throughput = \"> 5000/s\"",
        LimitMetric::Failed => "failed = \"< 0.1 %\"",
        LimitMetric::Lost => "lost = 0",
        LimitMetric::P999 => "\"p99.9\" = \"< 20ms\"",
        _ => "p99 = \"< 20ms\"",
    };
    let read = match (&node.value, metric) {
        (Value::Integer(0), LimitMetric::Lost) => return Some(0.0),
        (_, LimitMetric::Lost) => Err("the only limit on lost commits is 0".to_owned()),
        (Value::Text(text), _) => figure(metric, text),
        (Value::Table(table), LimitMetric::P99) if table.get("9").is_some() => {
            let help = "write the key in quotes: `\"p99.9\" = \"< 20ms\"`";
            fields.problems.refuse(
                node.span,
                "`limit.p99.9` has a dot, which TOML takes for a table",
                help,
            );
            return None;
        }
        _ => {
            wrong_type(node, &path, "a string", fields.problems);
            return None;
        }
    };
    let refuse = |reason: String| {
        let message = format!("`{path}` is not a limit: {reason}");
        fields.problems.refuse(node.span, message, format!("write for example `{example}`"));
    };
    read.map_err(refuse).ok()
}

/// Parses the number of a limit such as `< 20ms`, in the unit of the measure; the error describes
/// the mistake in the text.
pub(in crate::spec) fn figure(metric: LimitMetric, text: &str) -> Result<f64, String> {
    let text = text.trim();
    let sign = if metric.is_floor() { '>' } else { '<' };
    let rest = text.strip_prefix(sign).ok_or_else(|| format!("it does not begin with `{sign}`"))?;
    let rest = rest.strip_prefix('=').unwrap_or(rest).trim();
    let value = match metric {
        LimitMetric::Throughput => quantity::rate(rest),
        LimitMetric::Failed => percent(rest),
        _ => quantity::duration(rest).map(|Nanos(nanos)| nanos as f64 / 1e6),
    }?;
    if value > 0.0 { Ok(value) } else { Err("the value must be greater than 0".to_owned()) }
}

/// Reads a share, `0.1 %`.
fn percent(text: &str) -> Result<f64, String> {
    let number =
        text.strip_suffix('%').ok_or_else(|| format!("`{text}` has no per cent sign"))?.trim_end();
    match number.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err(format!("`{number}` is not a number from 0 to 100")),
    }
}

/// Names of a configuration's parts of the kind that a limit applies to; `None` if unknown.
fn names(
    part: &LimitPart,
    configuration: &Configuration,
    known: &PartNames<'_>,
) -> Option<Vec<String>> {
    let of_workload = || (known.names)(configuration, &known.systems[configuration.system]);
    match part {
        LimitPart::Stage(_) => {
            let stages = configuration.load.stages.iter().flat_map(|stages| &stages.stages);
            Some(stages.map(|stage| stage.name.clone()).collect())
        }
        LimitPart::Transaction(_) => of_workload().map(|names| names.transactions),
        LimitPart::Statement(_) => of_workload().map(|names| names.statements),
        LimitPart::Background(_) => {
            Some(configuration.background.iter().map(|it| it.name.clone()).collect())
        }
    }
}

/// What determines the names of the parts of configurations.
pub(in crate::spec) struct PartNames<'a> {
    pub(in crate::spec) systems: &'a [SystemPlan],
    pub(in crate::spec) names: NamesOf,
}

/// A search with a limit for transactions of one name needs such transactions.
pub(in crate::spec) fn check_searches(
    configurations: &[Configuration],
    known: &PartNames<'_>,
    top: &Fields<'_>,
) {
    let searches = configurations
        .iter()
        .filter_map(|configuration| Some((configuration, configuration.load.find.as_ref()?)));
    for (configuration, search) in searches {
        let Some(name) = &search.transaction else { continue };
        let names = names(&LimitPart::Transaction(name.clone()), configuration, known);
        // Unknown names are checked later: preflight reports errors of a workload.
        let Some(names) = names.filter(|names| !names.contains(name)) else { continue };
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let help = match all.is_empty() {
            false => suggestion(name, &all, "its transactions"),
            true => "this workload's transactions have no names; remove `transaction`".to_owned(),
        };
        let span = top.node("load").map_or(top.span, |node| node.span);
        top.problems.refuse(
            span,
            format!("no transaction is called `{name}` in `load.find`"),
            help,
        );
        return;
    }
}

/// The limits with the configurations that they apply to.
pub(in crate::spec) fn resolved(
    wanted: Vec<Wanted>,
    configurations: &[Configuration],
    known: &PartNames<'_>,
    top: &Fields<'_>,
) -> Vec<Limit> {
    let mut limits = Vec::new();
    for Wanted { limits: written, choice, part, span } in wanted {
        let names: Vec<Option<Vec<String>>> = match &part {
            None => configurations.iter().map(|_| None).collect(),
            Some(part) => configurations
                .iter()
                .map(|configuration| names(part, configuration, known))
                .collect(),
        };
        // Unknown names are checked later: preflight reports errors of a workload.
        let has_part = |at: usize| {
            let name = part.as_ref().map(LimitPart::name);
            name.is_none_or(|name| {
                names[at].as_ref().is_none_or(|all| all.iter().any(|it| it == name))
            })
        };
        if let (Some(part), false) = (&part, (0..configurations.len()).any(has_part)) {
            let mut all: Vec<&str> = names.iter().flatten().flatten().map(String::as_str).collect();
            all.sort_unstable();
            all.dedup();
            let (key, what, name) = (part.key(), part.what(), part.name());
            let help = match (all.is_empty(), part) {
                (false, LimitPart::Background(_)) => {
                    suggestion(name, &all, "[[background]] tables")
                }
                (false, _) => suggestion(name, &all, &format!("its {key}s")),
                (true, LimitPart::Stage(_)) => {
                    "the load has no stages; add [[load.stages]], or remove `stage`".to_owned()
                }
                (true, LimitPart::Background(_)) => {
                    "there is no background workload; add [[background]], or remove `background`"
                        .to_owned()
                }
                (true, _) => format!("this workload's {key}s have no names; remove `{key}`"),
            };
            let message = format!("no {what} is called `{name}`");
            top.problems.refuse(span, message, help);
            continue;
        }
        let is_meant = |at: &usize| {
            has_part(*at) && choice.as_ref().is_none_or(|choice| choice.holds(&configurations[*at]))
        };
        let meant: Vec<usize> = (0..configurations.len()).filter(is_meant).collect();
        if meant.is_empty() {
            let help = "change its `where`; a profile with other configurations can replace the \
                        limits, or remove them: `limit = []`";
            top.problems.refuse(span, "the limit applies to no configuration", help);
        }
        limits.extend(
            written.into_iter().map(|limit| Limit { configurations: meant.clone(), ..limit }),
        );
    }
    let has_name = |part: &LimitPart, at: usize| {
        let names = names(part, &configurations[at], known);
        names.is_none_or(|names| names.iter().any(|name| name == part.name()))
    };
    let of_standard =
        PACED_P90_MAX.map(|limit| of_standard(limit, configurations, &limits, has_name));
    limits.extend(of_standard.into_iter().flatten());
    limits
}

/// The limit of a standard on the transactions of a name, at the configurations that follow its
/// pacing and mix and have no other limit on the same figure.
fn of_standard(
    (name, value): (&str, f64),
    configurations: &[Configuration],
    written: &[Limit],
    has_name: impl Fn(&LimitPart, usize) -> bool,
) -> Option<Limit> {
    let (metric, part) = (LimitMetric::P90, LimitPart::Transaction(name.to_owned()));
    let follows = |at: &usize| {
        let options = &configurations[*at].workload.options.0;
        let is =
            |name, value| matches!(options.get(name), Some(OptionValue::Text(it)) if it == value);
        is(PACING, PACED) && is(MIX, STANDARD_MIX)
    };
    let is_limited = |at: &usize| {
        let is_same = |it: &&Limit| it.metric == metric && it.part.as_ref() == Some(&part);
        let mut same = written.iter().filter(is_same);
        same.any(|limit| limit.configurations.contains(at))
    };
    let is_meant = |at: &usize| follows(at) && !is_limited(at) && has_name(&part, *at);
    let meant: Vec<usize> = (0..configurations.len()).filter(is_meant).collect();
    let part = Some(part);
    let limit = Limit { metric, value, part, configurations: meant, aborts: false };
    Some(limit).filter(|limit| !limit.configurations.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::WorkloadOptions;
    use crate::experiment::plan::Variation;
    use crate::plan::{LoadPlan, StopRule, WorkloadPlan};

    #[test]
    fn standard_limits_apply_only_to_paced_runs_without_own_limits() {
        let configuration = |(pacing, mix): (&str, &str)| {
            let options = [(PACING, pacing), (MIX, mix)]
                .map(|(name, value)| (name.to_owned(), OptionValue::Text(value.to_owned())));
            Configuration {
                system: 0,
                clients: 1,
                workload: WorkloadPlan::new("tpcc", WorkloadOptions(options.into())),
                load: LoadPlan::new(StopRule::Transactions(1)),
                levels: Vec::new(),
                variation: Variation::default(),
                background: Vec::new(),
            }
        };
        let configurations = [
            ("none", STANDARD_MIX),
            (PACED, STANDARD_MIX),
            (PACED, STANDARD_MIX),
            (PACED, "weights"),
        ]
        .map(configuration);
        let of = |limit, written: &[Limit]| {
            of_standard(limit, &configurations, written, |part, _| part.name() != "delivery")
        };
        let [new_order, payment, .., delivery] = PACED_P90_MAX;
        let whole = of(new_order, &[]).expect("configurations 1 and 2 are paced");
        assert_eq!((whole.configurations.as_slice(), whole.value), (&[1, 2][..], 5_000.0));
        let own = Limit { value: 1.0, configurations: vec![2], ..whole.clone() };
        let left = of(new_order, std::slice::from_ref(&own)).map(|it| it.configurations);
        assert_eq!(left, Some(vec![1]));
        assert_eq!(of(payment, &[own]).map(|it| it.configurations), Some(vec![1, 2]));
        assert_eq!(of(delivery, &[]), None, "the workload has no such transaction");
    }
}
