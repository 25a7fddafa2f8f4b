//! Splits the output of the command into texts of files.

use std::collections::BTreeMap;

/// One answer: the contents of files by path, and the shell's own values by names that begin with
/// `dyno`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RemoteSample {
    /// The number of the request that it answers.
    pub(super) request_number: u64,
    sections: BTreeMap<String, String>,
}

/// Collects lines until an answer is complete.
#[derive(Debug, Default)]
pub(super) struct Lines {
    section: Option<String>,
    sections: BTreeMap<String, String>,
    /// Size of this answer so far, in bytes.
    bytes: usize,
}

/// Maximum size of an answer in bytes. That of a server with thousands of processes has a few
/// million.
const BYTES_MAX: usize = 16 << 20;

impl Lines {
    /// Maximum size of the next line with its end, in bytes; 0 when a command floods without
    /// answering.
    pub(super) fn room(&self) -> u64 {
        BYTES_MAX.saturating_sub(self.bytes) as u64
    }

    /// Processes a line without its end. Lines before the first section are login messages.
    pub(super) fn take(&mut self, line: &str) -> Option<RemoteSample> {
        self.bytes += line.len() + 1;
        let Some(name) = line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <=="))
        else {
            if let Some(section) = &self.section {
                let text = self.sections.entry(section.clone()).or_default();
                text.push_str(line);
                text.push('\n');
            }
            return None;
        };
        if let Some(number) = name.strip_prefix("dyno end ") {
            (self.section, self.bytes) = (None, 0);
            let sections = std::mem::take(&mut self.sections);
            return Some(RemoteSample { request_number: number.parse().ok()?, sections });
        }
        self.section = Some(name.to_owned());
        self.sections.insert(name.to_owned(), String::new());
        None
    }
}

impl RemoteSample {
    /// The content of a file; empty when it does not exist.
    pub(super) fn text(&self, name: &str) -> &str {
        self.sections.get(name).map_or("", String::as_str)
    }

    /// Ids of the sampled processes; the server's own is the last.
    pub(super) fn processes(&self, server: u32) -> Vec<u32> {
        let number = |name: &String| -> Option<u32> {
            name.strip_prefix("/proc/")?.strip_suffix("/stat")?.parse().ok()
        };
        let mut all: Vec<u32> = self.sections.keys().filter_map(number).collect();
        all.sort_by_key(|process| (*process == server, *process));
        all
    }

    /// Processor time of the shell and of all that it started, in seconds. POSIX: `times` prints
    /// user and system time of the shell, and below those of its children, as `0m0.010s`.
    pub(super) fn cpu_seconds(&self) -> Option<f64> {
        let times: Option<Vec<f64>> =
            self.text("dyno times").split_whitespace().map(seconds).collect();
        times.filter(|times| times.len() == 4).map(|times| times.iter().sum())
    }
}

fn seconds(time: &str) -> Option<f64> {
    let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
    // Some shells print a comma as the decimal separator; LC_ALL=C should prevent it.
    Some(60.0 * minutes.parse::<f64>().ok()? + seconds.replace(',', ".").parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_separated_and_login_messages_ignored() {
        let text = "Welcome to db.example\n\n==> /proc/stat <==\ncpu  1 2 3\n\n==> /proc/17/stat <==\n17 (mysqld) S 1\n\
                    ==> /proc/8/stat <==\n8 (mysqld) S 1\n==> dyno times <==\n0m0.010s 0m0.02s\n1m2.5s 0m1.00s\n==> dyno end 4 <==\n";
        let mut lines = Lines::default();
        let mut answers: Vec<RemoteSample> =
            text.lines().filter_map(|line| lines.take(line)).collect();
        let answer = answers.pop().unwrap();
        assert!(answers.is_empty());
        assert_eq!(answer.request_number, 4);
        assert_eq!(answer.text("/proc/stat"), "cpu  1 2 3\n\n");
        assert_eq!(answer.text("/proc/meminfo"), "");
        assert_eq!(answer.processes(8), [17, 8]);
        assert_eq!(answer.cpu_seconds(), Some(63.53));
        assert!(lines.take("==> dyno end x <==").is_none());
    }
}
