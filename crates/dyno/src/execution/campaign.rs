//! Selection of the trials to measure: all of a plan, those missing from an interrupted run, or
//! some by name.

use crate::cli::RunArguments;
use crate::failure::Failure;
use crate::spec_file::{self, Experiment};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::exit_code;
use dyno_model::lists;
use dyno_model::mask::{is_masked, masked};
use dyno_model::plan::{ExistingSystem, FORMAT, PasswordSource, Plan, SystemPlan, SystemSource};
use dyno_model::printable::line;
use dyno_model::words;
use dyno_store::{Run, masked_json};
use serde_json::Value;
use std::path::Path;

/// The experiment that the arguments select.
///
/// # Errors
/// When the spec has errors, the results to resume cannot be read or belong to another plan, or a
/// named trial does not exist.
pub(crate) fn experiment(
    arguments: &RunArguments,
    catalog: &[WorkloadDescription],
) -> Result<Experiment, Failure> {
    match &arguments.resume {
        Some(folder) => rest(arguments, folder, catalog),
        None => {
            let mut experiment = spec_file::read_experiment(&arguments.spec, catalog)?;
            choose(&mut experiment.plan, &arguments.trial)?;
            Ok(experiment)
        }
    }
}

/// The rest of the experiment in a results folder.
fn rest(
    arguments: &RunArguments,
    folder: &Path,
    catalog: &[WorkloadDescription],
) -> Result<Experiment, Failure> {
    let run = Run::open(folder)?;
    let stop = run.stop();
    let mut plan = run.plan;
    let shown = folder.display();
    if plan.format != FORMAT {
        let text =
            format!("{shown} was started by another version of dyno, in format {}", plan.format);
        return Err(Failure::new(exit_code::RESULTS_FAILED, text)
            .help("finish it with that version, or start a new run"));
    }
    if arguments.spec.spec.is_none()
        && arguments.spec.is_given()
        && !spec_file::is_built_in(&run.spec)
    {
        let text = format!(
            "--set and --profile need a spec, because {shown} is not a run of the built-in \
             experiment"
        );
        let help = "add the spec or the URL with its options; or omit these options to resume the \
                    plan of the folder";
        return Err(Failure::new(exit_code::USAGE, text).help(help));
    }
    if arguments.spec.is_given() {
        let mut now = spec_file::read_experiment(&arguments.spec, catalog)?.plan;
        if let Some(interim_analysis) = stop {
            now.end_after(interim_analysis.block);
        }
        if let Some(difference) = difference(&plan, &now) {
            let text = format!("{shown} has another plan: {difference}");
            let help = "use the same spec, --profile and --set as before, or omit the spec to \
                        resume the plan of the folder";
            return Err(Failure::new(exit_code::SPEC_INVALID, text).help(help));
        }
        // The same plan, with the passwords of addresses and commands, which are not stored in
        // results folders.
        plan = Plan { name: plan.name, ..now };
    } else if has_lost(&plan) {
        let text = format!(
            "commands in the plan of {shown} contained passwords, which are not stored in \
                     results folders"
        );
        let help = format!("add the spec: dyno run SPEC --resume {}", in_shell(&shown.to_string()));
        return Err(Failure::new(exit_code::USAGE, text).help(help));
    }
    Ok(Experiment { text: run.spec, plan })
}

/// The command that resumes a run, to be copied from the terminal. Passwords of URLs are not stored
/// with the results: dyno reads those of a spec file again, and for a URL on the command line it
/// names an environment variable.
pub(crate) fn resume_command(arguments: &RunArguments, plan: &Plan, folder: &Path) -> String {
    let spec = &arguments.spec;
    let variables = lists::distinct(plan.systems.iter().filter_map(password_in_url));
    let mut words = vec!["dyno run".to_owned()];
    match (&spec.spec, spec.url()) {
        (Some(file), None) if !variables.is_empty() || has_secrets(plan) => {
            words.push(in_shell(&file.display().to_string()));
            words.extend(spec.profile.iter().map(|name| format!("--profile {}", in_shell(name))));
            let overrides = spec.overrides().unwrap_or_default();
            words.extend(overrides.iter().map(|set| format!("--set {}", in_shell(set))));
        }
        _ => {
            words.splice(0..0, variables.iter().map(|name| format!("{name}='...'"))).for_each(drop);
        }
    }
    words.push(format!("--resume {}", in_shell(&folder.display().to_string())));
    let allowed = arguments.yes_write_to.iter();
    words.extend(allowed.map(|database| format!("--yes-write-to {}", in_shell(database))));
    words.join(" ")
}

/// A plan without its purely descriptive fields.
fn what_it_does(plan: &Plan) -> Option<String> {
    let nothing = String::new;
    let plan = Plan {
        title: nothing(),
        description: nothing(),
        front: None,
        published: Vec::new(),
        ..plan.clone()
    };
    serde_json::to_string(&plan).ok()
}

/// True when the results folder cannot store the whole plan because its commands contain passwords.
fn has_secrets(plan: &Plan) -> bool {
    what_it_does(plan).is_some_and(|text| masked_json(&text) != text)
}

