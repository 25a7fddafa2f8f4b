//! `[[load.stages]]`: a load that changes during a trial.

use crate::spec::diagnostic::{Diagnostic, Span};
use crate::spec::keys::{RATES, RATES_IN_WORDS, STAGE};
use crate::spec::reader::{Fields, wrong_type};
use crate::spec::scripts::ScriptFiles;
use crate::spec::tree::{Node, Value};
use crate::stages::{LoadBy, Segment, Stage, Stages};
use crate::units::Nanos;

/// Maximum number of lines of a file: a week in minutes.
const LINES_MAX: usize = 10_080;
/// Maximum length of a name, in characters.
const NAME_MAX: usize = 40;
/// Maximum total length of all stages: three days, in seconds.
const SECONDS_MAX: f64 = 259_200.0;

const EXAMPLE: &str = "write for example `rate = \"500/s\"`, `rate = [\"100/s\", \"500/s\"]`, \
                       `clients = 8` or `file = \"day.csv\"`";

/// Reads all stages; `None` when they are invalid. `clients` are the numbers of clients of the
/// load.
pub(in crate::spec) fn read(
    load: &Fields<'_>,
    files: ScriptFiles<'_>,
    clients: &[u32],
) -> Option<Stages> {
    let span = load.node("stages")?.span;
    let refuse = |span: Span, message: &str, help: &str| {
        load.problems.refuse(span, message, help);
        None
    };
    if matches!(&load.node("stages")?.value, Value::List(items) if items.is_empty()) {
        return refuse(span, "`load.stages` is an empty list", EXAMPLE);
    }
    let mut found: Vec<(LoadBy, Stage, Span)> = Vec::new();
    let mut is_whole = true;
    for (index, fields) in load.each("stages", &STAGE).enumerate() {
        let read = name(&fields, index).zip(profile(&fields, files));
        let Some((name, (by, segments))) = read else {
            is_whole = false;
            continue;
        };
        if found.iter().any(|(_, other, _)| other.name == name) {
            let help = "names must be unique: change one `name`";
            fields.refuse_table(format!("two stages are called `{name}`"), help);
        }
        found.push((by, Stage { name, segments }, fields.span));
    }
    let by = found.first().filter(|_| is_whole)?.0;
    if let Some((_, _, span)) = found.iter().find(|(other, ..)| *other != by) {
        let message = format!("the first stage sets `{by}`, but this one does not");
        return refuse(*span, &message, "use `rate` in all stages, or `clients` in all");
    }
    let stages = Stages { by, stages: found.into_iter().map(|(_, stage, _)| stage).collect() };
    let highest = stages.highest();
    if highest == 0.0 {
        return refuse(span, "all stages have a load of 0", EXAMPLE);
    }
    if stages.length().as_secs_f64() > SECONDS_MAX {
        return refuse(
            span,
            "the stages last longer than three days",
            "shorten a file with `duration`",
        );
    }
    if let (LoadBy::Clients, Some(least)) = (by, clients.iter().min())
        && highest > f64::from(*least)
    {
        let message = format!("a stage has {highest} clients, but `load.clients` is {least}");
        return refuse(span, &message, &format!("write `clients = {highest}` in [load]"));
    }
    Some(stages)
}

/// Its name, or its number if it has none.
fn name(fields: &Fields<'_>, index: usize) -> Option<String> {
    if fields.node("name").is_none() {
        return Some((index + 1).to_string());
    }
    let name = fields.required_text("name", "remove it to name the stage by its number")?.trim();
    if name.chars().any(char::is_control) || name.chars().count() > NAME_MAX {
        let message = format!("a stage's name must be one line of at most {NAME_MAX} characters");
        fields.problems.report(Diagnostic::new(fields.span_of("name"), message));
        return None;
    }
    Some(name.to_owned())
}

