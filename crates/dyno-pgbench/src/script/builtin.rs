//! The built-in scripts. Their SQL is that of pgbench's manual and runs on every engine.

use dyno_model::target::Engine;

/// A built-in script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Builtin {
    /// Name on the command line.
    pub(crate) name: &'static str,
    /// Name in reports.
    pub(crate) title: &'static str,
    /// Its text.
    pub(crate) source: &'static str,
}

impl Builtin {
    /// Its text in the dialect of an engine: MySQL ends transactions only with COMMIT.
    pub(crate) fn text(&self, engine: Engine) -> String {
        match engine.dialect().ends_by_end {
            true => self.source.to_owned(),
            false => self.source.replace("\nEND;\n", "\nCOMMIT;\n"),
        }
    }
}

/// Draws the keys of one transaction.
macro_rules! draws {
    () => {
        "\\set aid random(1, 100000 * :scale)\n\
         \\set bid random(1, 1 * :scale)\n\
         \\set tid random(1, 10 * :scale)\n\
         \\set delta random(-5000, 5000)\n"
    };
}

macro_rules! account {
    () => {
        "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
         SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
    };
}

macro_rules! history {
    () => {
        "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);\n"
    };
}

/// The default.
pub(crate) const DEFAULT: Builtin = Builtin {
    name: "tpcb-like",
    title: "<builtin: TPC-B (sort of)>",
    source: concat!(
        draws!(),
        "BEGIN;\n",
        account!(),
        "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n",
        "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n",
        history!(),
        "END;\n"
    ),
};

/// All built-in scripts in the order of the list.
pub(crate) const ALL: [Builtin; 3] = [
    DEFAULT,
    Builtin {
        name: "simple-update",
        title: "<builtin: simple update>",
        source: concat!(draws!(), "BEGIN;\n", account!(), history!(), "END;\n"),
    },
    Builtin {
        name: "select-only",
        title: "<builtin: select only>",
        source: "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    },
];

/// The output of `-b list`.
pub(crate) fn list() -> String {
    let mut text = "Available builtin scripts:\n".to_owned();
    for builtin in ALL {
        text.push_str(&format!("  {:>13}: {}\n", builtin.name, builtin.title));
    }
    text.push('\n');
    text
}

/// The script whose name begins with `prefix`.
///
/// # Errors
/// When there is none or more than one, in pgbench's words.
pub(crate) fn find(prefix: &str) -> Result<Builtin, String> {
    let found: Vec<Builtin> =
        ALL.into_iter().filter(|builtin| builtin.name.starts_with(prefix)).collect();
    match found[..] {
        [builtin] => Ok(builtin),
        [] => Err(format!("no builtin script found for name \"{prefix}\"")),
        _ => Err(format!(
            "ambiguous builtin name: {} builtin scripts found for prefix \"{prefix}\"",
            found.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_abbreviated_if_unambiguous() {
        assert_eq!(find("tpc").map(|builtin| builtin.name), Ok("tpcb-like"));
        assert_eq!(find("se").map(|builtin| builtin.name), Ok("select-only"));
        let both = "ambiguous builtin name: 2 builtin scripts found for prefix \"s\"";
        assert_eq!(find("s"), Err(both.to_owned()));
        assert_eq!(find("x"), Err("no builtin script found for name \"x\"".to_owned()));
    }
}