/// True when the plan comes from a results folder that omitted such passwords.
fn has_lost(plan: &Plan) -> bool {
    what_it_does(plan).is_some_and(|text| is_masked(&text))
}

/// The environment variable that can supply a system's password if the URL contains or contained
/// it.
fn password_in_url(system: &SystemPlan) -> Option<&'static str> {
    match &system.source {
        SystemSource::Existing(ExistingSystem {
            engine,
            password: PasswordSource::Url { .. },
            ..
        }) => engine.traits().password_variable,
        _ => None,
    }
}

/// The spec of a command line with a URL, for saving in a file.
///
/// # Errors
/// When the arguments name a spec file whose passwords would be missing.
pub(crate) fn printed_spec(
    arguments: &RunArguments,
    experiment: &Experiment,
) -> Result<String, Failure> {
    let spec = &arguments.spec;
    if spec.url().is_none()
        && experiment.plan.systems.iter().any(|it| password_in_url(it).is_some())
    {
        let text = "the spec contains a password, which dyno does not print";
        return Err(Failure::new(exit_code::USAGE, text).help(
            "copy the file; or move the password from the URL to an environment variable: \
             `password_env`",
        ));
    }
    let beside = spec.url().map_or(&[][..], |_| &spec.set);
    let beside: String =
        beside.iter().map(|set| format!("\n# Changed by --set: {}", line(set))).collect();
    Ok(format!("{}{}", experiment.text.trim_end(), masked(&beside)))
}

/// A word quoted for a shell.
fn in_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Leaves only the named trials in the plan.
fn choose(plan: &mut Plan, names: &[String]) -> Result<(), Failure> {
    for name in names {
        if plan.trials.iter().all(|trial| trial.id != *name) {
            let near = words::nearest(name, plan.trials.iter().map(|trial| trial.id.as_str()));
            let help = match (near, plan.trials.first(), plan.trials.last()) {
                (Some(near), ..) => format!("did you mean {near}?"),
                (None, Some(first), Some(last)) => {
                    format!("its trials are {} to {}; `dyno plan` lists them", first.id, last.id)
                }
                _ => "the plan has no trials".to_owned(),
            };
            return Err(
                Failure::new(exit_code::USAGE, format!("the plan has no trial {name}")).help(help)
            );
        }
    }
    if !names.is_empty() {
        plan.trials.retain(|trial| names.contains(&trial.id));
        // The user named these trials; a budget must not skip them.
        plan.budget = None;
        plan.limits.iter_mut().for_each(|limit| limit.aborts = false);
    }
    Ok(())
}

/// Describes the first difference between two plans, ignoring the name of the spec file.
fn difference(then: &Plan, now: &Plan) -> Option<String> {
    let value = |plan: &Plan| -> Option<Value> {
        let text = serde_json::to_string(&Plan { name: String::new(), ..plan.clone() }).ok()?;
        serde_json::from_str(&masked_json(&text)).ok()
    };
    let (path, then, now) = first_difference("", &value(then)?, &value(now)?)?;
    Some(format!("{path} was {then} and is {now}"))
}

/// The path and both sides of the first difference.
fn first_difference(path: &str, then: &Value, now: &Value) -> Option<(String, String, String)> {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (then, now) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            let mut differences = keys.filter_map(|key| {
                let side = |object: &serde_json::Map<String, Value>| {
                    object.get(key).cloned().unwrap_or_default()
                };
                first_difference(&inner(key), &side(one), &side(other))
            });
            differences.next()
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            let mut differences = pairs.filter_map(|(i, (one, other))| {
                first_difference(&format!("{path}[{i}]"), one, other)
            });
            differences.next()
        }
        (Value::Array(one), Value::Array(other)) => Some((
            path.to_owned(),
            format!("a list of {}", one.len()),
            format!("one of {}", other.len()),
        )),
        _ if then == now => None,
        _ => Some((path.to_owned(), then.to_string(), now.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_quoted_for_a_shell_where_they_must() {
        let rows = [
            ("results/a-1", "results/a-1"),
            ("my results", "'my results'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
        ];
        for (word, quoted) in rows {
            assert_eq!(in_shell(word), quoted);
        }
    }

    #[test]
    fn the_first_difference_is_named_with_its_path_and_both_sides() {
        let then = json!({ "blocks": 5, "systems": [{ "name": "A", "settings": { "x": "1" } }] });
        let differ = |now: Value| {
            first_difference("", &then, &now)
                .map(|(path, then, now)| format!("{path} {then} {now}"))
        };
        assert_eq!(differ(then.clone()), None);
        assert_eq!(
            differ(json!({ "blocks": 6, "systems": then["systems"] })).as_deref(),
            Some("blocks 5 6")
        );
        let other = json!({ "blocks": 5, "systems": [{ "name": "A", "settings": { "x": "2" } }] });
        assert_eq!(differ(other).as_deref(), Some("systems[0].settings.x \"1\" \"2\""));
        let more = json!({ "blocks": 5, "systems": [{}, {}] });
        assert_eq!(differ(more).as_deref(), Some("systems a list of 1 one of 2"));
    }
}
