//! Options as declared and seen by scripts.

use crate::running::{dry, state};
use dyno_lua::{OptionKind, OptionValue};
use std::collections::BTreeMap;

#[test]
fn types_come_from_the_third_field_or_the_default() {
    let environment = dry(
        "sysbench.cmdline.options = {
          flag = { 'f', true }, count = { 'c', 5 }, name = { 'n', 'x' }, list = { 'l', { 'a', 'b' } }, none = { 'no default' },
          whole = { 'w', 7, sysbench.cmdline.ARG_INT }, ['with-dash'] = { 'd', nil, sysbench.cmdline.ARG_SIZE },
          number_text = { 5, 'y' },
        }",
    );
    let options = state(&environment).unwrap().declared_options().unwrap().unwrap();
    let found: Vec<_> = options
        .iter()
        .map(|option| (option.name.as_str(), option.kind, option.default.clone()))
        .collect();
    let text = |text: &str| OptionValue::Text(text.to_owned());
    assert_eq!(
        found,
        [
            ("count", OptionKind::Double, OptionValue::Number(5.0)),
            ("flag", OptionKind::Boolean, OptionValue::Boolean(true)),
            ("list", OptionKind::List, OptionValue::List(vec!["a".to_owned(), "b".to_owned()])),
            ("name", OptionKind::Text, text("x")),
            ("none", OptionKind::Text, OptionValue::Nothing),
            ("number_text", OptionKind::Text, text("y")),
            ("whole", OptionKind::Integer, OptionValue::Number(7.0)),
            ("with_dash", OptionKind::Size, OptionValue::Nothing),
        ]
    );
    assert_eq!(options[5].description, "5");
}

#[test]
fn malformed_options_are_reported() {
    let cases = [
        ("{ g = { nil, 8 } }", "nil description for option g"),
        ("{ j = 5 }", "wrong type for option j"),
        ("{ k = { 'k', print } }", "unsupported default for option k"),
        ("{ m = { 'm', 1, 99 } }", "unknown type for option m"),
    ];
    for (options, message) in cases {
        let state = state(&dry(&format!("sysbench.cmdline.options = {options}"))).unwrap();
        assert_eq!(state.declared_options().unwrap_err().message, message);
    }
    assert_eq!(state(&dry("")).unwrap().declared_options(), Ok(None));
}

fn values() -> BTreeMap<String, OptionValue> {
    BTreeMap::from([
        ("table_size".to_owned(), OptionValue::Number(1e4)),
        ("skip_trx".to_owned(), OptionValue::Boolean(false)),
        ("db_driver".to_owned(), OptionValue::Text("mysql".to_owned())),
        ("mysql_host".to_owned(), OptionValue::List(vec!["a".to_owned(), "b".to_owned()])),
        ("mine".to_owned(), OptionValue::Text("7".to_owned())),
        ("print".to_owned(), OptionValue::Text("no".to_owned())),
        ("config_file".to_owned(), OptionValue::Nothing),
    ])
}

const SEEN: &str = "function seen()
  local opt = sysbench.opt
  same(opt.table_size, 10000) same(opt.skip_trx, false) same(opt.db_driver, 'mysql') same(opt.mine, '7')
  same(opt.mysql_host[2], 'b') same(#opt.mysql_host, 2) same(opt.config_file, nil)
  opt.table_size = 0 same(sysbench.opt.table_size, 0)
end";

#[test]
fn options_have_lua_types_and_can_be_assigned() {
    let state = state(&dry(SEEN)).unwrap();
    state.set_options(&values(), &[]).unwrap();
    state.call("seen", None).unwrap();
}

#[test]
fn options_become_globals_for_old_scripts_but_hide_no_function() {
    let script = "function seen() same(mine, '7') same(table_size, 10000) same(skip_trx, false) same(type(print), 'function') end";
    let state = state(&dry(script)).unwrap();
    state.set_options(&values(), &values().into_keys().collect::<Vec<_>>()).unwrap();
    state.call("seen", None).unwrap();
}
