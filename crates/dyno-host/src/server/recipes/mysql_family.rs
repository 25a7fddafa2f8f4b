//! Servers of MariaDB and MySQL.

use crate::control_connection::ControlConnection;
use crate::error::HostError;
use crate::server::binary::{helper, newest_first};
use crate::server::instance::{ACCOUNT, Recipe, ServerInstance, path_text};
use crate::settings::listed_name;
use crate::storage::TransactionLog;
use crate::supervisor::{Launch, StopStep, SupervisorSignal};
use dyno_model::engine::{Clustering, Engine, Product};
use dyno_model::failure::OperationFailure;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Settings that are fixed when a data folder is created.
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

/// The default limit of both servers.
const CONNECTIONS_DEFAULT: u32 = 151;

pub(in crate::server) const MARIADB: Recipe = Recipe {
    programs: &["mariadbd", "mysqld"],
    folders: |_environment| {
        let folders = ["/usr/local/mariadb/bin", "/opt/mariadb/bin", "/usr/local/mysql/bin"];
        SYSTEM_FOLDERS.into_iter().chain(folders).map(PathBuf::from).collect()
    },
    version_arguments: &["--no-defaults", "--version"],
    claim,
    user: "mysql",
    check: |server| {
        let begin = ["--no-defaults"].map(str::to_owned).into_iter();
        Some(
            begin
                .chain(options(&server.settings))
                .chain(["--verbose", "--help"].map(str::to_owned))
                .collect(),
        )
    },
    check_further: |_server, _binary| Ok(()),
    socket_name: |_port| "socket".to_owned(),
    log: TransactionLog::Files(|name| name.starts_with("ib_logfile") || name == "#innodb_redo"),
    reserved: &[],
    complete: |_binary| Ok(()),
    initialise,
    launch,
    identity: "SELECT @@datadir",
    configure_account,
    stop,
};

pub(in crate::server) const MYSQL: Recipe = Recipe {
    programs: &["mysqld"],
    folders: |environment| {
        let folders = SYSTEM_FOLDERS.into_iter().chain(["/usr/local/mysql/bin", "/opt/mysql/bin"]);
        // Installed there by scripts/servers.
        let servers = environment("DYNO_SERVERS_DIR")
            .map_or_else(|| "/opt/dyno-servers".into(), PathBuf::from);
        folders.map(PathBuf::from).chain(newest_first(&servers, "mysql-", "bin")).collect()
    },
    check: |server| {
        // Plug-ins are not loaded by this command, so their settings would be unknown.
        if server.settings.keys().any(|name| name.replace('-', "_").contains("plugin_load")) {
            return None;
        }
        // Without the last option it does not report values that it would adjust.
        let begin =
            ["--no-defaults", "--validate-config", "--log-error-verbosity=2"].map(str::to_owned);
        let user = rustix::process::geteuid().is_root().then(|| "--user=mysql".to_owned());
        Some(begin.into_iter().chain(options(&server.settings)).chain(user).collect())
    },
    ..MARIADB
};

/// Common locations of both servers' programs.
const SYSTEM_FOLDERS: [&str; 4] =
    ["/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin"];

/// The text begins with the program's path, which may contain version numbers.
fn claim(text: &str) -> Option<&str> {
    Some(text.rsplit_once("Ver ").map_or(text, |(_, claim)| claim))
}

/// Settings as options of the program.
fn options(settings: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    settings.iter().map(|(name, value)| format!("--{}={value}", name.trim_start_matches('-')))
}

