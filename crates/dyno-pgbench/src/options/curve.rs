//! `-c 1,8,64` and `--blocks=3`: one command line for several runs.

use super::arguments::{Argument, cut};
use super::reader::SPECS;
use dyno_model::curve::{Curve, blocks, clients};

/// The runs that a command line requests; `None` for a single run, as in pgbench, or for none.
///
/// # Errors
/// When a list or a number of repeats is invalid, or is used with `-i`.
pub fn curve(arguments: &[String]) -> Result<Option<Curve<String>>, String> {
    // An invalid command line is reported by its usual reader.
    let Ok(pieces) = cut(arguments, &SPECS) else { return Ok(None) };
    let mut curve = Curve { clients: vec![1], blocks: 1, results: None, arguments: Vec::new() };
    let (mut is_asked_for, mut initialises, mut others) = (false, false, Vec::new());
    for piece in pieces {
        let (spec, value) = match piece {
            Argument::Option(spec, value) => (spec, value),
            Argument::Other(text) => {
                others.push(text);
                continue;
            }
        };
        match spec.name {
            "client" if value.contains(',') => {
                curve.clients = clients(&value)
                    .map_err(|reason| format!("-c/--clients \"{value}\": {reason}"))?;
                is_asked_for = true;
            }
            "client" if clients(&value).is_ok() => curve.clients = clients(&value)?,
            "blocks" => {
                curve.blocks = blocks(&value).map_err(|reason| format!("--blocks: {reason}"))?;
                is_asked_for = true;
            }
            "results" => curve.results = Some(value.into()),
            name => {
                initialises |= name == "initialize";
                let text = if spec.takes_value {
                    format!("--{name}={value}")
                } else {
                    format!("--{name}")
                };
                curve.arguments.push(text);
            }
        }
    }
    if !is_asked_for {
        return Ok(None);
    }
    if initialises {
        return Err(
            "--blocks and lists of --clients cannot be used in initialization (-i) mode".to_owned()
        );
    }
    if !others.is_empty() {
        // One of them may begin with a hyphen.
        curve.arguments.push("--".to_owned());
        curve.arguments.extend(others);
    }
    Ok(Some(curve))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Curve<String>>, String> {
        curve(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_list_of_clients_is_several_runs_and_a_number_is_one() {
        assert_eq!(read("-c 8 -T 5 --results=r shop"), Ok(None));
        let found = read("-nc 1,8 -T5 shop --blocks=3 --results r").unwrap().unwrap();
        assert_eq!((found.clients, found.blocks, found.results), (vec![1, 8], 3, Some("r".into())));
        assert_eq!(found.arguments, ["--no-vacuum", "--time=5", "--", "shop"]);
        let again = read("--client=8 --blocks 2").unwrap().unwrap();
        assert_eq!((again.clients, again.blocks, again.arguments), (vec![8], 2, vec![]));
    }

    #[test]
    fn requests_that_cannot_be_repeated_are_reported() {
        for (line, reason) in [
            ("-c 1,y", "-c/--clients \"1,y\": `y` is not a number of 1 or more"),
            ("-c 1,2 --blocks=0", "--blocks: `0` is not a number from 1 to 1000"),
            ("-i -c 1,2", "cannot be used in initialization (-i) mode"),
        ] {
            assert!(read(line).is_err_and(|found| found.contains(reason)), "{line}");
        }
        assert_eq!(read("-c 1,2 --unknown"), Ok(None), "pgbench's own words are for that");
    }
}
