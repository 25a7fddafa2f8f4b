//! `dyno init`: writes a first spec, based on the tables of a database, or for a server that dyno
//! starts.

use crate::cli::InitArguments;
use crate::failure::Failure;
use crate::one_line::{self, BLOCKS, CLIENTS, DURATION, OneLineArguments, WARMUP, quoted};
use crate::preflight::to_come;
use crate::printer::Printer;
use crate::spec_file;
use dyno_analysis::figures::{group, megabytes};
use dyno_host::survey::{DatabaseInfo, TableInfo, survey};
use dyno_host::{existing, probe, server};
use dyno_model::catalog::WorkloadDescription;
use dyno_model::exit_code;
use dyno_model::plan::{ServerKind, SystemSource};
use dyno_model::printable::{file_name, line};
use dyno_model::target::Endpoint;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of tables listed in a spec; a database may have thousands.
const TABLES_SHOWN: usize = 20;
/// Connections reserved for others where the server has a limit.
const CONNECTIONS_SPARE: u64 = 10;
/// Workload for a database without tables, with rows of about 200 bytes.
const WORKLOAD: &str = "kind = \"oltp_read_write\"   # `dyno workloads` lists the others, and what \
     can be changed\n\
     tables = 1\n\
     table_size = 100000        # about 25 MB, which fits into any cache; choose more than the \
     memory to measure the disk\n";

/// Writes a spec, and a script next to it.
///
/// # Errors
/// When the database cannot be reached, or a file already exists or cannot be written.
pub(crate) fn init(
    arguments: &InitArguments,
    catalog: &[WorkloadDescription],
    printer: Printer,
) -> Result<u8, Failure> {
    if let Some(out) =
        arguments.out.as_ref().filter(|out| out.extension().is_none_or(|it| it != "toml"))
    {
        let text = format!("{} is not a valid name of a spec", out.display());
        return Err(Failure::new(exit_code::USAGE, text)
            .help("the name of a spec ends in .toml; its script gets .sql"));
    }
    let first_spec = match &arguments.url {
        Some(url) => of_database(url, arguments.out.as_deref(), catalog)?,
        None => of_server(arguments.out.as_deref()),
    };
    let FirstSpec { spec, text, script } = first_spec;
    for path in std::iter::once(&spec).chain(script.iter().map(|(path, _)| path)) {
        if path.exists() {
            let text = format!("{} exists already", path.display());
            return Err(
                Failure::new(exit_code::USAGE, text).help("name another file: --out FILE.toml")
            );
        }
    }
    if let Some((path, text)) = &script {
        write(path, text)?;
    }
    write(&spec, &text).inspect_err(|_| {
        // A script without a spec is useless.
        script.iter().for_each(|(path, _)| drop(std::fs::remove_file(path)));
    })?;
    let spec = spec.display();
    let files =
        script.map_or(spec.to_string(), |(path, _)| format!("{spec} and {}", path.display()));
    let variable = arguments.url.as_deref().and_then(one_line::password_variable);
    let export = variable.map_or_else(String::new, |name| {
        format!("export {name}='...' with the password, which dyno does not store; then ")
    });
    printer.prose(&format!(
        "Wrote {files}.\nNext: {export}`dyno plan {spec}` shows what it does, `dyno run {spec}` \
         does it."
    ))?;
    Ok(exit_code::OK)
}

/// Writes a file that must not exist.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written =
        std::fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Failure::cannot("write", path, &error))
}

/// Files to write.
struct FirstSpec {
    spec: PathBuf,
    text: String,
    script: Option<(PathBuf, String)>,
}

/// A spec for a server that dyno starts: the first installed one, else the built-in SQLite.
fn of_server(out: Option<&Path>) -> FirstSpec {
    let installed =
        ServerKind::FAMILIAR.into_iter().find(|kind| server::locate(*kind, None).is_ok());
    let kind = installed.unwrap_or(ServerKind::BUILT_IN);
    let factor = kind.engine().traits().example_factor;
    let mut text = format!(
        "# Written by `dyno init`. Adapt it as needed.\n\
         title = \"First measurements of {kind}\"\n\n\
         [[system]]\nname = \"{kind}\"\n\
         server = {{ kind = \"{kind}\" }}   # dyno starts it in a scratch folder, and removes it \
         afterwards\n\n\
         [workload]\n{WORKLOAD}\n\
         # Factors: every combination of levels is measured.\n\
         # [factors]\n# {factor}\n\n"
    );
    text.push_str(&load_section(
        &CLIENTS,
        "clients beyond the server's number of processors wait for each other",
    ));
    FirstSpec {
        spec: out.map_or_else(|| PathBuf::from(format!("{kind}.toml")), Path::to_owned),
        text,
        script: None,
    }
}

