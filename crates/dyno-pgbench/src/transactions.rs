//! Scripts as a workload of a spec: `kind = "sql"`. The language is that of pgbench, on every
//! engine; loop, retries and counting are dyno's own, as for every workload.

use crate::changes::{changed, reads, writes};
use crate::expression::Value;
use crate::expression::parser::DEFAULT_SEED;
use crate::expression::variables::{Names, Slot, Variables, is_name};
use crate::perform::{Performer, Program, Refusal, Stop, attempt, first_words, roll_back, writing};
use crate::random::Generator;
use crate::script::{self, Action, Amount, DEFINING, NO_STATEMENT, Script};
use crate::sending::{self, KnownVariables, StatementFilter};
use crate::session_state::lasts;
use crate::setup::Setup;
use crate::terminal::Terminal;
use dyno_drivers::{Connection, Driver, Io, TimeoutPolicy, block_on};
use dyno_engine::random::Random;
use dyno_engine::text::intern;
use dyno_engine::workload::{
    AuditFacts, ClientId, DataSet, NoData, Workload, isolation_option, isolation_setup,
};
use dyno_engine::{CustomAudit, Session, TrialError, TrialInput, run_groups_trial};
use dyno_model::audit::AuditCheck;
use dyno_model::catalog::{
    OptionDescription, OptionKind, OptionValue, WorkloadDescription, WorkloadOptions,
};
use dyno_model::engine::Syntax;
use dyno_model::event::Listener;
use dyno_model::failure::{FailureKind, OperationFailure};
use dyno_model::record::TrialRecord;
use dyno_model::sync::lock;
use dyno_model::target::{Engine, QueryMode, Target};
use dyno_model::units::Nanos;
use dyno_model::words::begins_with;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Name in `workload.kind`.
pub const SQL: &str = "sql";
/// Its option for the scripts.
pub(crate) const SCRIPTS: &str = "scripts";
/// Its option for creating their tables.
const SETUP: &str = "setup";
/// Its option for audited values.
pub(crate) const AUDIT: &str = "audit";
/// Its option for values of variables.
pub(crate) const VARIABLES: &str = "variables";
/// Variables that always have a value; each client has its own `client_id`.
const PRESET: [(&str, i64); 2] = [("client_id", 0), (DEFAULT_SEED, 0)];
/// The description against which the spec is checked.
#[must_use]
pub fn description() -> WorkloadDescription {
    WorkloadDescription {
        name: SQL,
        summary: "SQL of your own: each transaction is one of your scripts, chosen by weight. \
                  Scripts are written as for pgbench (\\set, random(), \\gset, \\if, \\sleep), for \
                  every engine; variables are written as :name. The tables must exist, or `setup` \
                  creates them on a server that dyno starts.",
        audit: "What `audit` names: values in your data that must not change, or change by so much \
                with each commit of a script. Without it none, because dyno does not know what \
                your data must look like.",
        options: vec![
            OptionDescription {
                name: SCRIPTS,
                kind: OptionKind::Scripts { is_required: true },
                default: OptionValue::Scripts(Vec::new()),
                help: "the scripts, files with weights or texts in the spec",
            },
            isolation_option(),
            OptionDescription {
                name: VARIABLES,
                kind: OptionKind::Values,
                default: OptionValue::Texts(BTreeMap::new()),
                help: "values of variables that scripts use and do not set, such as \
                       `{ scale = 10 }`; the same as -D NAME=VALUE",
            },
            OptionDescription {
                name: SETUP,
                kind: OptionKind::Scripts { is_required: false },
                default: OptionValue::Scripts(Vec::new()),
                help: "plain SQL that creates tables, rows and indexes, or a dump of pg_dump, \
                       mysqldump or mariadb-dump; sent once to a server that dyno starts, where \
                       every start, and every trial after one that writes, begins with a copy of \
                       the result; or to each copy of a database (`data = \"copy\"` of the system)",
            },
            OptionDescription {
                name: AUDIT,
                kind: OptionKind::Texts,
                default: OptionValue::Texts(BTreeMap::new()),
                help: "the expected data: SQL for an integer, without SELECT, and `unchanged` or \
                       what each commit of a script adds, for example \
                       `\"count(*) from orders\" = \"+1 per new-order\"`; queried before and after \
                       each trial",
            },
        ],
    }
}