fn initialise(instance: &ServerInstance<'_>) -> Result<Vec<Launch>, HostError> {
    let is_lasting = |name: &str| LASTING.contains(&listed_name(Engine::Mysql, name).as_str());
    let lasting = instance.server.settings.iter().filter(|(name, _)| is_lasting(name));
    let mut arguments = vec![
        "--no-defaults".to_owned(),
        format!("--datadir={}", path_text(&instance.directories.data())),
    ];
    let program = if instance.binary.kind.product() == Product::Mysql {
        arguments.push("--initialize-insecure".to_owned());
        instance.binary.program.clone()
    } else {
        // Root can only log in as the operating system's user; no account is without
        // authentication.
        arguments.push("--auth-root-authentication-method=socket".to_owned());
        arguments.push("--skip-test-db".to_owned());
        // An unpacked archive does not know its own location.
        if let Some(base) = instance.binary.folder().parent()
            && base.join("scripts").is_dir()
        {
            arguments.push(format!("--basedir={}", path_text(base)));
        }
        helper(&instance.binary, &["mariadb-install-db", "mysql_install_db"])?
    };
    arguments.extend(redo_log(instance));
    arguments
        .extend(lasting.map(|(name, value)| format!("--{}={value}", name.trim_start_matches('-'))));
    Ok(vec![instance.directories.launch(program, arguments, instance.directories.initialise_log())])
}

pub(in crate::server) fn launch(instance: &ServerInstance<'_>) -> Result<Launch, HostError> {
    let accounts = instance.directories.own.join("accounts.sql");
    if !instance.has_accounts && !accounts.exists() {
        instance.directories.write_private("accounts.sql", &account_statements(instance))?;
    }
    let mut arguments = vec![
        "--no-defaults".to_owned(),
        format!("--datadir={}", path_text(&instance.directories.data())),
        format!("--tmpdir={}", path_text(&instance.directories.temporary())),
        format!("--socket={}", path_text(&instance.socket())),
        format!("--pid-file={}", path_text(&instance.directories.folder.join("pid"))),
        format!("--port={}", instance.port),
        "--bind-address=127.0.0.1".to_owned(),
    ];
    if !instance.has_accounts {
        arguments.push(format!("--init-file={}", path_text(&accounts)));
    }
    if instance.binary.kind.product() == Product::Mysql {
        arguments.push("--loose-mysqlx=OFF".to_owned());
    }
    arguments.extend(redo_log(instance));
    arguments.extend(instance.default_option("local_infile", "ON"));
    if instance.connections > CONNECTIONS_DEFAULT {
        arguments
            .extend(instance.default_option("max_connections", &instance.connections.to_string()));
    }
    // Each client prepares its statements on every table; 300 clients reach the default limit of
    // 16,382.
    arguments.extend(instance.default_option("max_prepared_stmt_count", "1048576"));
    arguments.extend(options(&instance.server.settings));
    Ok(instance.directories.launch(
        instance.binary.program.clone(),
        arguments,
        instance.directories.log(),
    ))
}

/// The redo log's folder, when it is separate from the data.
fn redo_log(instance: &ServerInstance<'_>) -> Option<String> {
    let folder = instance.log_folder.as_ref()?;
    Some(format!("--innodb-log-group-home-dir={}", path_text(folder)))
}

/// Executed by the server before it accepts connections. It reads one statement per line.
fn account_statements(instance: &ServerInstance<'_>) -> String {
    // `--initialize-insecure` creates root without a password.
    let root = if instance.binary.kind.product() == Product::Mysql {
        "ALTER USER 'root'@'localhost' ACCOUNT LOCK;\n"
    } else {
        ""
    };
    // NDB drops accounts with this privilege that it does not store itself; each SQL node has its
    // own.
    let alone = match instance.binary.kind.clustering() {
        Clustering::DataNodes => format!("REVOKE NDB_STORED_USER ON *.* FROM '{ACCOUNT}'@'%';\n"),
        _ => String::new(),
    };
    let password = instance.password.reveal();
    format!(
        "{root}CREATE DATABASE IF NOT EXISTS {ACCOUNT};\n\
         CREATE USER '{ACCOUNT}'@'%' IDENTIFIED BY '{password}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{ACCOUNT}'@'%' WITH GRANT OPTION;\n{alone}"
    )
}

fn configure_account(
    instance: &ServerInstance<'_>,
    _session: &mut ControlConnection,
) -> Result<(), OperationFailure> {
    // It is no longer needed and contains the password.
    let _ = fs::remove_file(instance.directories.own.join("accounts.sql"));
    Ok(())
}

fn stop(timeout: Duration) -> Vec<StopStep> {
    vec![StopStep { signal: SupervisorSignal::Terminate, timeout }]
}
