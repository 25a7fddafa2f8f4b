//! Small scripts, each run by both programs.

use crate::program::{BOTH, Ended, Program, has_pgbench, postgres};

/// Scripts with the options that they are run with besides `-n -t 1`. What both programs do with
/// them must be the same: what they print, what they complain about, and how they end.
#[rustfmt::skip]
const SCRIPTS: &[(&str, &str)] = &[
    ("\\set x\n", ""),
    ("\\set x 1 +\n", ""),
    ("\\set x 1 + * 2\n", ""),
    ("\\set\n", ""),
    ("\\set 1x 5\n", ""),
    ("\\set x foo(1)\n", ""),
    ("\\set x abs(1,2)\n", ""),
    ("\\set x least()\n", ""),
    ("\\set x hash()\n", ""),
    ("\\set x hash(1,2,3)\n", ""),
    ("\\set x case when 1 end\n", ""),
    ("\\set x 99999999999999999999\n", ""),
    ("\\set x 9223372036854775808\n", ""),
    ("\\set x -9223372036854775808\n", ""),
    ("\\set x 1e999\n", ""),
    ("\\set x 5 $ 3\n", ""),
    ("SELECT 1;\n  \\set   x    (1 + 2\n", ""),
    ("\\foo\n", ""),
    ("\\sleep\n", ""),
    ("\\sleep 1 h\n", ""),
    ("\\sleep 1 ms x\n", ""),
    ("\\sleep 1h\n", ""),
    ("\\sleep abc\n", ""),
    ("\\sleep -1 us\n", ""),
    ("\\sleep :y\n", ""),
    ("\\set y 1\n\\sleep :y us\n", ""),
    ("\\if 1\n", ""),
    ("\\else\n", ""),
    ("\\endif\n", ""),
    ("\\if 1\n\\else\n\\else\n\\endif\n", ""),
    ("\\if 1\n\\else\n\\elif 1\n\\endif\n", ""),
    ("\\elif 1\n", ""),
    ("\\else 1\n", ""),
    ("\\endif x\n", ""),
    ("\\if\n\\endif\n", ""),
    ("\\gset\n", ""),
    ("select 1 \\gset a b\n", ""),
    ("select 1 as a  \\gset\nselect 2\n  as b \\gset\n", "-r"),
    ("select\n\t1 + nosuch,\n 3;\n", ""),
    ("\\set x 5\nselect :x, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', nosuch from pg_class where 1 = 1 and 2 = 2;\n", "-M extended"),
    ("select 1; \\gset\n", ""),
    ("\\startpipeline x\n", ""),
    ("\\startpipeline\n\\startpipeline\n", "-M extended"),
    ("\\startpipeline\nselect 1;\n", "-M extended"),
    ("\\endpipeline\n", "-M extended"),
    ("\\startpipeline\nselect 1;\n\\endpipeline\n", ""),
    ("\\startpipeline\nselect 1 \\gset\n\\endpipeline\n", "-M extended"),
    ("\\setshell x\n", ""),
    ("\\set x :undefined + 1\n", ""),
    ("\\set x 1/0\n", ""),
    ("\\set x 9223372036854775807 + 1\n", ""),
    ("\\set x -9223372036854775807 - 2\n", ""),
    ("\\set x 9223372036854775807 * 2\n", ""),
    ("\\set x -9223372036854775808 / -1\n", ""),
    ("\\set x 5.5 % 2\n\\set y debug(:x)", ""),
    ("\\set x true + 1\n", ""),
    ("\\set x not 1\n", ""),
    ("\\set x 1 and true\n", ""),
    ("\\set x int(1e30)\n", ""),
    ("\\set x random(5,1)\n", ""),
    ("\\set x random(-9223372036854775807,9223372036854775807)\n", ""),
    ("\\set x random_gaussian(1,5,1.0)\n", ""),
    ("\\set x random_zipfian(1,5,1.0)\n", ""),
    ("\\set x random_exponential(1,5,0)\n", ""),
    ("\\set x permute(1,0)\n", ""),
    ("select 1 where false \\gset\n", ""),
    ("create table if not exists t1(a int) \\gset\n", ""),
    ("select generate_series(1,2) as a \\gset\n", ""),
    ("select 5 as a, null as b, 2.5 as c, true as d, $$$$ as e \\gset p_\n\\set x debug(:p_a)\n\\set x debug(:p_c)\n\\set x debug(:p_d)\n\\set x debug(:p_b)\n", ""),
    ("select 1 as one \\; select 2 as two, 3 as three \\gset\n\\set x debug(:two)\n\\set x debug(:one)\n", ""),
    ("select 1 as one \\; select 2 as two, 3 as three \\aset\n\\set x debug(:two)\n\\set x debug(:one)\n", ""),
    ("select * from nonexist;\n", ""),
    ("select 1/0;\nselect 2;\n", ""),
    ("begin;\nselect 1;\n", ""),
    ("select ':x', :x, 'a'::text, '12:34'::text;\n", "-D x=5"),
    ("select :x;\n", "-M extended"),
    ("select :x;\n", ""),
    ("select 1 as \"a b\" \\gset\n", ""),
    ("\\set x debug(1)\n\\set x debug(1.5)\n\\set x debug(null)\n\\set x debug(true)\n\\set x debug(1.0/3)\n\\set x debug(1e20)\n\\set x debug(double(5))\n\\set x debug(pi())", ""),
    ("\\set x debug(:client_id)\n\\set x debug(:scale)\n", ""),
    ("\\set x debug(:random_seed)\n", "--random-seed=7"),
    ("-- only comment\n", ""),
    ("select 1\n", ""),
    ("select 1 -- c ; x\n, 2;\n\n\nselect /* ; */ 3;", "-r"),
    ("create or replace function f1() returns int begin atomic select 1; end;\nselect 2;", "-r"),
    ("select (1;2);", "-r"),
    ("select\n  1,\n  2;\n\\set x 1 + \\\n 2\n\\set y debug(:x)\n", "-r"),
    ("copy t1 from stdin;\n", ""),
    ("\\set x debug(:v)\n", "-D v=abc"),
    ("\\set x debug(:v)\n", "-D v="),
    ("\\set x debug(:v)\n", "-D v=12345678901234567890"),
    ("\\set x debug(:v)\n", "-D v=on"),
    ("\\if 2\nselect 1;\n\\elif 1/0\nselect 2;\n\\else\nselect 3;\n\\endif\n", "-r"),
    ("\\set x 1 +", ""),
    ("\\set x 1 + \\\n * 2\nselect 1;", ""),
    ("   \\set x 1 + )  \n", ""),
    ("select 1 \\; \\set x 1 + )  \n", ""),
    ("select 1 \\gset\n\\gset\n", ""),
    ("\\sleep 1 ms\n\\gset\n", ""),
    ("select 1 as a \\gset 1a\n", ""),
    ("\\\n", ""),
    ("\\ set x 1\n", ""),
    ("\\SET x 1\n", ""),
    ("\\sleep 0.5 s\n", ""),
    ("\\set a 2.5\n\\sleep :a us\n", ""),
    ("\\if 1\nselect 1;\n\\elif\n\\endif\n", ""),
    ("select 1;;;select 2;\n", "-r"),
    ("select $1;\n", ""),
    ("select 1 as a \\gset\nselect :a, :a::int, a:a from (select 1 as a) t;\n", ""),
    ("select $$a:b;c$$, E'\\';';\n", "-r"),
    ("\\if 0\nselect 1;\n\\elif 0\nselect 2;\n\\else\n\\if null\n\\else\n\\set x debug(3)\n\\endif\n\\endif\n", "-r"),
    ("\\startpipeline\nselect 1;\nselect 1/0;\nselect 2;\n\\endpipeline\n", "-M extended"),
    ("\\startpipeline\nselect 1;\nselect 2;\n\\endpipeline\nselect 3;\n", "-M prepared -r"),
    ("\\startpipeline\nselect 1;\n\\endpipeline\n\\startpipeline\nselect 2;\n\\endpipeline\n", "-M extended -t 3"),
    ("select 5 as a \\gset\nselect :a + 1 as b \\gset\n\\set c debug(:b)\n", "-M extended"),
    ("select 5 as a \\gset\nselect :a + 1 as b \\gset\n\\set c debug(:b)\n", "-M prepared -t 2"),
    ("\\set d 10 / 2.0\nselect :d::int as x \\gset\n\\set e debug(:x)\n", "-M prepared"),
    ("\\set a 1\nselect 'it''s :a' as x, :a as y \\gset\n\\set e debug(:y)\n", ""),
    ("create temp table if not exists t2 (a int);\ninsert into t2 values (1);\nselect count(*) as n from t2 \\gset\n\\set e debug(:n)\n", "-M prepared -t 2"),
    ("do $$ begin raise serialization_failure; end $$;\n", "-t 2"),
    ("do $$ begin raise serialization_failure; end $$;\n", "-t 2 --max-tries=3 --failures-detailed -r"),
    ("do $$ begin raise deadlock_detected; end $$;\n", "-t 2 --failures-detailed --verbose-errors"),
    ("begin;\nselect 1;\ndo $$ begin raise deadlock_detected; end $$;\nend;\n", "-t 2 --max-tries=2 -r"),
    ("\\set x random(1, 1000)\n\\set y debug(:x)\ndo $$ begin raise serialization_failure; end $$;\n", "-t 2 --max-tries=3 --random-seed=9"),
];