/// The workload.
pub struct Transactions {
    program: Arc<Program>,
    /// Sets the isolation level of a session.
    isolation: Option<String>,
    /// Think times of scripts that have their own.
    think: Vec<Option<Nanos>>,
    /// Variables at the start of every transaction.
    beginning: Variables,
    pub(crate) data: Box<dyn DataSet>,
    audit: CustomAudit,
    syntax: Syntax,
}

impl Transactions {
    /// Builds the workload from options that were checked against [`description`].
    ///
    /// # Errors
    /// When a script has an error, with its name and line.
    pub fn build(
        options: &WorkloadOptions,
        engine: Engine,
        query_mode: QueryMode,
    ) -> Result<Self, String> {
        let mut names = Names::default();
        let syntax = engine.dialect().syntax;
        let mut scripts = Vec::new();
        for given in options.scripts(SCRIPTS) {
            let parsed = script::parse(&given.name, &given.text, given.weight, syntax, &mut names);
            let parsed = parsed.map_err(|error| error.with_remedy())?;
            if parsed.statements().next().is_none() {
                let text = format!("the script {} sends no statement", given.name);
                return Err(format!("{text}\nhint: {NO_STATEMENT}"));
            }
            scripts.push(parsed);
        }
        let beginning = beginning(options, &mut names)?;
        for script in &mut scripts {
            let settable = KnownVariables::of(script, &beginning, &names);
            script.keep_slices(&names, |slot| settable.has(slot));
            if let Some(slot) = unset(script, &settable) {
                return Err(nothing_sets(&script.name, names.name(slot)));
            }
            sending::check(script, &settable, &names, query_mode)?;
        }
        // `tpcb` makes its tables itself.
        let given = if options.0.contains_key(SETUP) { options.scripts(SETUP) } else { &[] };
        let mut setup = Setup::new(given, syntax)?;
        let known: Vec<_> =
            scripts.iter().map(|script| (script.name.as_str(), is_whole(script))).collect();
        let audit = CustomAudit::new(options.texts(AUDIT), &known)?;
        let program = Arc::new(Program::new(scripts, names, engine, query_mode, kind_name));
        let think = options.scripts(SCRIPTS).iter().map(|script| script.think).collect();
        let isolation = isolation_setup(options, engine)?;
        let data = Box::new(NoData);
        let mut workload = Self { program, isolation, think, beginning, data, audit, syntax };
        setup.is_reusable = workload.writing().is_none();
        workload.data = Box::new(setup);
        Ok(workload)
    }

    /// The first statement that is not known to only read: the script's name and the statement's
    /// first line.
    #[must_use]
    pub fn writing(&self) -> Option<(&str, &str)> {
        self.first_statement(|text| !reads(text, self.syntax))
    }

    /// As [`Self::writing`], for scripts with errors: the first statement that is known to write.
    #[must_use]
    pub fn certainly_writing(&self) -> Option<(&str, &str)> {
        self.first_statement(|text| writes(text, self.syntax))
    }

    /// The first statement with an effect that lasts longer than its transaction.
    #[must_use]
    pub fn lasting(&self) -> Option<(&str, &str)> {
        self.first_statement(|text| lasts(text, self.syntax))
    }

    fn first_statement(&self, is_wanted: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
        self.program.scripts.iter().find_map(|script| {
            let (found, _) = script.statements().find(|(_, sql)| is_wanted(sql.template()))?;
            Some((script.name.as_str(), found.line.as_str()))
        })
    }

    /// Words, in lower case, that include the names of all tables that its scripts may change;
    /// `None` when they are unknown.
    #[must_use]
    pub fn changes(&self) -> Option<BTreeSet<String>> {
        let statements = self.program.scripts.iter().flat_map(Script::statements);
        let each: Option<Vec<BTreeSet<String>>> =
            statements.map(|(_, sql)| changed(sql.template(), self.syntax)).collect();
        Some(each?.into_iter().flatten().collect())
    }

    /// The SQL of the audited values.
    pub fn audited(&self) -> impl Iterator<Item = &str> {
        self.audit.expressions()
    }

