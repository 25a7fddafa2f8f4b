//! Everything in which `dyno sysbench` may differ from sysbench 1.0.20, each with its reason. docs/sysbench.md lists the same.

use dyno_model::plan::ServerKind;
use std::path::Path;

/// One allowed difference: where `sysbench` writes one text, dyno writes another.
pub(crate) struct Difference {
    /// `TOPIC/name` of the scripts that show it; a name that ends in `*` stands for all that begin so.
    scripts: &'static [&'static str],
    /// The driver it is seen with; `None` for any.
    driver: Option<&'static str>,
    /// The part of what is observed: `output`, `messages`, `counters` or `tables`.
    part: &'static str,
    change: Change,
    /// For users.
    #[expect(dead_code, reason = "read by people, here and in docs/sysbench.md")]
    reason: &'static str,
}

/// What is different.
enum Change {
    /// One text, a line or a few, stands in place of another.
    Lines { sysbench: &'static str, dyno: &'static str },
    /// sysbench ends in the middle, so that nothing can be compared; this is the whole of what dyno writes.
    Whole { dyno: &'static str },
}

const DIFFERENCES: &[Difference] = &[];

/// The differences that a script may show on a server.
pub(crate) fn of(script: &str, server: Option<ServerKind>) -> impl Iterator<Item = &'static Difference> {
    let driver = server.map(crate::server::driver);
    DIFFERENCES.iter().filter(move |difference| {
        difference.driver.is_none_or(|name| driver == Some(name))
            && difference.scripts.iter().any(|name| is_meant(name, script))
    })
}

fn is_meant(pattern: &str, script: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == script, |start| script.starts_with(start))
}

impl Difference {
    /// What dyno is expected to write where sysbench wrote `text`.
    pub(crate) fn apply(&self, part: &str, text: String) -> String {
        if part != self.part {
            return text;
        }
        match self.change {
            Change::Lines { sysbench, dyno } => text.replace(sysbench, dyno),
            Change::Whole { dyno } => dyno.to_owned(),
        }
    }
}

#[test]
fn every_difference_belongs_to_a_script() {
    let folder = crate::script::folder();
    for difference in DIFFERENCES {
        for name in difference.scripts {
            let topic = name.split('/').next().expect("a name has a topic");
            let is_there = match name.strip_suffix('*') {
                Some(start) => {
                    std::fs::read_dir(folder.join(topic)).expect("the topic is there").any(|entry| {
                        let path = entry.expect("an entry").path();
                        format!("{topic}/{}", stem(&path)).starts_with(start)
                    })
                }
                None => folder.join(format!("{name}.lua")).exists(),
            };
            assert!(is_there, "{name} is gone, and with it its difference");
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
