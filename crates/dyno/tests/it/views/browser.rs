//! Chromium without a window, controlled by its driver over HTTP (W3C WebDriver).

use dyno_testkit::skip;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The driver in Debian's package chromium-driver.
const DRIVER: &str = "chromedriver";

/// A browser with one page. It ends with its value.
pub(super) struct Browser {
    driver: Child,
    host: String,
    session: String,
}

impl Browser {
    /// Starts a browser with an empty profile in this folder; `None` if none is installed and
    /// tests may be skipped.
    pub(super) fn start(folder: &Path) -> Option<Self> {
        let mut driver = Command::new(DRIVER);
        driver.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut driver) = driver.spawn() else {
            skip(format!("{DRIVER} is missing; scripts/servers --browser installs it"));
            return None;
        };
        let lines = BufReader::new(driver.stdout.take().expect("it is piped")).lines();
        let port = lines.map(|line| line.expect("UTF-8")).find_map(|line| {
            let rest = line.strip_prefix("ChromeDriver was started successfully on port ")?;
            Some(rest.trim_end_matches('.').to_owned())
        });
        let host = format!("127.0.0.1:{}", port.expect("the driver prints its port"));
        let mut browser = Self { driver, host, session: String::new() };
        let profile = format!("--user-data-dir={}", folder.join("profile").display());
        let arguments = ["--headless", "--no-sandbox", "--disable-gpu", &profile];
        let options = json!({ "args": arguments });
        let wanted =
            json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let body = json!({ "capabilities": { "alwaysMatch": wanted } });
        let session = browser.send("POST", "/session", &body);
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    /// Loads a page.
    pub(super) fn open(&self, url: &str) {
        self.command("url", &json!({ "url": url }));
    }

    /// The value of an expression in the page.
    pub(super) fn value(&self, expression: &str) -> Value {
        let script = format!("return {expression};");
        self.command("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Messages of the browser since the last call, among them violations of policies.
    pub(super) fn messages(&self) -> Vec<String> {
        let entries = self.command("se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().expect("a list").iter();
        entries.map(|entry| entry["message"].as_str().expect("a text").to_owned()).collect()
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        self.send("POST", &format!("/session/{}/{name}", self.session), body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(&self.host).expect("the driver listens");
        let (host, body) = (&self.host, body.to_string());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it takes a request");
        // The driver keeps connections open.
        let (mut stream, mut head) = (BufReader::new(stream), String::new());
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).expect("it answers") > 0, "{path}: {head}");
        }
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length = length.and_then(|it| it.trim().parse().ok()).expect("a length");
        let mut body = vec![0; length];
        stream.read_exact(&mut body).expect("the whole body");
        let answer: Value = serde_json::from_slice(&body).expect("JSON");
        assert!(head.starts_with("HTTP/1.1 200"), "{method} {path}: {answer}");
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser, which would outlive it. A failed test drops this, too, so
        // nothing here may panic.
        if let Ok(mut stream) = TcpStream::connect(&self.host) {
            let (session, host) = (&self.session, &self.host);
            let _ = write!(stream, "DELETE /session/{session} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let _ = stream.read(&mut [0]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