    /// Lets the server parse every statement of every script once, without executing any, and
    /// queries the values of the audit. Returns the server's errors. Statements after one that
    /// defines something are skipped: they may need objects that exist only then.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub fn rehearse(&self, target: &Target) -> Result<Vec<String>, OperationFailure> {
        let mut connection = block_on(Connection::connect(
            target,
            &Io::WithTimeout(TimeoutPolicy::for_questions(target)),
        ))?;
        let tried =
            sending::tried(&self.program, &self.beginning, StatementFilter::All, &mut connection);
        let mut refused = block_on(tried)?.refused;
        refused.extend(block_on(self.audit.rehearse(&mut connection))?);
        block_on(connection.close());
        Ok(refused)
    }
}

impl Transactions {
    /// As [`Self::rehearse`], for a database that is not named with --yes-write-to: each script is
    /// first run once in a read-only transaction that is rolled back. Returns the scripts that
    /// write, or, if there are none, the statements that the server rejects.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub fn rehearse_reading(&self, target: &Target) -> Result<Vec<String>, OperationFailure> {
        let mut refused = Vec::new();
        if let Some(questions) = &target.engine.dialect().read_only_queries {
            for script in &self.program.scripts {
                // A connection per script, because changes of a session must not affect the next
                // one.
                let io = Io::WithTimeout(TimeoutPolicy::for_questions(target));
                let mut connection = block_on(Connection::connect(target, &io))?;
                let found = writing(
                    &self.program,
                    script,
                    self.beginning.clone(),
                    &mut connection,
                    questions,
                );
                match block_on(found) {
                    Ok(found) => refused.extend(found.map(|found| match found {
                        Refusal::Writes(what) => format!(
                            "the script {} may write, and the database {:?} is not named with \
                             --yes-write-to: {what}",
                            script.name,
                            target.database_name()
                        ),
                        Refusal::Denied(what) => format!("the script {}, {what}", script.name),
                    })),
                    // The script exceeds the timeout of a query.
                    Err(failure) if failure.kind == FailureKind::Timeout => {}
                    Err(failure) => return Err(failure),
                }
                block_on(connection.close());
            }
        }
        if refused.is_empty() { self.rehearse(target) } else { Ok(refused) }
    }
}

/// The variables at the start of every transaction.
fn beginning(options: &WorkloadOptions, names: &mut Names) -> Result<Variables, String> {
    let mut beginning = Variables::default();
    for (name, value) in PRESET {
        beginning.set(names.slot(name), Value::Integer(value));
    }
    for (name, text) in options.texts(VARIABLES) {
        if !is_name(name) {
            let rule = "a variable's name has letters, digits and `_`, and begins with no digit";
            return Err(format!("{VARIABLES}: {name:?} is not a valid name\nhint: {rule}"));
        }
        let slot = names.slot(name);
        match Value::from_text(text, name) {
            // A number stays a number, as in the text of a statement.
            Ok(value) if value.to_string() == text => beginning.set(slot, value),
            _ => beginning.set_text(slot, text),
        }
    }
    Ok(beginning)
}

/// A variable that a script needs and nothing sets.
fn unset(script: &Script, settable: &KnownVariables) -> Option<Slot> {
    let mut needed = Vec::new();
    for command in &script.commands {
        match &command.action {
            Action::Sql(sql) => needed.extend(sql.parameters()),
            Action::Set { value: expression, .. }
            | Action::If(expression, _)
            | Action::Elif(expression, _) => expression.variables(&mut |slot| needed.push(slot)),
            Action::Sleep { amount: Amount::Variable(slot), .. } => needed.push(*slot),
            _ => {}
        }
    }
    needed.into_iter().find(|slot| !settable.has(*slot))
}

fn nothing_sets(script: &str, name: &str) -> String {
    let why = if name == "scale" {
        "; dyno does not count the rows of pgbench_branches for it"
    } else {
        ""
    };
    format!(
        "the script {script}: nothing sets `:{name}`{why}\nhint: pass -D {name}=VALUE, or add \
         `variables = {{ {name} = VALUE }}` in the spec's [workload], or `\\set {name} VALUE` to \
         the script"
    )
}

/// True when a script is atomic: one statement, or everything between BEGIN and COMMIT.
fn is_whole(script: &Script) -> bool {
    let sent: Vec<&str> = script.statements().map(|(command, _)| command.line.as_str()).collect();
    let (begins, ends) = (["begin", "start"], ["commit", "end"]);
    match sent.as_slice() {
        [_] => true,
        [first, middle @ .., last] => {
            let is_cut = |line: &&&str| {
                [&begins[..], &ends, &DEFINING].iter().any(|words| begins_with(line, words))
            };
            begins_with(first, &begins)
                && begins_with(last, &ends)
                && middle.iter().find(is_cut).is_none()
        }
        [] => false,
    }
}

