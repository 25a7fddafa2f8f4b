//! Who may read. Without a token, only pages that were loaded from this machine under one of its
//! own names may: a page of another origin cannot read answers (no CORS), and a name that an
//! attacker points to this machine (DNS rebinding) is refused. Other addresses require a token.

use super::request::Request;
use super::response::Status;
use ring::digest::{SHA256, digest};
use std::net::IpAddr;

/// Name of the cookie that carries the token after the first page.
const COOKIE: &str = "dyno_token";

/// Rules of access.
#[derive(Debug, Clone)]
pub struct Access {
    token: Option<String>,
}

impl Access {
    /// Everybody on this machine.
    #[must_use]
    pub fn local() -> Self {
        Self { token: None }
    }

    /// Everybody who knows the token.
    #[must_use]
    pub fn token(token: String) -> Self {
        Self { token: Some(token) }
    }

    /// Checks a request. Returns the cookie to set if the token was part of the address.
    pub(super) fn check(&self, request: &Request) -> Result<Option<String>, Status> {
        let host = request.field("host").ok_or(Status::BadRequest)?;
        let is_foreign = |origin: &str| origin.strip_prefix("http://") != Some(host);
        let is_navigation = request.field("sec-fetch-mode") == Some("navigate")
            && request.field("sec-fetch-dest") == Some("document");
        if request.field("origin").is_some_and(is_foreign)
            || request.field("sec-fetch-site") == Some("cross-site") && !is_navigation
        {
            return Err(Status::Forbidden);
        }
        let Some(token) = &self.token else {
            return if is_local(host) { Ok(None) } else { Err(Status::Forbidden) };
        };
        let is_right = |given: &str| is_same(given, token);
        if request.parameter("token").is_some_and(is_right) {
            return Ok(Some(format!("{COOKIE}={token}; HttpOnly; SameSite=Lax; Path=/")));
        }
        let bearer = request.field("authorization").and_then(|it| it.strip_prefix("Bearer "));
        let cookies = request.field("cookie").into_iter().flat_map(|it| it.split("; "));
        let mut cookie = cookies.filter_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='));
        match bearer.is_some_and(is_right) || cookie.any(is_right) {
            true => Ok(None),
            false => Err(Status::Unauthorized),
        }
    }
}

/// Compares digests, so that the time does not tell how much of a token is right.
fn is_same(given: &str, token: &str) -> bool {
    digest(&SHA256, given.as_bytes()).as_ref() == digest(&SHA256, token.as_bytes()).as_ref()
}

/// True for the names of this machine, with any port: a tunnel may use another one.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}
