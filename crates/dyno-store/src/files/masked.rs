//! Masks passwords in JSON documents: no file of a results folder holds one, whoever wrote it.

use dyno_model::mask::masked;
use std::borrow::Cow;

/// A JSON document without passwords. Every string in it is masked, also when escapes hide the
/// characters around the password.
#[must_use]
pub fn masked_json(text: &str) -> Cow<'_, str> {
    let (mut clean, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(start) = text[at..].find('"').map(|length| at + length) {
        let Some(length) = literal_length(&text[start..]) else { break };
        at = start + length;
        let literal = &text[start..at];
        // Most strings are keys and names, and there may be very many.
        if !literal.contains([':', '=', '\'', ' ']) {
            continue;
        }
        let Ok(value) = serde_json::from_str::<String>(literal) else { continue };
        if let Cow::Owned(value) = masked(&value) {
            clean.push_str(&text[copied..start]);
            clean.push_str(&serde_json::Value::from(value).to_string());
            copied = at;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[copied..]);
    Cow::Owned(clean)
}

/// Length in bytes of the JSON string at the start of a text.
fn literal_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_strings_are_masked_whatever_they_escape() {
        let value = serde_json::json!({
            "description": "see postgres://u:hun\"ter\\2@h/d\nand host=h password='hun\"ter2'",
            "quote \"": ["\\", "plain", 1.5],
        });
        let clean = masked_json(&value.to_string()).into_owned();
        assert!(!clean.contains("hun") && !clean.contains("ter"), "{clean}");
        let read: serde_json::Value = serde_json::from_str(&clean).unwrap();
        assert_eq!(read["description"], "see postgres://u:***@h/d\nand host=h password='***'");
        assert_eq!(read["quote \""], value["quote \""]);
        let plain = serde_json::json!({ "title": "a \"b\" \\" }).to_string();
        assert!(matches!(masked_json(&plain), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn a_masked_document_is_still_json(text in "(\\PC|[:/@='\" \n\\\\]|password|mysql -p|identified|://){0,40}") {
            let json = serde_json::json!({ "a": &text, (text.as_str()): [&text] }).to_string();
            let clean = masked_json(&json);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok(), "{}", clean);
        }
    }
}
