//! The null servers satisfy real clients, count their statements, and survive clients that send
//! invalid data.
#![expect(clippy::print_stdout, reason = "a skipped test says why")]
#![expect(clippy::unwrap_used, reason = "a panic in a helper fails the test that calls it")]

use dyno_drivers::null::StatementKind;
use dyno_drivers::null::server::{Options, Protocol, RunningServer, ServerCounters, serve};
use programs::{pgbench, program, sysbench};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

mod personas;
mod programs;

/// Longer than any answer of a healthy server takes, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn server(protocol: Protocol) -> RunningServer {
    server_with(protocol, Options::default())
}

fn server_with(protocol: Protocol, options: Options) -> RunningServer {
    serve(protocol, "127.0.0.1:0".parse().unwrap(), options).unwrap()
}

fn dial(server: &RunningServer) -> TcpStream {
    let socket = TcpStream::connect(server.local_addr).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket
}

/// Waits for a condition that another thread brings about.
fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < TIMEOUT, "{what} did not happen");
        std::thread::yield_now();
    }
}

fn counted(counts: &ServerCounters) -> Vec<(&'static str, u64)> {
    StatementKind::ALL
        .iter()
        .map(|kind| (kind.name(), counts.statements(*kind)))
        .filter(|(_, n)| *n > 0)
        .collect()
}

/// Prints why a test with so many sockets in this process is skipped when the system does not allow
/// them.
fn descriptors_suffice(count: u64) -> bool {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let limit = line.split_whitespace().nth(3).unwrap().parse().unwrap_or(u64::MAX);
    if limit < count + 100 {
        println!("skipped: {count} descriptors are needed and `ulimit -n` says {limit}");
    }
    limit >= count + 100
}

#[test]
fn three_thousand_connections_are_open_at_once() {
    const CLIENTS: usize = 3000;
    if !descriptors_suffice(2 * CLIENTS as u64) {
        return;
    }
    let server = server(Protocol::Mysql);
    let mut clients: Vec<TcpStream> = (0..CLIENTS).map(|_| mysql_client(&server)).collect();
    for client in &mut clients {
        client.write_all(&packet(0, b"\x03UPDATE t SET a=1")).unwrap();
    }
    for client in &mut clients {
        assert_eq!(read_until(client, &[2, 0, 0, 0]).len(), 11);
    }
    assert_eq!(server.counters().connections(), CLIENTS as u64);
    assert_eq!(counted(server.counters()), [("update", CLIENTS as u64)]);
}

#[test]
fn a_thousand_clients_are_served() {
    if !descriptors_suffice(2000) {
        return;
    }
    if let Some(program) = program("sysbench") {
        let server = server(Protocol::Mysql);
        sysbench(&server, &program, "oltp_point_select", &["--events=5000", "--threads=1000"]);
        assert_eq!(server.counters().statements(StatementKind::Select), 5000);
        assert_eq!(server.counters().connections(), 1000);
    }
    if let Some(program) = program("pgbench") {
        let server = server(Protocol::Postgres);
        pgbench(
            &server,
            &program,
            &["-n", "-S", "-M", "prepared", "-c", "1000", "-j", "2", "-t", "5"],
        );
        assert_eq!(server.counters().statements(StatementKind::Select), 5002);
    }
}

// Messages ------------------------------------------------------------------------------

/// Reads until the peer closes or pauses after the end mark.
fn read_until(socket: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while !bytes.ends_with(end) {
        let count = socket.read(&mut buffer).unwrap();
        assert!(count > 0, "closed after {bytes:02x?}");
        bytes.extend_from_slice(&buffer[..count]);
    }
    bytes
}

/// PostgreSQL's start-up message as psql 15 sends it.
const POSTGRES_HELLO: &[u8] =
    b"\0\0\0\x54\0\x03\0\0user\0anybody\0database\0any\0application_name\0psql\0\
client_encoding\0UTF8\0\0";

/// A login to MySQL as a MariaDB 10.11 client sends it (capabilities without DEPRECATE_EOF),
/// password scrambled.
fn mysql_login(capabilities: u32, plugin: &[u8]) -> Vec<u8> {
    let mut body = capabilities.to_le_bytes().to_vec();
    body.extend_from_slice(&[0, 0, 0, 0x40, 45]);
    body.extend_from_slice(&[0; 23]);
    body.extend_from_slice(b"anybody\0\x14");
    body.extend_from_slice(&[0xa5; 20]);
    body.extend_from_slice(b"any\0");
    body.extend_from_slice(plugin);
    body.push(0);
    packet(1, &body)
}

const CAPABILITIES: u32 = 0x1 | 0x8 | 0x200 | 0x8000 | 0x8_0000;

fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&[length[0], length[1], length[2], sequence], body].concat()
}

const OK: &[u8] = &[7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0];

fn mysql_client(server: &RunningServer) -> TcpStream {
    let mut socket = dial(server);
    let greeting = read_until(&mut socket, b"mysql_native_password\0");
    assert_eq!((greeting[3], greeting[4]), (0, 10), "sequence 0, protocol 10");
    socket.write_all(&mysql_login(CAPABILITIES, b"mysql_native_password")).unwrap();
    read_until(&mut socket, OK);
    socket
}

#[test]
fn a_mysql_update_is_answered_in_one_packet() {
    let server = server(Protocol::Mysql);
    let mut socket = mysql_client(&server);
    socket.write_all(&packet(0, b"\x03UPDATE t SET a=1")).unwrap();
    assert_eq!(read_until(&mut socket, &[0, 0, 0]), [7, 0, 0, 1, 0, 1, 0, 2, 0, 0, 0]);
    // BEGIN sets the flag "in transaction" (0x0001) in addition to autocommit.
    socket.write_all(&packet(0, b"\x03BEGIN")).unwrap();
    assert_eq!(read_until(&mut socket, &[0, 0]), [7, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0]);
}

#[test]
fn a_prepared_mysql_select_is_answered_with_a_binary_row() {
    let server = server(Protocol::Mysql);
    let mut socket = mysql_client(&server);
    socket.write_all(&packet(0, b"\x16SELECT k FROM sbtest1 WHERE id=? AND '?'=pad")).unwrap();
    let eof = [5, 0, 0, 5, 0xfe, 0, 0, 2, 0];
    let prepared = read_until(&mut socket, &eof);
    assert_eq!(
        prepared[..16],
        [12, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0],
        "id 1, one column, one parameter"
    );
    let mut execute = vec![0x17, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0];
    execute.extend_from_slice(&77_u64.to_le_bytes());
    socket.write_all(&packet(0, &execute)).unwrap();
    let answer = read_until(&mut socket, &eof);
    let row = [10, 0, 0, 4, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    assert!(answer.ends_with(&[row.as_slice(), &eof].concat()), "{answer:02x?}");
    // Closed statements are unknown, and their id is reused.
    socket.write_all(&packet(0, &[0x19, 1, 0, 0, 0])).unwrap();
    socket.write_all(&packet(0, &execute)).unwrap();
    let refused = read_until(&mut socket, b"unknown prepared statement");
    assert_eq!(refused[4..7], [0xff, 0xdb, 0x04], "error 1243");
    assert_eq!(server.counters().statements_total(), 1);
}

#[test]
fn a_client_may_log_in_with_its_preferred_method() {
    let server = server(Protocol::Mysql);
    let mut socket = dial(&server);
    read_until(&mut socket, b"mysql_native_password\0");
    socket.write_all(&mysql_login(CAPABILITIES, b"caching_sha2_password")).unwrap();
    let switch = read_until(&mut socket, b"sal\0");
    assert_eq!(switch[3..5], [2, 0xfe]);
    assert!(switch[5..].starts_with(b"caching_sha2_password\0"));
    socket.write_all(&packet(3, &[0x11; 32])).unwrap();
    let done = read_until(&mut socket, &[2, 0, 0, 0]);
    assert_eq!(done[..6], [2, 0, 0, 4, 1, 3], "fast authentication succeeded");
    assert_eq!(done[6..11], [7, 0, 0, 5, 0]);
}

#[test]
fn the_query_for_dollar_quoting_is_answered_with_an_error() {
    // The command-line client of MySQL 9.7 sends it after connecting, and does not read rows.
    let server = server(Protocol::Mysql);
    let mut socket = mysql_client(&server);
    socket.write_all(&packet(0, b"\x03select $$")).unwrap();
    let answer = read_until(&mut socket, b"this is not a statement");
    assert_eq!(answer[3..7], [1, 0xff, 0x28, 0x04], "error 1064");
}

#[test]
fn a_client_that_requires_tls_is_rejected_with_the_reason() {
    let server = server(Protocol::Mysql);
    let mut socket = dial(&server);
    read_until(&mut socket, b"mysql_native_password\0");
    socket.write_all(&mysql_login(CAPABILITIES | 0x800, b"")).unwrap();
    read_until(&mut socket, b"the null server has no TLS; connect without it");
    assert_eq!(socket.read(&mut [0; 16]).unwrap(), 0, "closed");
}

#[test]
fn a_mysql_statement_longer_than_a_packet_is_answered_once() {
    let server = server(Protocol::Mysql);
    let mut socket = mysql_client(&server);
    let mut body = b"\x03INSERT INTO t VALUES ".to_vec();
    body.resize(0xff_ffff, b'1');
    socket.write_all(&packet(0, &body)).unwrap();
    socket.write_all(&packet(1, &[b'1'; 100])).unwrap();
    assert_eq!(read_until(&mut socket, &[2, 0, 0, 0]), [7, 0, 0, 2, 0, 1, 0, 2, 0, 0, 0]);
    assert_eq!(counted(server.counters()), [("insert", 1)]);
}

fn postgres_client(server: &RunningServer) -> TcpStream {
    let mut socket = dial(server);
    // TLS and GSS are requested first, and declined.
    for code in [80_877_103_u32, 80_877_104] {
        socket.write_all(&[8_u32.to_be_bytes(), code.to_be_bytes()].concat()).unwrap();
        assert_eq!(read_until(&mut socket, b"N"), b"N");
    }
    let mut hello = POSTGRES_HELLO.to_vec();
    let length = (hello.len() as u32).to_be_bytes();
    hello[..4].copy_from_slice(&length);
    socket.write_all(&hello).unwrap();
    let welcome = read_until(&mut socket, b"Z\0\0\0\x05I");
    assert!(welcome.starts_with(b"R\0\0\0\x08\0\0\0\0S"), "{welcome:02x?}");
    socket
}

/// A message with its type and length.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], (body.len() as u32 + 4).to_be_bytes().as_slice(), body].concat()
}

