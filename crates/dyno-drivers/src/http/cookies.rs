//! Cookies of one client (RFC 6265), as far as one service needs them: names and values, replaced
//! and forgotten as it says. `Domain`, `Path` and `Expires` are not looked at, because a client
//! speaks to one service only, and a trial is short.

/// Most cookies that are kept, as RFC 6265 asks of a client at least; further ones are not.
const COOKIES_MAX: usize = 50;
/// Longest cookie that is kept, name and value, in bytes.
const COOKIE_BYTES_MAX: usize = 4096;

/// What a client was given and shows with every request.
#[derive(Clone, Default)]
pub struct Cookies(Vec<(Vec<u8>, Vec<u8>)>);

impl Cookies {
    /// True when there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the value of a `Set-Cookie` header.
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

    /// Appends the header that shows them, with its end of line.
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

/// `Max-Age` of nothing or less: the cookie is to be forgotten.
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
    fn cookies_are_shown_replaced_and_forgotten() {
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
    fn no_more_is_kept_than_a_client_has_to_keep() {
        let mut cookies = Cookies::default();
        for i in 0..2 * COOKIES_MAX {
            cookies.take(format!("c{i}=1").as_bytes());
        }
        cookies.take(format!("long={}", "x".repeat(COOKIE_BYTES_MAX)).as_bytes());
        assert_eq!(cookies.0.len(), COOKIES_MAX);
    }
}
