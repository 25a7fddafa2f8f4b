//! Commands at the very end: run by the guard, or by dyno when the guard was killed.

use super::Last;
use super::launch::spawn;
use rustix::process::{Pid, Signal, kill_process_group};
use std::time::{Duration, Instant};

/// Runs a command to its end; says what went wrong, if anything did.
pub(super) fn run(last: &Last) -> Option<String> {
    let fail = |reason: String| {
        Some(format!("{} {reason}; its output is in {}", last.what, last.launch.log.display()))
    };
    let mut child = match spawn(&last.launch) {
        Ok(child) => child,
        Err(error) => return fail(format!("cannot be run: {error}")),
    };
    let group = Pid::from_child(&child);
    let deadline = Instant::now() + Duration::from_millis(last.limit_ms);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return fail(format!("failed ({status})")),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = child.wait();
                return fail(format!("did not end within {} s", last.limit_ms / 1000));
            }
            Err(error) => return fail(format!("cannot be waited for: {error}")),
        }
    }
}