#[test]
fn the_extended_protocol_answers_each_step() {
    let server = server(Protocol::Postgres);
    let mut socket = postgres_client(&server);
    let bind_binary = b"\0s1\0\0\x01\0\0\0\x01\0\0\0\x015\0\x01\0\x01";
    let steps = [
        message(b'P', b"s1\0SELECT abalance FROM pgbench_accounts WHERE aid = $1\0\0\0"),
        message(b'D', b"Ss1\0"),
        message(b'B', bind_binary),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
    ];
    // Pipelined: one send, and all answers return in order.
    socket.write_all(&steps.concat()).unwrap();
    let answer = read_until(&mut socket, b"Z\0\0\0\x05I");
    let column = b"k\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0";
    let expected = [
        message(b'1', b""),
        message(b't', b"\0\x01\0\0\0\x19"),
        message(b'T', &[b"\0\x01", column.as_slice()].concat()),
        message(b'2', b""),
        message(b'D', b"\0\x01\0\0\0\x04\0\0\0\x01"),
        message(b'C', b"SELECT 1\0"),
        message(b'Z', b"I"),
    ];
    assert_eq!(answer, expected.concat());
}

#[test]
fn after_an_error_everything_up_to_sync_is_skipped() {
    let server = server(Protocol::Postgres);
    let mut socket = postgres_client(&server);
    let steps = [
        message(b'B', b"\0missing\0\0\0\0\0\0\0"),
        message(b'E', b"\0\0\0\0\0"),
        message(b'S', b""),
    ];
    socket.write_all(&steps.concat()).unwrap();
    let answer = read_until(&mut socket, b"Z\0\0\0\x05I");
    assert!(answer.starts_with(b"E"), "{answer:02x?}");
    assert_eq!(
        answer.iter().filter(|byte| **byte == b'E').count(),
        3,
        "type, ERROR twice; one message"
    );
    assert_eq!(server.counters().statements_total(), 0);
}

#[test]
fn several_statements_in_one_text_are_each_answered() {
    let server = server(Protocol::Postgres);
    let mut socket = postgres_client(&server);
    socket.write_all(&message(b'Q', b"BEGIN; UPDATE t SET a=';'; ;\0")).unwrap();
    let answer = read_until(&mut socket, b"Z\0\0\0\x05T");
    let expected = [message(b'C', b"BEGIN\0"), message(b'C', b"UPDATE 1\0"), message(b'Z', b"T")];
    assert_eq!(answer, expected.concat());
    socket.write_all(&message(b'Q', b"\0")).unwrap();
    assert_eq!(read_until(&mut socket, b"T"), [message(b'I', b""), message(b'Z', b"T")].concat());
}

#[test]
fn a_statement_that_arrives_byte_by_byte_is_answered() {
    let server = server(Protocol::Mysql);
    let mut socket = mysql_client(&server);
    socket.set_nodelay(true).unwrap();
    for byte in packet(0, b"\x03DELETE FROM t") {
        socket.write_all(&[byte]).unwrap();
    }
    read_until(&mut socket, &[2, 0, 0, 0]);
    assert_eq!(counted(server.counters()), [("delete", 1)]);
}