/// The profile of its load.
fn profile(fields: &Fields<'_>, files: ScriptFiles<'_>) -> Option<(LoadBy, Vec<Segment>)> {
    let duration = fields.duration("duration");
    let keys = ["rate", "clients", "file"];
    let given: Vec<(&str, &Node)> =
        keys.into_iter().filter_map(|key| Some((key, fields.node(key)?))).collect();
    let (key, node) = match given[..] {
        [one] => one,
        [] => {
            if !keys.iter().any(|key| fields.is_mistyped(key)) {
                fields.refuse_table("a stage has none of `rate`, `clients` and `file`", EXAMPLE);
            }
            return None;
        }
        [first, second, ..] => {
            let message = format!("a stage has both `{}` and `{}`", first.0, second.0);
            fields.problems.refuse_both(second.1.span, first.1.span, message);
            return None;
        }
    };
    if key == "file" {
        let file = fields.required_text("file", "name a file: `file = \"day.csv\"`")?;
        let text = files.text("load", file, node.span, fields.problems)?;
        let profile = lines(&text).map_err(|(line, reason)| {
            let message = format!("`{file}`, line {line}: {reason}");
            let help = "a file needs the columns `seconds` and `rate` or `clients`, and a line for \
                        each time: `0,120.5`";
            fields.problems.refuse(node.span, message, help);
        });
        let (by, segments) = profile.ok()?;
        return Some((by, stretched(segments, duration)));
    }
    if fields.node("duration").is_none() {
        fields.missing("duration", "add the duration of the stage: `duration = \"30s\"`");
    }
    let value = |node: &Node| match key {
        "rate" => fields.rate("rate", node),
        _ => fields.integer_of::<u32>("clients", node).map(f64::from),
    };
    let (from, to) = match &node.value {
        Value::List(items) => match &items[..] {
            [from, to] => (value(from)?, value(to)?),
            _ => {
                wrong_type(node, &fields.path(key), "one value or a list of two", fields.problems);
                return None;
            }
        },
        _ => value(node).map(|value| (value, value))?,
    };
    let by = if key == "rate" { LoadBy::Rate } else { LoadBy::Clients };
    Some((by, vec![Segment { length: duration?, from, to }]))
}

/// The lines of a CSV file; an error names the line and the mistake.
fn lines(text: &str) -> Result<(LoadBy, Vec<Segment>), (u64, String)> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let unreadable = |error: &csv::Error| {
        (error.position().map_or(1, csv::Position::line), format!("invalid CSV: {error}"))
    };
    let headers = reader.headers().map_err(|error| unreadable(&error))?.clone();
    let column = |name: &str| headers.iter().position(|header| header == name);
    let seconds = column("seconds").ok_or((1, "the column `seconds` is missing".to_owned()))?;
    let (by, loads) = match (column("rate"), column("clients")) {
        (Some(rate), None) => (LoadBy::Rate, rate),
        (None, Some(clients)) => (LoadBy::Clients, clients),
        (None, None) => return Err((1, "a column `rate` or `clients` is missing".to_owned())),
        (Some(_), Some(_)) => {
            return Err((1, "the columns `rate` and `clients` cannot be combined".to_owned()));
        }
    };
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last = 1;
    for record in reader.records() {
        let record = record.map_err(|error| unreadable(&error))?;
        let line = record.position().map_or(last + 1, csv::Position::line);
        last = line;
        let parse_column = |column: usize| {
            let text = record.get(column).unwrap_or_default();
            let number =
                text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or((line, format!("`{text}` is not a number of 0 or more")))
        };
        let (time, load) = (parse_column(seconds)?, parse_column(loads)?);
        match points.last() {
            None if time != 0.0 => return Err((line, "the first time must be 0".to_owned())),
            Some((before, _)) if time <= *before => {
                return Err((
                    line,
                    format!("times must be ascending, but {time} follows {before}"),
                ));
            }
            _ if time > 1e9 => {
                return Err((line, format!("{time} seconds are too many")));
            }
            _ => {}
        }
        let is_possible = match by {
            LoadBy::Rate => load == 0.0 || RATES.contains(&load),
            LoadBy::Clients => load.fract() == 0.0 && load <= f64::from(u32::MAX),
        };
        if !is_possible {
            let expected = match by {
                LoadBy::Rate => &format!("a rate must be 0, or {RATES_IN_WORDS}"),
                LoadBy::Clients => "a number of clients must be a whole number",
            };
            return Err((line, format!("{expected}, got `{load}`")));
        }
        points.push((time, load));
        if points.len() > LINES_MAX {
            return Err((line, format!("the file has more than {LINES_MAX} lines")));
        }
    }
    if points.len() < 2 {
        return Err((last, "the file needs at least two lines of values".to_owned()));
    }
    let segment = |pair: &[(f64, f64)]| {
        let length = Nanos(((pair[1].0 - pair[0].0) * 1e9).round() as u64);
        Segment { length, from: pair[0].1, to: pair[1].1 }
    };
    let segments: Vec<Segment> =
        points.windows(2).map(segment).filter(|segment| segment.length.0 > 0).collect();
    if segments.is_empty() {
        return Err((last, "its times are less than a nanosecond apart".to_owned()));
    }
    Ok((by, segments))
}

/// The same profile, scaled to another length.
fn stretched(mut segments: Vec<Segment>, duration: Option<Nanos>) -> Vec<Segment> {
    let Some(duration) = duration else { return segments };
    let length: u64 = segments.iter().map(|segment| segment.length.0).sum();
    let (mut end, mut start) = (0_u64, 0);
    for segment in &mut segments {
        // Each bound is scaled separately, so that rounding errors do not accumulate.
        end += segment.length.0;
        let bound = (duration.0 as f64 * (end as f64 / length as f64)).round() as u64;
        segment.length = Nanos(bound - start);
        start = bound;
    }
    segments.retain(|segment| segment.length.0 > 0);
    segments
}
