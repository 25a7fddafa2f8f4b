//! What a program says when it is asked something and ends.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Limit for an answer; measured: 40 to 80 ms.
const LIMIT: Duration = Duration::from_secs(20);

/// What a program says on the output that is a pipe; nothing when it cannot be run or does not end.
pub(super) fn words(command: &mut Command) -> Vec<String> {
    command.stdin(Stdio::null()).env("LC_ALL", "C").current_dir("/");
    let Ok(mut child) = command.spawn() else { return Vec::new() };
    let output = child.stdout.take().map(|output| Box::new(output) as Box<dyn Read + Send>);
    let errors = child.stderr.take().map(|errors| Box::new(errors) as Box<dyn Read + Send>);
    let Some(mut said) = output.or(errors) else { return Vec::new() };
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = said.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    });
    let deadline = Instant::now() + LIMIT;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > deadline {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    reader.join().unwrap_or_default()
}