#[test]
fn every_script_does_the_same_in_both_programs() {
    let Some(bench) = postgres() else { return };
    let mut differences = Vec::new();
    for (text, options) in SCRIPTS {
        bench.script("s.sql", text);
        let mut arguments = vec!["-n", "-f", "s.sql", "-t", "1"];
        arguments.extend(options.split_whitespace());
        let ours = bench.run(Program::Dyno, &arguments).masked();
        assert!(matches!(ours.code, Some(0..=2)), "{text}: {ours:?}");
        if !has_pgbench() {
            continue;
        }
        let theirs = bench.run(Program::Pgbench, &arguments).masked();
        if ours != theirs {
            differences
                .push(format!("{text}{options}\n  pgbench: {theirs:?}\n  dyno:    {ours:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// What dyno does otherwise, on purpose (docs/pgbench.md).
#[test]
fn differences_from_pgbench_are_these() {
    let Some(bench) = postgres() else { return };
    let run = |text: &str, options: &[&str]| -> Ended {
        bench.script("s.sql", text);
        bench.run(Program::Dyno, &[&["-n", "-f", "s.sql", "-t", "1"], options].concat()).masked()
    };
    // A name in quotes is no parameter; pgbench sends one that the server knows nothing of.
    let quoted = run("select ':x', :x;\n", &["-D", "x=5", "-M", "extended"]);
    assert_eq!(quoted.code, Some(0), "{}", quoted.stderr);
    // pgbench 15 does not know the command, which came with version 17.
    let text = "\\startpipeline\nselect 1;\n\\syncpipeline\nselect 2;\n\\endpipeline\n";
    let synced = run(text, &["-M", "extended"]);
    assert_eq!(synced.code, Some(0), "{}", synced.stderr);
    // The shell is left alone.
    let shell = run("\\shell touch made-by-shell\n", &[]);
    assert_eq!(shell.code, Some(1));
    assert!(shell.stderr.contains("shell commands are not supported by dyno in command \"shell\""));
    assert!(!bench.folder().join("made-by-shell").exists());
    // The absolute value of a boolean is an error and no accident.
    assert_eq!(run("\\set x abs(true)\n", &[]).code, Some(2));
}

#[test]
fn expressions_are_worth_the_same_in_both_programs() {
    let Some(bench) = postgres() else { return };
    let expressions = [
        "random(1, 1000000)",
        "random_gaussian(1, 1000000, 2.5)",
        "random_exponential(-50, 50, 3.0)",
        "random_zipfian(1, 1000, 1.07)",
        "hash(:r)",
        "hash_fnv1a(:r)",
        "hash_murmur2(:r, :r)",
        "permute(:r, 1000000)",
        "permute(:r, 17, :r)",
        "permute(:r, 9223372036854775807)",
        ":r / 7.0",
        "sqrt(:r)",
        "ln(:r)",
        "exp(:r / 1e6)",
        "pow(:r, 1.5)",
        "mod(:r, 97)",
        ":r % 10 * 3 - 1",
        "case when :r % 2 = 0 then :r else -:r end",
        ":r is not null and :r > 500000",
        "~:r & 255 | :r << 3 # 5",
        "least(:r, 2.5, 7)",
        "greatest(:r, 12)",
        "int(:r / 3.0)",
        "double(:r)",
        "abs(-:r)",
        "random(-:r, :r)",
    ];
    let mut text = "\\set r random(1, 1000000)\n".to_owned();
    for expression in expressions {
        text.push_str(&format!("\\set x debug({expression})\n"));
    }
    bench.script("s.sql", &text);
    let seeds = ["1", "42", "18446744073709551615"];
    for seed in seeds {
        let seed = format!("--random-seed={seed}");
        let arguments = ["-n", "-f", "s.sql", "-t", "20", seed.as_str()];
        let ours = bench.run(Program::Dyno, &arguments);
        assert_eq!(ours.code, Some(0), "{}", ours.stderr);
        assert_eq!(ours.stderr.lines().count(), 20 * expressions.len() + 1);
        if has_pgbench() {
            assert_eq!(ours.stderr, bench.run(Program::Pgbench, &arguments).stderr, "{seed}");
        }
    }
}

#[test]
fn scripts_are_chosen_in_the_same_order_in_both_programs() {
    let Some(bench) = postgres() else { return };
    for number in 1..=3 {
        bench.script(&format!("{number}.sql"), &format!("\\set x debug({number})\n"));
    }
    let arguments = [
        "-n",
        "-f",
        "1.sql@1",
        "-f",
        "2.sql@5",
        "-f",
        "3.sql@0",
        "-t",
        "60",
        "--random-seed=3",
        "-c",
        "1",
    ];
    let [theirs, ours] = BOTH.map(|program| {
        (program == Program::Dyno || has_pgbench()).then(|| bench.run(program, &arguments))
    });
    let ours = ours.expect("dyno always runs");
    assert!(!ours.stderr.contains("script=2"), "a script without weight is never chosen");
    if let Some(theirs) = theirs {
        assert_eq!(ours.stderr, theirs.stderr);
    }
}