/// The script's name if it sends one statement; otherwise followed by the command's number and
/// first words.
fn kind_name(scripts: &[Script], script: usize, command: usize) -> String {
    let script = &scripts[script];
    match script.statements().count() {
        1 => script.name.clone(),
        _ => format!(
            "{} {} {}",
            script.name,
            command + 1,
            first_words(&script.commands[command].line)
        ),
    }
}

/// The error reported by a script, kept for the failure.
#[derive(Default)]
struct FirstError(Mutex<Option<String>>);

impl Terminal for FirstError {
    fn result(&self, _text: &str) {}

    /// The first message is the reason; the following ones are details.
    fn message(&self, text: &str) {
        let mut first_error = lock(&self.0);
        let text = text.trim_end().trim_start_matches("pgbench: error: ");
        if first_error.is_none() && !text.starts_with("client ") {
            *first_error = Some(text.to_owned());
        }
    }
}

/// State of a client.
pub struct Client {
    performer: Performer,
    first_error: Arc<FirstError>,
    /// The variables at the start of every transaction.
    beginning: Variables,
}

impl Client {
    /// The failure of a script that cannot continue, with the script's name and its own message if
    /// there is one.
    fn problem(&self, script: usize, failure: OperationFailure) -> OperationFailure {
        let first_error = lock(&self.first_error.0).take();
        if failure.is_answered() || failure.kind != FailureKind::Other {
            return failure;
        }
        let name = &self.performer.program.scripts[script].name;
        let message = first_error.unwrap_or(failure.message);
        FailureKind::BadStatement.failure(format!("the script {name}: {message}"))
    }
}

impl Transactions {
    /// Measures one trial: for one database, or for each database among which the clients are
    /// distributed.
    ///
    /// # Errors
    /// As [`run_groups_trial`].
    pub fn run(
        all: Vec<Self>,
        input: &TrialInput<'_>,
        listener: &mut dyn Listener,
    ) -> Result<TrialRecord, TrialError> {
        run_groups_trial(all, input, listener)
    }
}

impl Workload for Transactions {
    type Client = Client;
    type Baseline = Vec<i64>;

    fn kinds(&self) -> Vec<&'static str> {
        self.program.kinds.clone()
    }

    fn commit_kinds(&self) -> Vec<usize> {
        let Program { scripts, kind_of, .. } = &*self.program;
        let all = scripts
            .iter()
            .zip(kind_of)
            .flat_map(|(script, kinds)| script.commands.iter().zip(kinds));
        let commit_kinds = all.filter(|(command, _)| {
            matches!(command.action, Action::Sql(_)) && begins_with(&command.line, &["commit"])
        });
        commit_kinds.map(|(_, kind)| usize::from(*kind)).collect()
    }

    fn session_setup(&self) -> Vec<String> {
        self.isolation.iter().cloned().collect()
    }

    fn begin(&self) -> Option<&'static str> {
        None
    }

    fn only_reads(&self) -> bool {
        self.writing().is_none()
    }

    fn data(&self) -> &dyn DataSet {
        &*self.data
    }

    fn client(&self, id: ClientId) -> Client {
        let mut beginning = self.beginning.clone();
        let client_id = self.program.names.find("client_id").expect("every program knows it");
        beginning.set(client_id, Value::Integer(id.0.into()));
        let first_error = Arc::new(FirstError::default());
        let teller: Arc<dyn Terminal> = Arc::clone(&first_error) as Arc<dyn Terminal>;
        let performer =
            Performer::new(&self.program, id.0, beginning.clone(), Generator::new(0), teller);
        Client { performer, first_error, beginning }
    }

    fn transactions(&self) -> Vec<&'static str> {
        self.program.scripts.iter().map(|script| intern(&script.name)).collect()
    }

    fn transaction_name(&self, _client: &mut Client, _sequence: u64, random: &mut Random) -> u16 {
        self.program.chosen(random.below(self.program.weights)) as u16
    }

    fn think(&self, name_index: u16) -> Option<Nanos> {
        self.think[usize::from(name_index)]
    }

    async fn transaction(
        &self,
        client: &mut Client,
        sequence: u64,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        let script = usize::from(self.transaction_name(client, sequence, random));
        self.audit.begins(script);
        let outcome = self.perform(script, client, session, random).await;
        self.audit.ends(script, &outcome);
        outcome
    }

    /// Also finds the statements that the server can prepare, because their tables exist now.
    async fn baseline(&self, connection: &mut Connection) -> Result<Vec<i64>, OperationFailure> {
        if self.program.query_mode != QueryMode::Simple {
            let which = StatementFilter::WithVariables;
            let tried = sending::tried(&self.program, &self.beginning, which, connection).await?;
            self.program.sent_as_text.get_or_init(|| tried.as_text);
        }
        self.audit.values(connection).await
    }

    fn sent_as_text(&self) -> Vec<&'static str> {
        let kinds = self.program.sent_as_text.get().into_iter().flatten();
        kinds.map(|kind| self.program.kinds[usize::from(*kind)]).collect()
    }

    fn export_counts(&self) -> Vec<u64> {
        self.audit.export_counts()
    }

    fn import_counts(&self, exported: &[u64]) {
        self.audit.import_counts(exported);
    }

    async fn audit(
        &self,
        connection: &mut Connection,
        facts: &AuditFacts<'_, Vec<i64>>,
    ) -> Result<Vec<AuditCheck>, OperationFailure> {
        self.audit.checks(connection, &facts.baseline).await
    }
}

