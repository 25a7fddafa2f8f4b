use super::*;
use crate::expression::parser::parse;

/// The value of an expression as printed by `debug()`, or its error.
fn value(source: &str) -> String {
    let mut names = Names::default();
    let mut variables = Variables::default();
    variables.set(names.slot("default_seed"), Value::Integer(5_432));
    variables.set(names.slot("x"), Value::Integer(3));
    let (expression, _) = parse(source, 0, &mut names).expect("the expression is one");
    let mut environment = Environment {
        variables: &variables,
        names: &names,
        random: &mut Generator::new(1),
        debug: &mut |_| {},
    };
    match expression.evaluate(&mut environment) {
        Ok(value) => value.described(),
        Err(message) => format!("ERROR {message}"),
    }
}

/// Output of pgbench 15.18 for the same expressions in `debug()`.
#[rustfmt::skip]
const OF_PGBENCH: &[(&str, &str)] = &[
        ("1 + 2 * 3", "int 7"),
        ("7 / 2", "int 3"),
        ("-7 / 2", "int -3"),
        ("-7 % 3", "int -1"),
        ("7 % -3", "int 1"),
        ("-9223372036854775808 % -1", "int 0"),
        ("5.5 % 2", "int 0"),
        ("7 / 2.0", "double 3.5"),
        ("1 / 3.0", "double 0.333333333333333"),
        ("2 * 1.5 - 1", "double 2"),
        ("1 = 1.0", "boolean true"),
        ("1 <> 2", "boolean true"),
        ("3 > 2 and 2 >= 2", "boolean true"),
        ("null = null", "null"),
        ("null and false", "null"),
        ("null and true", "null"),
        ("false and 1/0 = 1", "boolean false"),
        ("true or 1/0 = 1", "boolean true"),
        ("null or true", "null"),
        ("null or false", "null"),
        ("not null", "null"),
        ("not false", "boolean true"),
        ("1 is null", "boolean false"),
        ("null is null", "boolean true"),
        ("null isnull", "boolean true"),
        ("5 notnull", "boolean true"),
        ("true is true", "boolean true"),
        ("(1 = 1) is not false", "boolean true"),
        ("null is not true", "boolean true"),
        ("1 is true", "boolean false"),
        ("case when null then 1 when 0.0 then 2 when 0.5 then 3 end", "int 3"),
        ("case when false then 1 end", "null"),
        ("1 | 6", "int 7"),
        ("7 & 3", "int 3"),
        ("5 # 1", "int 4"),
        ("~ 5", "int -6"),
        ("1 << 62", "int 4611686018427387904"),
        ("1 << 63", "int -9223372036854775808"),
        ("1 << 64", "int 1"),
        ("-16 >> 2", "int -4"),
        ("abs(-17)", "int 17"),
        ("abs(-1.5)", "double 1.5"),
        ("double(5432)", "double 5432"),
        ("int(5.4 + 3.8)", "int 9"),
        ("int(2.5)", "int 2"),
        ("int(-0.5)", "int 0"),
        ("exp(1.0)", "double 2.71828182845905"),
        ("ln(2.718281828459045)", "double 1"),
        ("sqrt(2.0)", "double 1.4142135623731"),
        ("pow(2.0, 10)", "double 1024"),
        ("power(2, -1)", "double 0.5"),
        ("pi()", "double 3.14159265358979"),
        ("mod(54, 32)", "int 22"),
        ("greatest(5, 4, 3, 2)", "int 5"),
        ("least(5, 4, 3, 2.1)", "double 2.1"),
        ("greatest(1, null)", "null"),
        ("least(7)", "int 7"),
        ("hash(10, 5432)", "int -5817877081768721676"),
        ("hash_fnv1a(10, 5432)", "int -7793829335365542153"),
        ("hash_murmur2(10.4, 5432)", "int -5817877081768721676"),
        ("permute(10, 100, 7)", "int 69"),
        ("1e3", "double 1000"),
        (".5", "double 0.5"),
        ("1 + null", "null"),
        ("9223372036854775807", "int 9223372036854775807"),
        ("-9223372036854775808", "int -9223372036854775808"),
        ("1.0 / 0", "double Infinity"),
        ("-1.0 / 0", "double -Infinity"),
        ("9223372036854775807 + 1.0", "double 9.22337203685478e+18"),
        ("1e300 * 1e10", "double Infinity"),
        ("debug(1) + debug(2)", "int 3"),
];

#[test]
fn values_equal_those_of_pgbench() {
    for (source, expected) in OF_PGBENCH {
        assert_eq!(value(source), *expected, "{source}");
    }
}

#[test]
fn evaluation_errors_have_the_words_of_pgbench() {
    let cases = [
        ("1/0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("9223372036854775807 + 1", "bigint add out of range"),
        ("-9223372036854775807 - 2", "bigint sub out of range"),
        ("9223372036854775807 * 2", "bigint mul out of range"),
        ("-9223372036854775808 / -1", "bigint div out of range"),
        ("true + 1", "cannot coerce boolean to int"),
        ("not 1", "cannot coerce int to boolean"),
        ("1 and true", "cannot coerce int to boolean"),
        ("true and 1", "cannot coerce int to boolean"),
        ("int(1e30)", "double to int overflow for 1000000000000000019884624838656.000000"),
        ("random(5,1)", "empty range given to random"),
        ("random(-9223372036854775807, 9223372036854775807)", "random range is too large"),
        ("random_gaussian(1,5,1.0)", "gaussian parameter must be at least 2.000000 (not 1.000000)"),
        (
            "random_zipfian(1,5,1.0)",
            "zipfian parameter must be in range [1.001, 1000] (not 1.000000)",
        ),
        (
            "random_exponential(1,5,0)",
            "exponential parameter must be greater than zero (not 0.000000)",
        ),
        ("permute(1,0)", "permute size parameter must be greater than zero"),
        (":nothing + 1", "undefined variable \"nothing\""),
    ];
    for (source, message) in cases {
        assert_eq!(value(source), format!("ERROR {message}"), "{source}");
    }
}

#[test]
fn variables_and_the_seed_of_the_run_are_used() {
    assert_eq!(value(":x * :x"), "int 9");
    assert_eq!(value("hash(10)"), value("hash(10, 5432)"));
    assert_eq!(value("permute(1, 50)"), value("permute(1, 50, 5432)"));
}

/// A worker's stack may be small and an expression long.
#[test]
fn a_long_expression_needs_no_deep_stack() {
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let values = small.spawn(|| {
        let terms =
            |sign: &str, term: &str| format!("{term}{}", format!(" {sign} {term}").repeat(11_000));
        [
            value(&terms("+", "1")),
            value(&terms("-", ":x")),
            value(&terms("and", "true")),
            value(&terms("or", "1 > 2")),
            value(&format!("true{}", " is true".repeat(11_000))),
        ]
    });
    let values = values.expect("a thread").join().expect("the stack suffices");
    assert_eq!(
        values,
        ["int 11001", "int -32997", "boolean true", "boolean false", "boolean true"]
    );
}
