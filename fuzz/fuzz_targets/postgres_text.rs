//! Arbitrary SQL text: finding placeholders must not panic or lose text, and each literal must be
//! inserted at its placeholder.
#![no_main]

use dyno_drivers::Value;
use dyno_drivers::postgres::protocol::{literal, placeholder};
use dyno_model::engine::Backslash;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (bool, &str)| {
    let (standard_strings, sql) = data;
    let backslash = match standard_strings {
        true => Backslash::EscapesWhereMarked,
        false => Backslash::Escapes,
    };
    let template = placeholder::parse(sql, backslash);
    let count = template.parameters();
    assert!(count <= sql.matches('?').count());
    assert!(template.numbered().len() >= sql.len().saturating_sub(sql.matches("??").count()));
    let values = vec![Value::Null; count];
    let mut filled = Vec::new();
    assert!(template.fill(&values, &mut filled, literal::append), "NULL has a literal");
    assert!(filled.len() + sql.matches("??").count() >= sql.len() + 3 * count);
});