impl Transactions {
    /// Executes a script once.
    async fn perform(
        &self,
        script: usize,
        client: &mut Client,
        session: &mut Session,
        random: &mut Random,
    ) -> Result<(), OperationFailure> {
        let performer = &mut client.performer;
        performer.random = Generator::new(random.next_u64());
        performer.variables.clone_from(&client.beginning);
        performer.has_waited = false;
        let outcome = attempt(performer, session, script).await;
        if !performer.has_waited {
            // A script whose branches send nothing would block the others of its thread.
            session.yield_now().await;
        }
        let failure = match outcome {
            Ok(()) if !session.connection().is_in_transaction() => return Ok(()),
            Ok(()) => FailureKind::Other
                .failure("it ends inside of a transaction; end it with COMMIT or ROLLBACK"),
            Err(Stop::Conflict { failure, .. } | Stop::Abort(failure)) => failure,
        };
        let failure = client.problem(script, failure);
        if failure.is_lost() {
            return Err(failure);
        }
        match roll_back(session).await {
            Err(lost) => Err(lost),
            Ok(()) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::catalog::ScriptText;

    fn built(scripts: &[(&str, u32, &str)]) -> Result<Transactions, String> {
        let script = |(name, weight, text): &(&str, u32, &str)| ScriptText {
            name: (*name).to_owned(),
            weight: *weight,
            think: None,
            text: (*text).to_owned(),
            file: None,
        };
        let scripts = OptionValue::Scripts(scripts.iter().map(script).collect());
        let mut options = description().defaults();
        options.0.insert(SCRIPTS.to_owned(), scripts);
        Transactions::build(&options, Engine::Postgres, QueryMode::Prepared)
    }

    #[test]
    fn statements_have_a_kind_a_single_one_named_after_its_script() {
        let order = "\\set id 1 + 1\nBEGIN;\nINSERT INTO orders VALUES (:id);\nEND;";
        let workload = built(&[("read", 8, "SELECT 1;"), ("order", 1, order)])
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            workload.kinds(),
            ["read", "order 2 BEGIN", "order 3 INSERT INTO orders", "order 4 END"]
        );
        assert_eq!(
            workload.commit_kinds(),
            [] as [usize; 0],
            "END is no word that a server counts as COMMIT"
        );
        assert_eq!(workload.program.weights, 9);
        let chosen: Vec<usize> = (0..9).map(|drawn| workload.program.chosen(drawn)).collect();
        assert_eq!(chosen, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(workload.writing(), Some(("order", "INSERT INTO orders VALUES (:id);")));
    }

    #[test]
    fn a_script_with_an_error_is_reported_before_anything_runs() {
        let refusal = |text: &str| built(&[("q", 1, text)]).err().unwrap_or_default();
        assert!(
            refusal("SELECT :idd;")
                .starts_with("the script q: nothing sets `:idd`\nhint: pass -D idd=VALUE")
        );
        for text in [
            "SELECT :scale;",
            "\\set a random(1, 10 * :scale)\nSELECT :a;",
            "\\if :scale > 1\nSELECT 1;\n\\endif",
            "\\sleep :scale s\nSELECT 1;",
        ] {
            assert!(
                refusal(text)
                    .starts_with("the script q: nothing sets `:scale`; dyno does not count"),
                "{text}"
            );
        }
        let remedy = format!("\nhint: {NO_STATEMENT}");
        assert_eq!(refusal("\\set x 1\n"), format!("the script q sends no statement{remedy}"));
        for empty in ["", "-- only\n"] {
            let text = format!("empty command list for script \"q\"{remedy}");
            assert_eq!(refusal(empty), text);
        }
        assert_eq!(
            refusal("SELECT 1;\n\\sett x 1\nSELECT :x;\n"),
            "q:2: invalid command in command \"sett\"\n\\sett x 1\nhint: did you mean `\\set`?"
        );
        let function = refusal("\\set x rondom(1, 2)\nSELECT :x;");
        assert!(function.ends_with("\nhint: did you mean `random`?"), "{function}");
        for text in [
            "SELECT id FROM t \\gset\nSELECT :id;",
            "SELECT count(*) AS Rows FROM t \\gset his_\nSELECT :his_rows;",
            "SELECT * FROM t \\gset\nSELECT :id;",
            "SHOW work_mem \\gset\nSELECT :memory;",
        ] {
            assert_eq!(refusal(text), "", "{text}");
        }
        assert!(
            refusal("SELECT id, count(*) FROM t \\gset\nUPDATE t SET n = n + :idd;")
                .starts_with("the script q: nothing sets `:idd`")
        );
        assert_eq!(refusal("SELECT :client_id;"), "");
    }

    #[test]
    fn a_script_is_atomic_when_it_is_one_statement_or_one_transaction() {
        for (text, expected) in [
            ("UPDATE t SET x = 1;", true),
            ("\\set a 1\nBEGIN;\nUPDATE t SET x = 1;\nUPDATE t SET x = 2;\nEND;", true),
            ("UPDATE t SET x = 1;\nUPDATE t SET x = 2;", false),
            ("BEGIN;\nUPDATE t SET x = 1;\nCOMMIT;\nUPDATE t SET x = 2;\nCOMMIT;", false),
            ("BEGIN;\nUPDATE t SET x = 1;\nCREATE TABLE u (a int);\nCOMMIT;", false),
        ] {
            let workload = built(&[("q", 1, text)]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(is_whole(&workload.program.scripts[0]), expected, "{text}");
        }
    }

    #[test]
    fn read_only_scripts_are_recognised_by_their_words() {
        for (text, is_writing) in [
            ("select 1; (SELECT 2); WITH a AS (SELECT 1) SELECT * FROM a;", false),
            ("BEGIN; SELECT 1; COMMIT;", false),
            ("SELECT 1; update t set x = 1;", true),
            ("SELECT 1 \\; DELETE FROM t;", true),
            ("WITH a AS (SELECT 1)\nDELETE FROM t;", true),
            ("CALL p();", true),
            ("DROP TABLE t;", true),
        ] {
            let workload = built(&[("q", 1, text)]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(workload.writing().is_some(), is_writing, "{text}");
        }
    }

    #[test]
    fn for_a_script_that_writes_once_all_its_changes_are_reported() {
        for (text, expected) in [
            ("INSERT INTO a VALUES (1); SELECT 1 \\; DELETE FROM b;", Some("a b from into")),
            ("INSERT INTO a VALUES (1); WITH x AS (SELECT 1) DELETE FROM b;", None),
            ("INSERT INTO a VALUES (1); EXPLAIN ANALYZE DELETE FROM b;", None),
            ("INSERT INTO a VALUES (1) \\;\nDELETE FROM b;", Some("a b from into")),
            ("INSERT INTO a VALUES (1); SELECT 1;", Some("a into")),
        ] {
            let workload = built(&[("q", 1, text)]).unwrap_or_else(|error| panic!("{error}"));
            let changes =
                workload.changes().map(|words| words.into_iter().collect::<Vec<_>>().join(" "));
            assert_eq!(changes.as_deref(), expected, "{text}");
        }
    }
}