#[test]
fn a_client_that_does_not_read_does_not_delay_others() {
    let server = server(Protocol::Mysql);
    let mut deaf = mysql_client(&server);
    let ping = packet(0, b"\x03SELECT c FROM sbtest1");
    // More than the sockets' buffers hold in both directions; from then on writing would block.
    deaf.set_nonblocking(true).unwrap();
    let burst = ping.repeat(1000);
    let mut sent = 0_usize;
    wait_until("a full socket", || match deaf.write(&burst[sent % ping.len()..]) {
        Ok(count) => {
            sent += count;
            false
        }
        Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
    });
    let mut other = mysql_client(&server);
    other.write_all(&packet(0, b"\x0e")).unwrap();
    read_until(&mut other, &[2, 0, 0, 0]);
    deaf.set_nonblocking(false).unwrap();
    let whole = sent / ping.len();
    let expected = whole as u64 + 1;
    let mut reader = deaf.try_clone().unwrap();
    let draining = std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    deaf.write_all(&ping[sent % ping.len()..]).unwrap();
    wait_until("all answers", || server.counters().statements(StatementKind::Select) >= expected);
    deaf.write_all(&packet(0, b"\x01")).unwrap();
    draining.join().unwrap().unwrap();
}

// Misbehaviour --------------------------------------------------------------------------

#[test]
fn a_silent_server_accepts_connections_and_never_answers() {
    for protocol in [Protocol::Mysql, Protocol::Postgres] {
        let server = server_with(protocol, Options { is_silent: true, ..Options::default() });
        let mut socket = dial(&server);
        socket.write_all(POSTGRES_HELLO).unwrap();
        wait_until("the connection", || server.counters().connections() == 1);
        socket.set_nonblocking(true).unwrap();
        assert_eq!(socket.read(&mut [0; 16]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    }
}

#[test]
fn a_server_can_hang_or_close_after_some_statements() {
    let statement = packet(0, b"\x03UPDATE t SET a=1");
    let answer = [7, 0, 0, 1, 0, 1, 0, 2, 0, 0, 0];
    let server =
        server_with(Protocol::Mysql, Options { disconnect_after: Some(2), ..Options::default() });
    let mut socket = mysql_client(&server);
    for _ in 0..2 {
        socket.write_all(&statement).unwrap();
        assert_eq!(read_until(&mut socket, &answer), answer);
    }
    socket.write_all(&statement).unwrap();
    assert_eq!(socket.read(&mut [0; 16]).unwrap(), 0, "closed instead of answered");

    let server =
        server_with(Protocol::Mysql, Options { hang_after: Some(0), ..Options::default() });
    let mut socket = mysql_client(&server);
    socket.write_all(&statement).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert_eq!(socket.read(&mut [0; 16]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    server.stop().unwrap();
    assert_eq!(socket.read(&mut [0; 16]).unwrap(), 0, "stopping closes all connections");
}

#[test]
fn stopping_frees_the_port() {
    let server = server(Protocol::Postgres);
    let address: SocketAddr = server.local_addr;
    server.stop().unwrap();
    assert!(TcpStream::connect(address).is_err());
    let again = serve(Protocol::Postgres, address, Options::default()).unwrap();
    let taken = serve(Protocol::Postgres, address, Options::default());
    assert_eq!(taken.err().unwrap().kind(), std::io::ErrorKind::AddrInUse);
    again.stop().unwrap();
}

/// Sends bytes after a login (or instead of one) and then checks that the server still serves
/// others.
fn survives(server: &RunningServer, is_logged_in: bool, bytes: &[u8], protocol: Protocol) {
    let client = || match protocol {
        Protocol::Mysql => mysql_client(server),
        Protocol::Postgres => postgres_client(server),
    };
    let mut socket = if is_logged_in { client() } else { dial(server) };
    // The server may close at any byte, after which writing fails.
    let _ = socket.write_all(bytes);
    drop(socket);
    drop(client());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_stop_the_server(
        is_mysql: bool,
        is_logged_in: bool,
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let protocol = if is_mysql { Protocol::Mysql } else { Protocol::Postgres };
        survives(&server(protocol), is_logged_in, &bytes, protocol);
    }

    #[test]
    fn random_messages_never_stop_the_server(
        is_mysql: bool,
        parts in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..60)), 0..20),
    ) {
        let protocol = if is_mysql { Protocol::Mysql } else { Protocol::Postgres };
        let bytes: Vec<u8> = parts
            .iter()
            .flat_map(|(kind, body)| match protocol {
                // Command numbers are small.
                Protocol::Mysql => packet(0, &[&[kind % 0x20], body.as_slice()].concat()),
                Protocol::Postgres => message(b"BCDEFHPQSXcdfp"[usize::from(*kind) % 14], body),
            })
            .collect();
        survives(&server(protocol), true, &bytes, protocol);
    }
}
