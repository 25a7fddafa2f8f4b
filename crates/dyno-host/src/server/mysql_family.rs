//! MariaDB's and MySQL's servers.

use super::ServerError;
use super::binary::helper;
use super::process::{ACCOUNT, Recipe, Site, path_text};
use crate::guard::{Launch, StopSignal, StopStep};
use crate::session::Session;
use crate::settings::listed_name;
use dyno_model::failure::OperationFailure;
use dyno_model::plan::ServerKind;
use dyno_model::target::Engine;
use std::fs;
use std::time::Duration;

/// Options that dyno gives.
pub(super) const RESERVED: [(&[&str], &str); 4] = [
    (
        &[
            "port",
            "socket",
            "bind_address",
            "skip_networking",
            "extra_port",
            "mysqlx",
            "mysqlx_port",
            "mysqlx_socket",
            "admin_address",
        ],
        "dyno chooses where the server listens",
    ),
    (
        &["datadir", "basedir", "tmpdir", "pid_file", "log_error", "init_file", "user", "chroot"],
        "dyno chooses the server's folders, files and user",
    ),
    (
        &["defaults_file", "defaults_extra_file", "no_defaults", "defaults_group_suffix"],
        "dyno gives all settings itself, so that no other file can change them",
    ),
    (
        &["skip_grant_tables", "daemonize", "bootstrap", "initialize", "initialize_insecure"],
        "dyno needs an ordinary server",
    ),
];

/// Settings that a data folder is made with and that cannot be changed later.
const LASTING: [&str; 8] = [
    "innodb_checksum_algorithm",
    "innodb_data_file_path",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_size",
    "innodb_undo_tablespaces",
    "lower_case_table_names",
    "plugin_load_add",
];

/// Both servers allow this many connections by default.
const CONNECTIONS_DEFAULT: u32 = 151;

pub(super) const RECIPE: Recipe = Recipe { initialise, launch, identity, furnish, stop };

fn initialise(site: &Site<'_>) -> Result<Vec<Launch>, ServerError> {
    let is_lasting = |name: &str| LASTING.contains(&listed_name(Engine::Mysql, name).as_str());
    let lasting = site.server.settings.iter().filter(|(name, _)| is_lasting(name));
    let mut arguments = vec!["--no-defaults".to_owned(), format!("--datadir={}", path_text(&site.data()))];
    let program = if site.binary.kind == ServerKind::Mysql {
        arguments.push("--initialize-insecure".to_owned());
        site.binary.program.clone()
    } else {
        // Root gets in by being the operating system's user only; no account is without a lock.
        arguments.push("--auth-root-authentication-method=socket".to_owned());
        arguments.push("--skip-test-db".to_owned());
        // An installation that was merely unpacked does not know where it lies.
        if let Some(base) = site.binary.folder().parent()
            && base.join("scripts").is_dir()
        {
            arguments.push(format!("--basedir={}", path_text(base)));
        }
        helper(&site.binary, &["mariadb-install-db", "mysql_install_db"])?
    };
    arguments.extend(redo_log(site));
    arguments.extend(lasting.map(|(name, value)| format!("--{}={value}", name.trim_start_matches('-'))));
    Ok(vec![site.launch(program, arguments, site.initialise_log())])
}

fn launch(site: &Site<'_>) -> Result<Launch, ServerError> {
    let accounts = site.own.join("accounts.sql");
    if !site.is_restored && !accounts.exists() {
        site.write_private("accounts.sql", &account_statements(site))?;
    }
    let mut arguments = vec![
        "--no-defaults".to_owned(),
        format!("--datadir={}", path_text(&site.data())),
        format!("--tmpdir={}", path_text(&site.temporary())),
        format!("--socket={}", path_text(&site.socket())),
        format!("--pid-file={}", path_text(&site.folder.join("pid"))),
        format!("--port={}", site.port),
        "--bind-address=127.0.0.1".to_owned(),
    ];
    if !site.is_restored {
        arguments.push(format!("--init-file={}", path_text(&accounts)));
    }
    if site.binary.kind == ServerKind::Mysql {
        arguments.push("--loose-mysqlx=OFF".to_owned());
    }
    arguments.extend(redo_log(site));
    if site.asked("local_infile").is_none() {
        arguments.push("--local-infile=ON".to_owned());
    }
    if site.asked("max_connections").is_none() && site.connections > CONNECTIONS_DEFAULT {
        arguments.push(format!("--max-connections={}", site.connections));
    }
    // Each client prepares its statements on every table; the usual limit of 16,382 is reached with 300 clients.
    if site.asked("max_prepared_stmt_count").is_none() {
        arguments.push("--max-prepared-stmt-count=1048576".to_owned());
    }
    arguments.extend(
        site.server
            .settings
            .iter()
            .map(|(name, value)| format!("--{}={value}", name.trim_start_matches('-'))),
    );
    Ok(site.launch(site.binary.program.clone(), arguments, site.log()))
}

/// Where the redo log is, when it is not with the data.
fn redo_log(site: &Site<'_>) -> Option<String> {
    let folder = site.log_folder.as_ref()?;
    Some(format!("--innodb-log-group-home-dir={}", path_text(folder)))
}

/// Run by the server before it takes connections. It reads one statement per line.
fn account_statements(site: &Site<'_>) -> String {
    let root = match site.binary.kind {
        // `--initialize-insecure` makes it without a password.
        ServerKind::Mysql => "ALTER USER 'root'@'localhost' ACCOUNT LOCK;\n",
        _ => "",
    };
    let password = site.password.reveal();
    format!(
        "{root}CREATE DATABASE {ACCOUNT};\n\
         CREATE USER '{ACCOUNT}'@'%' IDENTIFIED BY '{password}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{ACCOUNT}'@'%' WITH GRANT OPTION;\n"
    )
}

fn identity(site: &Site<'_>) -> (&'static str, String) {
    ("SELECT @@datadir", path_text(&site.data()))
}

fn furnish(site: &Site<'_>, _session: &mut Session) -> Result<(), OperationFailure> {
    // It has done its work and holds the password.
    let _ = fs::remove_file(site.own.join("accounts.sql"));
    Ok(())
}

fn stop(patience: Duration) -> Vec<StopStep> {
    vec![StopStep::new(StopSignal::Terminate, patience)]
}
