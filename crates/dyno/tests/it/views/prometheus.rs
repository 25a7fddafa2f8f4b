//! A real Prometheus scrapes `/metrics` during a run.

use super::served::{Served, get};
use crate::program::Bench;
use dyno_testkit::{skip, wait_until};
use serde_json::Value;
use std::net::TcpListener;
use std::process::{Command, Stdio};

/// The program in Debian's package of the same name.
const PROMETHEUS: &str = "prometheus";

/// The values of an expression.
fn values(prometheus: &str, expression: &str) -> Vec<f64> {
    let expression: String = expression.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let answer = get(prometheus, &format!("/api/v1/query?query={expression}"));
    if answer.starts_with("HTTP/1.1 503") {
        return Vec::new(); // it is not ready
    }
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("JSON: {answer}"));
    let results = body["data"]["result"].as_array().expect("a list").iter();
    let value = |result: &Value| result["value"][1].as_str()?.parse().ok();
    results.map(|result| value(result).expect("a number")).collect()
}

#[test]
fn prometheus_scrapes_a_run_and_computes_rates_and_percentiles() {
    let bench = Bench::new();
    let long = ["run", "--plain", "--set", "load.duration=5m", "--set", "load.clients=[1]"];
    let mut command = bench.command(&long);
    command.args(["--out", "r", "--serve=127.0.0.1:0"]);
    let dyno = Served::start(command);
    bench.file(
        "prometheus.yml",
        format!(
            "scrape_configs:\n  - job_name: dyno\n    scrape_interval: 200ms\n    \
             scrape_timeout: 200ms\n    static_configs: [{{ targets: [\"{}\"] }}]\n",
            dyno.host
        ),
    );
    // Prometheus does not tell which port the system chose, so a free one is chosen here.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let address = free.to_string();
    let mut command = Command::new(PROMETHEUS);
    command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
    command.arg(format!("--web.listen-address={address}")).current_dir(bench.path());
    let Ok(prometheus) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        skip(format!("{PROMETHEUS} is missing; scripts/servers installs it"));
        return;
    };
    let _prometheus = Killed(prometheus);
    wait_until("Prometheus is ready", || std::net::TcpStream::connect(free).is_ok());
    wait_until("it scrapes", || values(&address, "up") == [1.0]);
    let rate = "rate(dyno_transaction_duration_seconds_count[10s])";
    let p99 = "histogram_quantile(0.99, rate(dyno_transaction_duration_seconds_bucket[10s]))";
    for expression in [rate, p99] {
        wait_until(expression, || values(&address, expression).iter().any(|value| *value > 0.0));
    }
    assert_eq!(values(&address, "dyno_trials_finished"), [0.0]);
    assert_eq!(values(&address, "dyno_phase == 1").len(), 1, "one phase at a time");
    assert_eq!(values(&address, "up"), [1.0], "it takes every later page too");
}

/// A program that ends with this value.
pub(super) struct Killed(pub(super) std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
