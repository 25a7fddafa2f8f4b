//! Decodes the head of an answer: status, framing of the body, and whether the connection closes.

use super::Malformed;
use httparse::{Header, ParserConfig, Response, Status};
use std::mem::MaybeUninit;

/// Maximum size of a head or trailer in bytes.
pub const HEAD_MAX: usize = 64 * 1024;
/// Maximum number of headers in a head.
pub(super) const HEADERS_MAX: usize = 128;

/// How the end of a body is determined (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After this many bytes; 0 also where the rules allow no body.
    Length(u64),
    /// After its last chunk.
    Chunked,
    /// When the connection closes.
    Close,
}

/// The decoded head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its length in bytes, including the empty line.
    pub length: usize,
    /// Status, 100 to 599.
    pub status: u16,
    /// How the end of the body is determined.
    pub framing: Framing,
    /// True when the connection accepts no further request.
    pub closes: bool,
}

impl Head {
    /// True for an answer that is followed by another one to the same request.
    #[must_use]
    pub fn is_interim(&self) -> bool {
        self.status < 200
    }

    /// Reads the head at the start of the bytes; `None` when it is incomplete. `cookie` is called
    /// with the value of each `Set-Cookie`.
    ///
    /// # Errors
    /// When it is invalid, longer than [`HEAD_MAX`], or contradictory about its body.
    pub fn read(
        bytes: &[u8],
        answers_head: bool,
        mut cookie: impl FnMut(&[u8]),
    ) -> Result<Option<Self>, Malformed> {
        let mut headers = [const { MaybeUninit::<Header<'_>>::uninit() }; HEADERS_MAX];
        let mut response = Response::new(&mut []);
        let parsed = ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            bytes,
            &mut headers,
        );
        let length = match parsed {
            Ok(Status::Complete(length)) if length <= HEAD_MAX => length,
            Ok(Status::Partial) if bytes.len() < HEAD_MAX => return Ok(None),
            Ok(_) => {
                return Err(Malformed::new(format!(
                    "the head of the answer is longer than {HEAD_MAX} bytes"
                )));
            }
            Err(error) => {
                return Err(Malformed::new(format!("the answer is not valid HTTP/1.1: {error}")));
            }
        };
        let status = response.code.unwrap_or_default();
        if !(100..=599).contains(&status) || status == 101 {
            return Err(Malformed::new(format!(
                "status {status} is not a valid answer to this request"
            )));
        }
        let (mut content_length, mut coding) = (None, None);
        let mut keeps = response.version == Some(1);
        for header in response.headers.iter() {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            match header.name.len() {
                14 if is("content-length") => {
                    content_length = Some(one_length(content_length, header.value)?);
                }
                17 if is("transfer-encoding") => coding = Some(is_chunked(header.value)),
                10 if is("connection") => {
                    keeps = (keeps || has_token(header.value, "keep-alive"))
                        && !has_token(header.value, "close");
                }
                10 if is("set-cookie") => cookie(header.value),
                _ => {}
            }
        }
        let has_no_body = answers_head || status < 200 || status == 204 || status == 304;
        let framing = match (coding, content_length) {
            _ if has_no_body => Framing::Length(0),
            (Some(true), _) => Framing::Chunked,
            (Some(false), _) | (None, None) => Framing::Close,
            (None, Some(length)) => Framing::Length(length),
        };
        // With both headers the sender's intention is unclear, so the connection is not reused.
        let is_ambiguous = coding.is_some() && content_length.is_some();
        let closes = !keeps || framing == Framing::Close || is_ambiguous;
        Ok(Some(Self { length, status, framing, closes }))
    }
}

/// A length, which must equal the earlier ones.
fn one_length(before: Option<u64>, value: &[u8]) -> Result<u64, Malformed> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let mut lengths = text.split(',').map(|part| {
        let part = part.trim();
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u64>().ok()).flatten()
    });
    let first = lengths.next().flatten();
    match first {
        Some(length)
            if lengths.all(|other| other == first)
                && before.is_none_or(|before| before == length) =>
        {
            Ok(length)
        }
        _ => Err(Malformed::new("the answer's Content-Length is not a single number")),
    }
}

/// True when the last coding determines where the body ends.
fn is_chunked(value: &[u8]) -> bool {
    let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
    last.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// True when a `Connection` header contains a word.
fn has_token(value: &[u8], word: &str) -> bool {
    value
        .split(|byte| *byte == b',')
        .any(|part| part.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Head>, Malformed> {
        Head::read(text.as_bytes(), false, |_| {})
    }

    fn head(lines: &str) -> Head {
        read(&format!("{lines}\r\n\r\n")).unwrap().unwrap()
    }

    #[test]
    fn the_end_of_a_body_follows_from_its_head() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked";
        for (lines, framing, closes) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 12", Framing::Length(12), false),
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 12, 12\r\nContent-Length: 12",
                Framing::Length(12),
                false,
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: Close",
                Framing::Length(12),
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: x, close",
                Framing::Length(1),
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive, close",
                Framing::Length(1),
                true,
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 12", Framing::Length(12), true),
            (
                "HTTP/1.0 200 OK\r\nContent-Length: 12\r\nConnection: keep-alive",
                Framing::Length(12),
                false,
            ),
            (chunked, Framing::Chunked, false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked", Framing::Chunked, false),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3",
                Framing::Chunked,
                true,
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip", Framing::Close, true),
            ("HTTP/1.1 200 OK", Framing::Close, true),
            ("HTTP/1.1 204 None", Framing::Length(0), false),
            ("HTTP/1.1 304 Not\r\nContent-Length: 9", Framing::Length(0), false),
            ("HTTP/1.1 100 Continue", Framing::Length(0), false),
        ] {
            let head = head(lines);
            assert_eq!((head.framing, head.closes), (framing, closes), "{lines}");
        }
        let answer = format!("{chunked}\r\n\r\nbehind");
        let head = Head::read(answer.as_bytes(), true, |_| {}).unwrap().unwrap();
        assert_eq!(
            (head.framing, head.length),
            (Framing::Length(0), chunked.len() + 4),
            "an answer to HEAD"
        );
    }

    #[test]
    fn cookies_are_reported_one_by_one() {
        let mut cookies = Vec::new();
        let text = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n\r\n";
        Head::read(text.as_bytes(), false, |value| cookies.push(value.to_vec())).unwrap();
        assert_eq!(cookies, [&b"a=1; Path=/"[..], b"b=2"]);
    }

    #[test]
    fn an_invalid_head_is_rejected_and_an_incomplete_one_waited_for() {
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Le").unwrap(), None);
        assert_eq!(read("").unwrap(), None);
        for text in [
            "SSH-2.0-OpenSSH_9.2\r\n\r\n",
            "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.1 099 Low\r\n\r\n",
            "HTTP/1.1 600 High\r\n\r\n",
            "HTTP/1.1 101 Switching\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(HEAD_MAX));
        assert!(read(&endless).unwrap_err().to_string().contains("longer than 65536 bytes"));
        let many = "X: y\r\n".repeat(HEADERS_MAX + 1);
        assert!(read(&format!("HTTP/1.1 200 OK\r\n{many}\r\n")).is_err());
    }
}
