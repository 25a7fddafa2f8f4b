//! Servers that reject statements about the planner's statistics after loading: the data is used
//! all the same, and the rejection is reported once.

use dyno_drivers::RowWriter;
use dyno_drivers::null::server::{Options, Persona, Protocol, Rejection, RunningServer, serve};
use dyno_engine::loading::{Loading, load_data};
use dyno_engine::workload::{DataSet, TableDefinition};
use dyno_model::event::{Event, Listener};
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_model::warning::Warning;
use std::sync::atomic::AtomicUsize;

pub(super) const fn persona(rejections: &'static [Rejection]) -> Persona {
    let (version, protocol) = ("15.0 (dyno null server)", Protocol::Postgres);
    Persona { protocol, version, parameters: &[], answers: &[], rejections }
}

const fn rejection(statement: &'static str) -> Rejection {
    Rejection { statement, code: 0, sqlstate: "0A000", message: "it is not supported" }
}

/// Two tables of ten rows.
#[derive(Debug)]
struct Two;

impl DataSet for Two {
    fn fingerprint(&self) -> String {
        "two".to_owned()
    }

    fn tables(&self) -> Vec<TableDefinition> {
        let table = |name: &str| TableDefinition {
            name: name.to_owned(),
            create: format!("CREATE TABLE {name} (a int)"),
            columns: vec!["a"],
            rows: 10,
            indexes: Vec::new(),
        };
        vec![table("one"), table("two")]
    }

    fn row(&self, _table: usize, row: u64, out: &mut dyn RowWriter) {
        out.integer(i64::try_from(row).expect("few rows"));
    }
}

#[derive(Default)]
struct Notes(Vec<Warning>);

impl Listener for Notes {
    fn event(&mut self, event: &Event) {
        if let Event::RunWarning(warning) = event {
            self.0.push(warning.clone());
        }
    }
}

/// An imitated product, and its address.
pub(super) fn server(persona: &'static Persona) -> (RunningServer, Target) {
    let options = Options { persona: Some(persona), ..Options::default() };
    let server = serve(persona.protocol, ([127, 0, 0, 1], 0).into(), options).expect("a free port");
    let address = server.local_addr;
    let endpoint = Endpoint::Tcp { host: address.ip().to_string(), port: address.port() };
    let target = Target { user: "any".to_owned(), ..Target::new(Engine::Postgres, endpoint) };
    (server, target)
}

/// Loads two tables on an imitated product: the statements that it rejected, and how many rows it
/// has received.
fn loaded(persona: &'static Persona) -> (Vec<String>, u64) {
    let (_server, target) = server(persona);
    let interrupts = AtomicUsize::new(0);
    let loading =
        Loading { trial: "b01-001", target: &target, data: &Two, interrupts: &interrupts };
    let mut notes = Notes::default();
    let rows = load_data(&loading, &mut notes).expect("what is rejected is not needed");
    let rejected = notes.0.into_iter().map(|warning| match warning {
        Warning::StatementRefused { statement, reason } => {
            assert!(reason.contains("it is not supported"), "{reason}");
            statement
        }
        other => panic!("{other:?}"),
    });
    (rejected.collect(), rows)
}

#[test]
fn rejected_analyze_is_reported_once_and_loading_continues() {
    static PLAIN: Persona = persona(&[]);
    static NO_VACUUM: Persona = persona(&[rejection("VACUUM")]);
    static NEITHER: Persona = persona(&[rejection("VACUUM"), rejection("ANALYZE")]);
    let [(_, _, without_vacuum), ..] = Persona::ALL;
    let rows: [(&'static Persona, &[&str]); 4] = [
        (&PLAIN, &[]),
        (&NO_VACUUM, &["VACUUM ANALYZE one"]),
        (&NEITHER, &["VACUUM ANALYZE one", "ANALYZE one"]),
        // It is known to lack VACUUM, so nothing is missing that it has.
        (without_vacuum, &[]),
    ];
    for (persona, rejected) in rows {
        let (found, rows) = loaded(persona);
        assert_eq!((found, rows), (rejected.iter().map(|&it| it.to_owned()).collect(), 20));
    }
}
