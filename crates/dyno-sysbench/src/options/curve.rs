//! `--threads=1,8,64` and `--blocks=3`: one command line for several runs.

use super::arguments::Argument;
use dyno_model::curve::{Curve, blocks, clients};
use std::ffi::OsString;

/// Other commands of sysbench; only `run` can be repeated.
const OTHERS: [&str; 4] = ["prepare", "cleanup", "prewarm", "help"];

/// The runs that a command line requests; `None` for a single run, as in sysbench.
///
/// # Errors
/// When a list or a number of repeats is invalid, or is used with a command that does not measure.
pub fn curve(arguments: &[OsString]) -> Result<Option<Curve<OsString>>, String> {
    let mut curve = Curve { clients: vec![1], blocks: 1, results: None, arguments: Vec::new() };
    let mut is_asked_for = false;
    for word in arguments {
        let argument = word.to_str().and_then(|text| text.strip_prefix("--")).map(Argument::new);
        let Some(Argument { name, value: Some(value), typed, .. }) = argument else {
            curve.arguments.push(word.clone());
            continue;
        };
        let wrong = |reason: String| format!("{typed}: {reason}");
        match name.as_str() {
            "threads" | "num_threads" if value.contains(',') => {
                curve.clients = clients(&value).map_err(wrong)?;
                is_asked_for = true;
            }
            "blocks" => {
                curve.blocks = blocks(&value).map_err(wrong)?;
                is_asked_for = true;
            }
            // A single number is parsed, and rejected, by the ordinary options.
            "threads" | "num_threads" if clients(&value).is_ok() => {
                curve.clients = clients(&value).map_err(wrong)?;
            }
            "results" => curve.results = (!value.is_empty()).then(|| value.into()),
            _ => curve.arguments.push(word.clone()),
        }
    }
    if !is_asked_for {
        return Ok(None);
    }
    if let Some(other) =
        arguments.iter().filter_map(|word| word.to_str()).find(|word| OTHERS.contains(word))
    {
        return Err(format!(
            "--blocks and lists of --threads are for the command 'run', not for '{other}'"
        ));
    }
    Ok(Some(curve))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Curve<OsString>>, String> {
        curve(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_list_of_threads_is_several_runs_and_a_number_is_one() {
        assert_eq!(read("oltp_read_only --threads=8 --results=r run"), Ok(None));
        let found = read("oltp_read_only --time=5 --threads=1,8 --blocks=3 --results=r run")
            .unwrap()
            .unwrap();
        assert_eq!((found.clients, found.blocks, found.results), (vec![1, 8], 3, Some("r".into())));
        assert_eq!(found.arguments, ["oltp_read_only", "--time=5", "run"]);
        let again = read("oltp_read_only --num-threads=8 --blocks=2 run").unwrap().unwrap();
        assert_eq!((again.clients, again.blocks, again.results), (vec![8], 2, None));
    }

    #[test]
    fn commands_that_cannot_be_repeated_are_reported() {
        for (line, reason) in [
            ("x --threads=1,y run", "--threads=1,y: `y` is not a number of 1 or more"),
            ("x --threads=1,2 --blocks=0 run", "--blocks=0: `0` is not a number from 1 to 1000"),
            ("x --threads=1,2 prepare", "for the command 'run', not for 'prepare'"),
        ] {
            assert!(read(line).is_err_and(|found| found.contains(reason)), "{line}");
        }
    }
}
