//! An existing database with a table of a hundred rows, and scripts beside it.

use crate::program::{Bench, Ended, records};
use dyno_drivers::{Connection, Driver, Io, Table, block_on};
use dyno_model::failure::OperationFailure;
use dyno_model::plan::ServerKind;
use dyno_model::record::TrialRecord;
use dyno_model::target::{Endpoint, Engine, Target};
use dyno_testkit::{RunningServer, running_server};

const READ: &str = "\\set id random(1, 100)\nSELECT n FROM things WHERE id = :id;\n";
const LIST: &str = "-- the newest\nSELECT max(id) AS newest FROM things \\gset\nSELECT n FROM things WHERE id = :newest;\n";
const WRITE: &str =
    "\\set id random(1, 100)\nBEGIN;\nUPDATE things SET n = n + 1 WHERE id = :id;\nCOMMIT;\n";

/// A database with a table of somebody's, and scripts beside it.
pub(crate) struct Shop {
    pub(crate) bench: Bench,
    pub(crate) target: Target,
    pub(crate) url: String,
    _server: Option<RunningServer>,
}

impl Shop {
    pub(crate) fn open(engine: Engine) -> Option<Self> {
        Self::on(match engine {
            Engine::Sqlite => ServerKind::Sqlite,
            Engine::Postgres => ServerKind::Postgres,
            _ => ServerKind::Mariadb,
        })
    }

    pub(crate) fn on(kind: ServerKind) -> Option<Self> {
        let (bench, engine) = (Bench::new(), kind.engine());
        let (server, target) = match kind {
            ServerKind::Sqlite => {
                (None, Target::new(engine, Endpoint::File(bench.path().join("shop.db"))))
            }
            _ => {
                let server = running_server(kind, &[])?;
                let target = server.target();
                (Some(server), target)
            }
        };
        let url = match &target.endpoint {
            Endpoint::Tcp { host, port } => {
                let (user, password, database) =
                    (&target.user, target.password.reveal(), &target.database);
                format!("{engine}://{user}:{password}@{host}:{port}/{database}")
            }
            _ => "sqlite:shop.db".to_owned(),
        };
        let shop = Self { bench, target, url, _server: server };
        shop.ask("CREATE TABLE things (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)");
        let rows: Vec<String> = (1..=100).map(|id| format!("({id}, 0)")).collect();
        shop.ask(&format!("INSERT INTO things VALUES {}", rows.join(", ")));
        for (name, text) in [("read.sql", READ), ("list.sql", LIST), ("write.sql", WRITE)] {
            shop.bench.file(name, text);
        }
        Some(shop)
    }

    pub(crate) fn password(&self) -> &str {
        self.target.password.reveal()
    }

    /// All fields of an answer, joined.
    pub(crate) fn ask(&self, sql: &str) -> String {
        ask(&self.target, sql)
    }

    /// `dyno run URL` with these scripts and options, for a moment.
    pub(crate) fn run(&self, scripts: &[&str], options: &[&str]) -> Ended {
        let mut line = vec![
            "run",
            &self.url,
            "--clients",
            "1,3",
            "--duration",
            "300ms",
            "--warmup",
            "0s",
            "--blocks",
            "1",
        ];
        line.extend(scripts.iter().flat_map(|script| ["--script", script]));
        line.extend(options);
        self.bench.dyno(&line)
    }

    pub(crate) fn records(&self, results: &str) -> Vec<TrialRecord> {
        records(&self.bench.path().join(results))
    }

    pub(crate) fn has_table(&self, name: &str) -> bool {
        block_on(async {
            let mut connection = Connection::connect(&self.target, &Io::Blocking).await?;
            connection.query(&format!("SELECT count(*) FROM {name}"), &mut Table::default()).await
        })
        .is_ok()
    }
}

/// All fields of an answer, joined.
pub(crate) fn ask(target: &Target, sql: &str) -> String {
    try_ask(target, sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"))
}

pub(crate) fn try_ask(target: &Target, sql: &str) -> Result<String, OperationFailure> {
    let mut table = Table::default();
    block_on(async {
        let mut connection = Connection::connect(target, &Io::Blocking).await?;
        connection.query(sql, &mut table).await
    })?;
    Ok(table.0.into_iter().flatten().flatten().collect::<Vec<_>>().join(" "))
}
