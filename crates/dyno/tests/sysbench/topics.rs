//! One test for each topic and place: every script does the same in both programs, or differs as
//! the table allows.

use crate::comparison::compare_topic;
use dyno_model::plan::ServerKind;

macro_rules! topics {
    ($($topic:ident)*) => {
        $(mod $topic {
            use super::*;

            #[test]
            fn scripts_do_the_same_without_a_server() {
                compare_topic(stringify!($topic), None);
            }

            #[test]
            fn scripts_do_the_same_on_mariadb() {
                compare_topic(stringify!($topic), Some(ServerKind::Mariadb));
            }

            #[test]
            fn scripts_do_the_same_on_mysql() {
                compare_topic(stringify!($topic), Some(ServerKind::Mysql));
            }

            #[test]
            fn scripts_do_the_same_on_postgresql() {
                compare_topic(stringify!($topic), Some(ServerKind::Postgres));
            }
        })*
    };
}

topics!(engine options sql errors random legacy reports commands wild);
