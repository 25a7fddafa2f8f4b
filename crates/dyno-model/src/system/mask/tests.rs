use super::*;
use proptest::prelude::*;

/// Addresses as users write them, valid and mistyped. `PW` is the password.
const WITH_PASSWORD: &[&str] = &[
    "postgres://u:PW@h/d",
    "postgres:///u:PW@h/d",
    "postgres:/u:PW@h/d",
    "postgres:u:PW@h/d",
    "postgres//u:PW@h/d",
    "postgress://u:PW@h:5432/d",
    "postgress:/u:PW@h/d",
    "PostgreSQL:u:PW@h",
    "ostgres://u:PW@h/d?sslmode=require",
    "u:PW@h/d",
    "u:PW@tcp(h:3306)/d",
    "//u:PW@h/d",
    "http://u:PW@h:8080/p",
    "mysql://u:PW@[::1]:3306/d",
    "mysql://u:PW@",
    "mysql://:PW@h/d",
    "postgres://u:PW",
    "postgres://u:PW/h/d",
    "postgres://u:PW#h/d",
    "postgres://u:PW h/d",
    "postgres://u:two PW@h/d",
    "postgres://u:PW/x@h/d",
    "postgres://u:a@PW@h/d",
    "postgres://u:PW'x@h/d",
    "jdbc:postgresql://h/d?user=u&password=PW",
    "jdbc:mysql://u:PW@h/d",
    "jdbc:mysql:u:PW@h/d",
    "jdbc:sqlserver://h:1433;user=u;password=PW;encrypt=true",
    "postgres://u@h/d?passwd=PW",
    "postgres://u@h/d?pasword=PW&sslmode=require",
    "postgres://u@h/d?sslpassword=PW",
    "host=h password=PW",
    "host=h password = PW user=u",
    "host = h passwd='PW x' user=u",
    "host=h password='PW",
    "host=h password=a\\ PW user=u",
    "host=h passwort=PW dbname=d",
    "PASSWORD=PW host=h",
    "host=h user=u password PW dbname=d",
    "host=h password=my PW",
    "PGPASSWORD=PW psql -h h",
    "MYSQL_pwd='PW' mysql -u u",
    "sysbench --mysql-password=PW run",
    "--pgsql_password=PW",
    "--set system.A.url=postgres:/u:PW@h/d",
    "mysql -uroot -pPW -e 'SELECT 1'",
    "mysqladmin -u root -p'PW' status",
    "CREATE USER a PASSWORD 'PW'",
    "alter user a with encrypted password E'PW'",
    "CREATE USER a IDENTIFIED BY 'PW'",
    "CREATE USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY 'PW'",
    "SET PASSWORD = PASSWORD('PW')",
    "CHANGE MASTER TO MASTER_PASSWORD='PW'",
    "dblink_connect('host=a password=PW dbname=b')",
];

/// Text around an address in a message.
const FRAMES: &[&str] = &[
    "@@",
    "error: `@@` is no address",
    "unexpected argument '@@' found",
    "(\"@@\")",
    "a@@\nb",
    "url = \"@@\"\n",
];

#[test]
fn no_password_of_an_address_is_left_however_it_is_mistyped() {
    for address in WITH_PASSWORD {
        for frame in FRAMES {
            for password in ["hunter2", "h#unter2", "hunter2é"] {
                let text = frame.replace("@@", &format!(" {}", address.replace("PW", password)));
                let clean = masked(&text);
                assert!(!clean.contains("unter2"), "{text}: {clean}");
                assert!(clean.contains(MASK) && is_masked(&clean), "{text}: {clean}");
                assert_eq!(masked(&clean), clean, "masked twice");
            }
        }
    }
}

#[test]
fn text_without_passwords_is_not_masked() {
    for text in [
        "postgres://bench@h:5432/d",
        "postgres://h1:5432,h2:5433/d",
        "url = \"mysql://bench@[::1]:3306/db\"",
        "http://localhost:8080/orders, http://[::1]:8080.",
        "write `http://HOST:PORT`, or `mysql://USER:PASSWORD@HOST:PORT/DATABASE`",
        "http://${env:HOST}:${env:PORT}/x",
        "psql postgres://u:$PGPASS@h/d",
        "sqlite:///var/lib/a.db",
        "fast.sql@19 and slow.sql@1: 20 transactions",
        "spec.toml:3:5: `x` is unknown",
        "12:00:01 https://github.com/a/b@v1",
        "column \"password\" does not exist",
        "password authentication failed for user \"bench\"",
        "SELECT password FROM u WHERE id = ? AND password = $1",
        "password_env = \"BENCH_PASSWORD\"   # export PGPASSWORD='...' before starting dyno",
        "password_file = \"/run/secrets/db\", passfile=/x",
        "passed=3 failed=1",
        "host=h user=u: password authentication failed",
        "--mysql-password=STRING",
        "'bench'@'localhost' is unknown",
        "root@localhost:3306",
        "ends with ://",
        "mysql -p 3306, mysql --port 3306",
        "user identified, and \"x\"",
    ] {
        assert_eq!(masked(text), text);
        assert!(!is_masked(text), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_can_be_masked(text in "(\\PC|[:/@='\" \\n\\\\]|password|mysql -p|identified|://){0,40}") {
        let clean = masked(&text).into_owned();
        let _ = (masked(&clean), is_masked(&clean));
    }
}
