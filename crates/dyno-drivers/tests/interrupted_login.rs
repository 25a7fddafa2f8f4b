//! An interrupt ends a blocking login. A separate program, because interrupts affect the whole
//! process.

use dyno_drivers::timeout::count_interrupts;
use dyno_drivers::{Connection, Driver, Io, block_on};
use dyno_model::failure::FailureKind;
use dyno_model::target::{Endpoint, Engine, Target};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn an_interrupt_ends_a_blocking_login() {
    let interrupts = Arc::new(AtomicUsize::new(0));
    count_interrupts(&interrupts);
    for engine in [Engine::Mysql, Engine::Postgres] {
        interrupts.store(0, Ordering::Relaxed);
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let endpoint = Endpoint::Tcp { host: "127.0.0.1".to_owned(), port };
        let day = Duration::from_secs(24 * 3600);
        let target = Target { connect_timeout: day, ..Target::new(engine, endpoint) };
        let (give, take) = channel();
        std::thread::spawn(move || {
            give.send(block_on(Connection::connect(&target, &Io::Blocking)).err())
        });
        let _open = listener.accept().expect("it connects");
        interrupts.store(1, Ordering::Relaxed);
        let failure =
            take.recv_timeout(Duration::from_secs(60)).expect("it ends").expect("nobody greets");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{engine}: {failure}");
    }
}
