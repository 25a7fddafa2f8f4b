//! Masks what differs from run to run: times, rates, and what a timer decides.

use crate::script::Script;

/// Labels of lines whose numbers with a decimal point are times or rates.
const TIMED: [&str; 12] = [
    "transactions:",
    "queries:",
    "ignored errors:",
    "reconnects:",
    "total time:",
    "min:",
    "avg:",
    "max:",
    "sum:",
    "execution time (avg/stddev):",
    "events (avg/stddev):",
    "total time taken by event execution:",
];

/// The output of a program as it is compared.
pub(crate) fn masked(script: &Script, output: &str) -> String {
    let mut lines: Vec<String> = output.lines().map(line).collect();
    // How many lines a timer writes, and into how many buckets times fall, depends on the machine.
    lines.dedup_by(|next, line| {
        next == line && (line.starts_with("[ #s ] thds:") || line.starts_with("#|"))
    });
    if !script.has_ordered_lines {
        lines.sort();
    }
    lines.join("\n")
}

/// The same for the output of a bundled script.
pub(crate) fn lines(output: &str) -> String {
    output.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn line(line: &str) -> String {
    let label = line.trim_start();
    // The first line names the program and its LuaJIT.
    if line.starts_with("sysbench 1.0.20 (") && line.ends_with(')') {
        return "sysbench 1.0.20 (#)".to_owned();
    }
    let timed = label.strip_prefix("DEBUG:").map_or(label, str::trim_start);
    if TIMED.iter().any(|known| timed.starts_with(known)) || label.contains("th percentile:") {
        return decimals_masked(line);
    }
    if label.starts_with("[ ")
        && (label.contains("s ] thds:") || label.ends_with("s ] Checkpoint report:"))
    {
        return digits_masked(line);
    }
    if label.contains(" |*") || label.starts_with("DEBUG:     thread") {
        return bar_masked(line);
    }
    module_masked(&place_masked(line))
}

/// libpq says where it connected to, port included.
fn place_masked(line: &str) -> String {
    let place = line.find("connection to server at \"").zip(line.find(" failed: FATAL:  "));
    place.map_or_else(
        || line.to_owned(),
        |(start, end)| format!("{}{}", &line[..start], &line[end + " failed: FATAL:  ".len()..]),
    )
}

/// `   12.34` becomes `#.#`, with the blanks before it, because numbers stand to the right.
fn decimals_masked(line: &str) -> String {
    let mut result = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[start..]
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len() - start);
        let (before, number) = (&rest[..start], &rest[start..start + length]);
        if number.contains('.') {
            result.push_str(before.trim_end());
            result.push_str(if before.ends_with(' ') { " #.#" } else { "#.#" });
        } else {
            result.push_str(before);
            result.push_str(number);
        }
        rest = &rest[start + length..];
    }
    result + rest
}

/// A line of a histogram without its numbers and the length of its bar.
fn bar_masked(line: &str) -> String {
    let mut masked = digits_masked(line);
    masked.retain(|c| c != '*' && c != ' ');
    masked
}

fn digits_masked(line: &str) -> String {
    let mut result = String::new();
    for c in line.chars() {
        if !c.is_ascii_digit() && c != '.' {
            result.push(c);
        } else if !result.ends_with('#') {
            result.push('#');
        }
    }
    result
}

/// Both programs have a module `oltp_common` of their own: its folder and its lines are not the
/// same.
fn module_masked(line: &str) -> String {
    let Some(end) = line.find("oltp_common.lua:") else { return line.to_owned() };
    let start = line[..end].rfind(' ').map_or(0, |blank| blank + 1);
    let rest =
        line[end + "oltp_common.lua:".len()..].trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{}oltp_common.lua:#{rest}", &line[..start])
}

#[test]
fn times_and_rates_are_masked_and_counts_stay() {
    let cases = [
        (
            "    queries:                             2000   (17180.64 per sec.)",
            "    queries:                             2000   (#.# per sec.)",
        ),
        ("         min:                                    1.78", "         min: #.#"),
        ("    total time:                          0.1156s", "    total time: #.#s"),
        (
            "        read:                            1400",
            "        read:                            1400",
        ),
        ("a script says 1.78", "a script says 1.78"),
        ("FATAL: /usr/share/sysbench/oltp_common.lua:28: no", "FATAL: oltp_common.lua:#: no"),
        ("[ 1s ] thds: 2 tps: 105.92 qps: 1.2", "[ #s ] thds: # tps: # qps: #"),
        ("[ 1s ] Checkpoint report:", "[ #s ] Checkpoint report:"),
    ];
    for (output, expected) in cases {
        assert_eq!(line(output), expected);
    }
}
