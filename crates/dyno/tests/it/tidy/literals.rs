//! No call passes `true` or `false` among several arguments: a reader could not tell what it says.
//! A setter, whose name says it, may.

use super::{code_lines, is_test_file, shown};
use dyno_testkit::repository::{files, root};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Functions that take a value of any type, such as a default; all but `with` are the standard
/// library's.
const OF_ANY_TYPE: &[&str] = &["map_or", "replace", "resize", "store", "swap", "with"];

#[test]
fn no_call_has_a_boolean_literal_among_several_arguments() {
    let mut wrong = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        let shown = shown(&path);
        if !shown.contains("/src/")
            || is_test_file(&path)
            || shown.ends_with("_tests.rs")
            || shown.contains("dyno-testkit")
        {
            continue;
        }
        let lines = code_lines(&path);
        let text = lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n");
        let called = found(&text).into_iter().map(|(line, name)| (lines[line - 1].0, name));
        wrong.extend(called.map(|(line, name)| format!("{shown}:{line}: {name}")));
    }
    assert_eq!(wrong, [""; 0], "use an enum, two functions or a named value");
}

#[test]
fn a_boolean_literal_among_arguments_would_be_found() {
    for text in ["f(x, true)", "it.f::<T>(false, y)", "a!(f(&x, g(1, true),))", "if f(true, 1) {}"]
    {
        assert_eq!(found(text).len(), 1, "{text}");
    }
    for text in [
        "set(true)",
        "let (a, b) = (x, true);",
        "match (x, true) {}",
        "if let (a, true) = x {}",
        "S { a: (1, true) }",
    ] {
        assert!(found(text).is_empty(), "{text}");
    }
    for text in ["fn f(a: bool, b: X)", "flag.store(true, Relaxed)", "f(x, !true)", "S(1, true)"] {
        assert!(found(text).is_empty(), "{text}");
    }
}

/// Lines and names of calls with such a literal.
fn found(text: &str) -> Vec<(usize, String)> {
    let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut calls = Vec::new();
    collect(stream, &mut calls);
    calls
}

fn collect(stream: TokenStream, calls: &mut Vec<(usize, String)>) {
    // The name before a group, the mark before a token, and the depth of the angle brackets that
    // may be between a name and its arguments.
    let (mut name, mut before, mut depth) = (None, ' ', 0);
    for tree in stream {
        let mut mark = ' ';
        match tree {
            TokenTree::Ident(word) if depth == 0 => name = Some(word.to_string()),
            TokenTree::Ident(_) => {}
            TokenTree::Literal(_) => name = None,
            TokenTree::Punct(punct) => {
                mark = punct.as_char();
                match mark {
                    '<' if before == ':' || depth > 0 => depth += 1,
                    '>' if depth > 0 => depth -= 1,
                    ':' => {}
                    _ => name = None,
                }
            }
            TokenTree::Group(group) => {
                let called = name.take().filter(|name| before != ':' && may_be_function(name));
                if let Some(called) = called
                    && group.delimiter() == Delimiter::Parenthesis
                    && has_literal(group.stream())
                {
                    calls.push((group.span_open().start().line, called));
                }
                collect(group.stream(), calls);
            }
        }
        before = mark;
    }
}

/// False for constructors, keywords and functions that take any type.
fn may_be_function(name: &str) -> bool {
    let is_keyword = ["match", "in", "if", "return", "while", "else", "let"].contains(&name);
    !is_keyword && !name.starts_with(char::is_uppercase) && !OF_ANY_TYPE.contains(&name)
}

/// True when one of several arguments is nothing but `true` or `false`.
fn has_literal(arguments: TokenStream) -> bool {
    let texts: Vec<String> = arguments.into_iter().map(|tree| tree.to_string()).collect();
    let mut arguments = texts.split(|text| text == ",").filter(|argument| !argument.is_empty());
    let is_literal =
        |argument: &[String]| matches!(argument, [word] if word == "true" || word == "false");
    arguments.clone().count() > 1 && arguments.any(is_literal)
}
