//! Validates settings with the server's program without starting it, so that a typo in the last
//! level of a campaign is found before the first trial and not in the middle of the night.

use crate::ask::words;
use crate::error::HostError;
use crate::server::error::setting_refused;
use crate::server::recipes::recipe;
use crate::server::{Binary, log};
use crate::settings;
use dyno_model::plan::ManagedServer;
use std::process::{Command, Stdio};

/// Lets the server's program validate names and values of settings. It finds most errors; the rest,
/// and values that it changes silently, are found when settings are read back after the start.
///
/// # Errors
/// With the program's output, for the first setting that it complains about.
pub fn check_values(server: &ManagedServer, binary: &Binary) -> Result<(), HostError> {
    let server = settings::spelled(server);
    let recipe = recipe(binary.kind);
    if let Some(recipe) = recipe {
        (recipe.check_further)(&server, binary)?;
    }
    if server.settings.is_empty() {
        return Ok(());
    }
    let arguments = recipe.and_then(|recipe| (recipe.check)(&server));
    let Some(arguments) = arguments else { return Ok(()) };
    let mut command = Command::new(&binary.program);
    command.args(arguments);
    let words = words(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    let refusal = |(name, value): (&String, &String)| {
        let is_refusal = |line: &String| match adjusted(line) {
            Some(found) => !settings::is_rounding(binary.kind.engine(), name, value, found),
            None => !line.contains("[Warning]"),
        };
        let words: Vec<String> =
            log::complaints(&words, name).into_iter().filter(is_refusal).collect();
        (!words.is_empty()).then(|| setting_refused(binary.kind, name, value, &words))
    };
    server.settings.iter().find_map(refusal).map_or(Ok(()), Err)
}

/// The value to which a server of the MySQL family will adjust one that is out of range, from its
/// warning: `[Warning] option 'NAME': unsigned value 7 adjusted to 3`.
fn adjusted(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" adjusted to ")?;
    rest.split_whitespace().next().map(|value| value.trim_end_matches('.'))
}