/// A spec for an existing database.
fn of_database(
    url: &str,
    out: Option<&Path>,
    catalog: &[WorkloadDescription],
) -> Result<FirstSpec, Failure> {
    let cannot = |error: String| Failure::new(exit_code::SERVER_FAILED, error);
    let (name, one) = OneLineArguments::of_workload("rush").spec(url, None, None)?;
    let plan = spec_file::of_line(&name, &one, catalog)?;
    let system = &plan.systems[0];
    let SystemSource::Existing(source) = &system.source else {
        unreachable!("a URL names an existing system")
    };
    let to_come = to_come(source);
    let requested = to_come.as_ref().unwrap_or(source);
    let connected = existing::connect(
        requested,
        system.query_mode,
        system.connect_timeout.into(),
        &BTreeMap::new(),
    );
    let connected = connected.map_err(|error| cannot(error.to_string()))?;
    let refused = |error| cannot(format!("cannot list the tables of {name}: {error}"));
    let found = survey(&connected.target).map_err(refused)?.ok_or_else(|| {
        let text = format!("{name} has no tables to examine: it is {}", source.engine);
        Failure::new(exit_code::USAGE, text)
            .help("see `dyno run URL --workload NAME` and the guide for what can be measured there")
    })?;
    let limit = probe::connection_limit(&connected.target).map_err(refused)?;
    let spec =
        out.map_or_else(|| PathBuf::from(format!("{}.toml", file_name(&name))), Path::to_owned);
    let mut text = format!(
        "# Written by `dyno init` for {} ({}, {}). Adapt it as needed.\n\
         title = {}\n\n[[system]]\nname = {}\n",
        line(&name),
        source.engine,
        line(&connected.version),
        quoted(&format!("My SQL on {name}")),
        quoted(&name),
    );
    text.push_str(&address(url, &source.endpoint, &spec));
    let script = (!found.tables.is_empty()).then(|| (spec.with_extension("sql"), script(&found)));
    match &script {
        Some((path, _)) => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let _ = write!(
                text,
                "data = \"existing\"   # dyno creates no tables, and makes the clients' sessions \
                 read-only\n\n{}\n\
                 [workload]\nkind = \"sql\"\nscripts = [{}]   # one file per kind of transaction, \
                 optionally with weights: [\"read.sql@8\", \"list.sql@1\"]\n\n",
                listed(&found),
                quoted(&file),
            );
        }
        // An empty database needs no permission to be written to.
        None => {
            let _ = write!(
                text,
                "\n# The database has no tables yet: dyno creates those of a built-in \
                 workload.\n[workload]\n{WORKLOAD}\n"
            );
        }
    }
    let room = limit
        .map(|limit| limit.max.saturating_sub(limit.reserved + limit.in_use + CONNECTIONS_SPARE));
    let room = |clients: &&u32| room.is_none_or(|room| u64::from(**clients) <= room.max(1));
    let clients: Vec<u32> = CLIENTS.iter().filter(room).copied().collect();
    let remark = limit.map_or_else(String::new, |limit| {
        format!("the server accepts {} connections; in use: {}", limit.max, limit.in_use)
    });
    text.push_str(&load_section(&clients, &remark));
    Ok(FirstSpec { spec, text, script })
}

/// The address of the database without its password; a file's path is valid from any folder of the
/// spec.
fn address(url: &str, endpoint: &Endpoint, spec: &Path) -> String {
    let is_elsewhere = spec.parent().is_some_and(|folder| !folder.as_os_str().is_empty());
    match endpoint {
        Endpoint::File(file) if is_elsewhere => {
            let whole = std::fs::canonicalize(file).or_else(|_| std::path::absolute(file));
            let whole = whole.unwrap_or_else(|_| file.clone());
            format!("url = {}\n", quoted(&format!("sqlite://{}", whole.display())))
        }
        _ => one_line::address(url),
    }
}

