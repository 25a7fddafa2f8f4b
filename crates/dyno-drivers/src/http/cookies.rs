//! Cookies of one client (RFC 6265), as far as a single service needs them: names and values are
//! stored, replaced and deleted. `Domain`, `Path` and `Expires` are ignored, because a client talks
//! to one service only, and a trial is short.

/// Maximum number of cookies, the minimum that RFC 6265 requires of clients; further ones are
/// ignored.
const COOKIES_MAX: usize = 50;
/// Maximum size of a cookie, name and value, in bytes.
const COOKIE_BYTES_MAX: usize = 4096;

/// The cookies that a client sends with every request.
#[derive(Clone, Default)]
pub struct Cookies(Vec<(Vec<u8>, Vec<u8>)>);

impl Cookies {
    /// True when there are no cookies.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Stores the cookie of a `Set-Cookie` header.
    pub fn take(&mut self, header: &[u8]) {
        let mut parts = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { return };
        let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        if name.is_empty() || pair.len() > COOKIE_BYTES_MAX {
            return;
        }
        self.0.retain(|(other, _)| other != name);
        if !parts.any(is_over) && self.0.len() < COOKIES_MAX {
            self.0.push((name.to_vec(), value.to_vec()));
        }
    }

    /// Appends the `Cookie` header with its end of line.
    pub fn write(&self, out: &mut Vec<u8>) {
        for (i, (name, value)) in self.0.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"Cookie: " } else { b"; " });
            out.extend_from_slice(name);
            out.push(b'=');
            out.extend_from_slice(value);
        }
        if !self.is_empty() {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// `Max-Age` of zero or less: the cookie is deleted.
fn is_over(attribute: &[u8]) -> bool {
    let Some(equals) = attribute.iter().position(|byte| *byte == b'=') else { return false };
    let age = std::str::from_utf8(&attribute[equals + 1..]).unwrap_or_default().trim();
    attribute[..equals].trim_ascii().eq_ignore_ascii_case(b"max-age")
        && age.parse().is_ok_and(|age: i64| age <= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_sent_replaced_and_deleted() {
        let mut cookies = Cookies::default();
        let mut shown = |header: &str| {
            cookies.take(header.as_bytes());
            let mut out = Vec::new();
            cookies.write(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown("JSESSIONID=1a=b; Path=/; HttpOnly"), "Cookie: JSESSIONID=1a=b\r\n");
        assert_eq!(shown("b = 2 ;Max-Age=60"), "Cookie: JSESSIONID=1a=b; b=2\r\n");
        assert_eq!(shown("JSESSIONID=2"), "Cookie: b=2; JSESSIONID=2\r\n");
        assert_eq!(shown("b=; max-age=0"), "Cookie: JSESSIONID=2\r\n");
        assert_eq!(shown("=x"), "Cookie: JSESSIONID=2\r\n");
        assert_eq!(shown("nothing"), "Cookie: JSESSIONID=2\r\n");
        assert_eq!(shown("JSESSIONID=; Max-Age=-1"), "");
    }

    #[test]
    fn no_more_cookies_are_kept_than_required() {
        let mut cookies = Cookies::default();
        for i in 0..2 * COOKIES_MAX {
            cookies.take(format!("c{i}=1").as_bytes());
        }
        cookies.take(format!("long={}", "x".repeat(COOKIE_BYTES_MAX)).as_bytes());
        assert_eq!(cookies.0.len(), COOKIES_MAX);
    }
}
