use super::*;
use crate::script::command::Branches;
use crate::script::{Amount, Store};

fn script(source: &str) -> Result<Vec<Command>, String> {
    parse("s.sql", source, 1, Syntax::POSTGRES, &mut Names::default())
        .map(|script| script.commands)
        .map_err(|error| error.to_string())
}

fn lines(source: &str) -> Vec<String> {
    script(source).unwrap().into_iter().map(|command| command.line).collect()
}

#[test]
fn statements_and_meta_commands_alternate() {
    let source = "\\set x 1 + \\\n 2\nselect\n  1,\n  2;\n-- comment\n\\sleep 1 ms\nselect 3";
    assert_eq!(lines(source), ["\\set x 1 + \\\n 2", "select", "\\sleep 1 ms", "select 3"]);
    assert_eq!(lines("select 1;;select 2;"), ["select 1;", ";", "select 2;"]);
    assert_eq!(lines("\\ SET x 1\n\\\nselect 1;"), ["\\ SET x 1", "select 1;"]);
}

#[test]
fn gset_and_aset_belong_to_the_preceding_statement() {
    let commands = script("select 1 \\gset\nselect 2 \\; select 3; \\aset p_\nselect 4;").unwrap();
    let stores: Vec<_> = commands
        .iter()
        .map(|command| match &command.action {
            Action::Sql(sql) => sql.store.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [Store::LastRow(String::new()), Store::AnyRow("p_".to_owned()), Store::Nothing];
    assert_eq!(stores, expected);
}

#[test]
fn sleep_accepts_a_number_or_a_variable_with_a_unit() {
    let sleeps = |source: &str| match script(source).unwrap().remove(0).action {
        Action::Sleep { amount: Amount::Constant(amount), unit } => (amount, unit),
        Action::Sleep { amount: Amount::Variable(_), unit } => (-1, unit),
        other => panic!("{other:?}"),
    };
    assert_eq!(sleeps("\\sleep 2"), (2, 1_000_000));
    assert_eq!(sleeps("\\sleep 10 ms"), (10, 1_000));
    assert_eq!(sleeps("\\sleep 10us"), (10, 1));
    assert_eq!(sleeps("\\sleep :x MS"), (-1, 1_000));
}

#[test]
fn the_parts_of_conditional_blocks_are_connected() {
    let source = "\\if 1\nselect 1;\n\\elif 2\n\\if 3\n\\endif\n\\else\nselect 4;\n\\endif\n";
    let commands = script(source).unwrap();
    let branches = |index: usize| match &commands[index].action {
        Action::If(_, branches) | Action::Elif(_, branches) | Action::Else(branches) => *branches,
        other => panic!("{other:?}"),
    };
    assert_eq!(branches(0), Branches { next: 2, end: 7 });
    assert_eq!(branches(2), Branches { next: 5, end: 7 });
    assert_eq!(branches(3), Branches { next: 4, end: 4 });
    assert_eq!(branches(5), Branches { next: 7, end: 7 });
}

#[test]
fn long_statements_are_represented_by_their_beginning() {
    let statement = format!("select '{}글';", "a".repeat(118));
    assert_eq!(lines(&statement), [format!("select '{}", "a".repeat(118))]);
}

/// Output of pgbench 15 for the same scripts after `pgbench: error: `.
#[test]
fn mistakes_are_reported_with_file_line_and_column() {
    let cases = [
        (
            "\\set x\n",
            "s.sql:1: syntax error in command \"set\"\n\\set x\n      ^ error found here",
        ),
        (
            "\\set x 1 +\n",
            "s.sql:1: syntax error in command \"set\"\n\\set x 1 +\n          ^ error found here",
        ),
        (
            "\\set x 1 +",
            "s.sql:1: syntax error in command \"set\"\n\\set x 1 +\n         ^ error found here",
        ),
        (
            "\\set x 1 + * 2\n",
            "s.sql:1: syntax error in command \"set\"\n\\set x 1 + * 2\n           ^ error found here",
        ),
        (
            "select 1 \\; \\set x 1 + )  \n",
            "s.sql:1: syntax error in command \"set\"\n\\set x 1 + )  \n           ^ error found here",
        ),
        ("\\set\n", "s.sql:1: missing argument in command \"set\""),
        (
            "\\set x foo(1)\n",
            "s.sql:1: unexpected function name (foo) in command \"set\"\n\\set x foo(1)\n         ^ error found here",
        ),
        (
            "SELECT 1;\n  \\set   x    (1 + 2\n",
            "s.sql:2: syntax error in command \"set\"\n\\set   x    (1 + 2\n                  ^ error found here",
        ),
        ("\\foo\n", "s.sql:1: invalid command in command \"foo\"\n\\foo"),
        ("\\foo\nSELECT 1;\n", "s.sql:1: invalid command in command \"foo\"\n\\foo"),
        ("\\sleep\n", "s.sql:1: missing argument in command \"sleep\"\n\\sleep"),
        (
            "\\sleep 1 h\n",
            "s.sql:1: unrecognized time unit, must be us, ms or s (h) in command \"sleep\"\n\\sleep 1 h\n         ^ error found here",
        ),
        (
            "\\sleep 1h\n",
            "s.sql:1: unrecognized time unit, must be us, ms or s (h) in command \"sleep\"\n\\sleep 1h\n        ^ error found here",
        ),
        (
            "\\sleep 1 ms x\n",
            "s.sql:1: too many arguments in command \"sleep\"\n\\sleep 1 ms x\n            ^ error found here",
        ),
        (
            "\\sleep abc\n",
            "s.sql:1: invalid sleep time, must be an integer (abc) in command \"sleep\"\n\\sleep abc\n       ^ error found here",
        ),
        (
            "\\sleep 0.5 s\n",
            "s.sql:1: invalid sleep time, must be an integer (0.5) in command \"sleep\"\n\\sleep 0.5 s\n       ^ error found here",
        ),
        (
            "\\if 1\n",
            "condition error in script \"s.sql\" command 2: \\if without matching \\endif",
        ),
        ("\\else\n", "condition error in script \"s.sql\" command 1: \\else without matching \\if"),
        (
            "\\endif\n",
            "condition error in script \"s.sql\" command 1: \\endif without matching \\if",
        ),
        (
            "\\elif 1\n",
            "condition error in script \"s.sql\" command 1: \\elif without matching \\if",
        ),
        (
            "\\if 1\n\\else\n\\else\n\\endif\n",
            "condition error in script \"s.sql\" command 3: \\else after \\else",
        ),
        (
            "\\if 1\n\\else\n\\elif 1\n\\endif\n",
            "condition error in script \"s.sql\" command 3: \\elif after \\else",
        ),
        ("\\else 1\n", "s.sql:1: unexpected argument in command \"else\"\n\\else 1"),
        ("\\if\n\\endif\n", "s.sql:1: syntax error in command \"if\"\n\\if\n   ^ error found here"),
        ("\\gset\n", "s.sql:1: \\gset must follow an SQL command"),
        ("select 1 \\gset\n\\gset\n", "s.sql:2: \\gset must follow an SQL command"),
        ("\\sleep 1 ms\n\\gset\n", "s.sql:2: \\gset must follow an SQL command (\\sleep 1 ms)"),
        ("select 1 \\gset a b\n", "s.sql:1: too many arguments in command \"gset\"\n\\gset a b"),
        ("\\shell\n", "s.sql:1: missing command in command \"shell\"\n\\shell"),
        ("\\setshell x\n", "s.sql:1: missing argument in command \"setshell\"\n\\setshell x"),
        ("-- only comment\n", "empty command list for script \"s.sql\""),
    ];
    for (source, expected) in cases {
        assert_eq!(script(source).unwrap_err(), expected, "{source}");
    }
}

#[test]
fn shell_commands_are_rejected() {
    let refusal =
        "s.sql:1: shell commands are not supported by dyno in command \"shell\"\n\\shell ls";
    assert_eq!(script("\\shell ls\n").unwrap_err(), refusal);
    assert!(script("\\setshell x echo 1\n").is_err());
}