/// The tables of the database, as comments.
fn listed(found: &DatabaseInfo) -> String {
    let mut text =
        "# Tables, the largest first; numbers of rows are the server's estimates.\n".to_owned();
    let width = found
        .tables
        .iter()
        .take(TABLES_SHOWN)
        .map(|table| table.name.chars().count())
        .max()
        .unwrap_or(0);
    for table in found.tables.iter().take(TABLES_SHOWN) {
        let TableInfo { name, rows, bytes, indexes, .. } = table;
        let rows = rows.map_or_else(|| "?".to_owned(), |rows| group(&rows.to_string()));
        let bytes = bytes.map_or_else(|| "?".to_owned(), megabytes);
        let indexes: Vec<String> = indexes.iter().map(|columns| columns.join(", ")).collect();
        let indexes = if indexes.is_empty() {
            "no index".to_owned()
        } else {
            format!("indexes: {}", indexes.join("; "))
        };
        // A name may contain a line break, which would end the comment.
        let row = format!("#   {name:width$}  {rows:>13} rows  {bytes:>11}  {indexes}");
        let _ = writeln!(text, "{}", line(&row));
    }
    if found.tables.len() > TABLES_SHOWN {
        let _ = writeln!(text, "#   and {} more", found.tables.len() - TABLES_SHOWN);
    }
    let bytes = found.bytes();
    if let (Some((name, memory)), 1..) = (&found.cache, bytes) {
        let meaning = if bytes <= *memory {
            "so all of it fits into memory, and reads do not measure the disk"
        } else {
            "so not all of it fits; the operating system's page cache comes on top"
        };
        let _ = writeln!(
            text,
            "# Total: {}; {name} is {}, {meaning}.",
            megabytes(bytes),
            megabytes(*memory)
        );
    }
    text
}

/// A first transaction: selects a row of the largest table with a suitable key.
fn script(found: &DatabaseInfo) -> String {
    let head = "-- One transaction of the workload; put your own SQL here. As in pgbench scripts, \
                statements end in semicolons,\n\
                -- \\set draws a value, and :id refers to it.\n";
    let drawn = found.tables.iter().find_map(|table| Some((table, table.key.as_ref()?)));
    match drawn {
        Some((table, key)) => format!(
            "{head}\\set id random({}, {})\nSELECT * FROM {} WHERE {} = :id;\n",
            key.first, key.last, table.sql, key.sql
        ),
        None => format!(
            "{head}-- No table has rows and an integer primary key to draw them by.\nSELECT 1;\n"
        ),
    }
}

/// Load and blocks. `remark` is a comment on the numbers of clients.
fn load_section(clients: &[u32], remark: &str) -> String {
    let remark = if remark.is_empty() { String::new() } else { format!("   # {remark}") };
    format!(
        "[load]\nclients = {clients:?}{remark}\nduration = \"{DURATION}\"   # measured time of each \
         trial\nwarmup = \"{WARMUP}\"\n\n\
         [design]\nblocks = {BLOCKS}   # repeats; with fewer there are no verdicts\n\n\
         # Limits to pass: the report and the exit code show the result.\n\
         # [[limit]]\n# p99 = \"< 20ms\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_passwords_are_not_written_and_a_variable_replaces_them() {
        let tcp = || Endpoint::Tcp { host: "h".to_owned(), port: 1 };
        for (url, variable) in [
            ("mysql://me:s3cret@h/shop", "MYSQL_PWD"),
            ("postgres://me:s3cret@h/shop", "PGPASSWORD"),
        ] {
            let text = address(url, &tcp(), Path::new("shop.toml"));
            assert!(!text.contains("s3cret") && text.contains("me@h/shop"), "{text}");
            assert!(text.contains(&format!("password_env = \"{variable}\"")), "{text}");
            assert_eq!(one_line::password_variable(url), Some(variable));
        }
        let without = "mysql://me@h/shop";
        assert_eq!(
            address(without, &tcp(), Path::new("shop.toml")),
            format!("url = \"{without}\"\n")
        );
        assert_eq!(one_line::password_variable(without), None);
    }
}
