//! The commands of `crud` as requests to an application in front of the database, which returns the
//! database's results.

use super::command::{CHECK, KINDS, SELECT};
use crate::session::Session;
use dyno_drivers::http::{self, Exchange};
use dyno_drivers::{Connection, Outcome, Table};
use dyno_model::failure::{FailureKind, OperationFailure};
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

/// An application answers when its database does; requests that take too long are cut off with the
/// trial.
const TIMEOUT: Duration = Duration::from_secs(3600);
/// Longest answer: ten thousand rows of a hundred bytes and more.
const BODY_MAX: u64 = 16 << 20;

/// Writes the address of a kind of command, with the first and last row if it works on rows.
pub(super) fn address(kind_index: u16, table: &str, rows: Option<(u64, u64)>, out: &mut String) {
    let _ = write!(out, "/{}?table={table}", KINDS[usize::from(kind_index)]);
    if let Some((first, last)) = rows {
        let _ = write!(out, "&first={first}&last={last}");
    }
}

/// Sends a command and measures it. `answer` receives its rows, if any.
pub(super) async fn send_command(
    session: &mut Session,
    kind_index: u16,
    address: &str,
    answer: &mut Table,
) -> Result<Outcome, OperationFailure> {
    if !service(session.connection())?.is_open() {
        session.renew().await?;
    }
    let is_read = [SELECT, CHECK].contains(&kind_index);
    let service_of_client = service(session.connection())?;
    let (method, length) = if is_read { ("GET", "") } else { ("POST", "Content-Length: 0\r\n") };
    let (base, host) = (service_of_client.base(), service_of_client.host());
    let mut request = Vec::with_capacity(256);
    let _ = write!(
        request,
        "{method} {base}{address} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: dyno\r\n{length}\r\n"
    );
    let mut body = Vec::new();
    let exchange = async |connection: &mut Connection| {
        let exchange = Exchange {
            request: &request,
            is_head: false,
            timeout: TIMEOUT,
            body_max: BODY_MAX,
            body: Some(&mut body),
            cookies: None,
        };
        let status = service(connection)?.exchange(exchange).await?;
        if status == 200 {
            outcome(&body, is_read, answer)
        } else {
            Err(refused(kind_index, status, &body))
        }
    };
    session.measure(kind_index, exchange).await
}

/// Parses an answer: the number of changed rows, or rows, one per line with values separated by
/// tabs.
fn outcome(body: &[u8], is_read: bool, answer: &mut Table) -> Result<Outcome, OperationFailure> {
    let unexpected = |what: &str| {
        FailureKind::UnexpectedBody.failure(format!("the application's answer {what}"))
    };
    let text = std::str::from_utf8(body).map_err(|_| unexpected("is not text"))?;
    if !is_read {
        let affected =
            text.trim().parse().map_err(|_| unexpected("is not a number of changed rows"))?;
        return Ok(Outcome { has_rows: false, rows: 0, affected });
    }
    let row = |line: &str| line.split('\t').map(|value| Some(value.to_owned())).collect();
    answer.0.extend(text.lines().map(row));
    Ok(Outcome { has_rows: true, rows: answer.0.len() as u64, affected: 0 })
}

/// The error of a failed request. The first line of its body contains the reason reported by the
/// database.
fn refused(kind_index: u16, status: u16, body: &[u8]) -> OperationFailure {
    let words = String::from_utf8_lossy(body);
    let words = words.lines().next().unwrap_or_default();
    let what = KINDS[usize::from(kind_index)];
    let message = format!("the application answered {what} with status {status}: {words}");
    OperationFailure { code: u32::from(status), ..FailureKind::UnexpectedStatus.failure(message) }
}

fn service(connection: &mut Connection) -> Result<&mut http::Connection, OperationFailure> {
    match connection {
        Connection::Http(service) => Ok(service),
        _ => Err(FailureKind::Unsupported.failure("this is not dyno's web application")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_what_the_database_did() {
        let mut rows = Table::default();
        assert_eq!(outcome(b"10\n", false, &mut rows).unwrap().affected, 10);
        assert_eq!(outcome(b"1\t2\ta\n2\t3\tb\n", true, &mut rows).unwrap().rows, 2);
        assert_eq!(rows.0[1], ["2", "3", "b"].map(|value| Some(value.to_owned())));
        assert_eq!(outcome(b"", true, &mut Table::default()).unwrap().rows, 0);
        for (body, is_read) in [(&b"<html>"[..], false), (b"\xff", true)] {
            let failure = outcome(body, is_read, &mut Table::default()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::UnexpectedBody, "{failure}");
        }
        let failure = refused(SELECT, 500, b"Table 'crud_1' doesn't exist\nmore");
        assert_eq!((failure.kind, failure.code), (FailureKind::UnexpectedStatus, 500));
        assert!(
            failure.to_string().contains("select with status 500: Table 'crud_1' doesn't exist"),
            "{failure}"
        );
    }

    #[test]
    fn addresses_name_the_command_the_table_and_the_rows() {
        let of = |kind, rows| {
            let mut text = String::new();
            address(kind, "crud_3", rows, &mut text);
            text
        };
        assert_eq!(of(CHECK, None), "/check?table=crud_3");
        assert_eq!(
            of(super::super::command::DELETE, Some((1, 5))),
            "/delete?table=crud_3&first=1&last=5"
        );
    }
}
