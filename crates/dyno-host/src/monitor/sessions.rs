//! Activity of sessions, grouped by state, wait and statement without literals.

use super::digest::digest;
use crate::engine::{SessionActivity, Values};
use dyno_model::engine::Syntax;
use dyno_model::monitor::{SessionGroup, names};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Maximum number of groups per sample; the rest is summed up in the last one, without a statement.
const GROUPS_MAX: usize = 12;

/// Groups by state, wait and digest, most frequent first. Sessions that do the same on tables of
/// their own, `t_1` and `t_2`, are together, on `t_*`.
pub(super) fn grouped(seen: Vec<SessionActivity>, syntax: Syntax) -> Vec<SessionGroup> {
    let mut groups: BTreeMap<(String, String, String), SessionGroup> = BTreeMap::new();
    for SessionActivity { sessions, state, wait, statement } in seen {
        let statement = digest(&statement, syntax);
        let alike = without_numbers(&statement);
        match groups.entry((state.clone(), wait.clone(), alike.clone())) {
            Entry::Vacant(entry) => {
                entry.insert(SessionGroup { sessions, state, wait, statement });
            }
            Entry::Occupied(mut group) => {
                let group = group.get_mut();
                group.sessions += sessions;
                if group.statement != statement {
                    group.statement = alike;
                }
            }
        }
    }
    let mut groups: Vec<SessionGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.sessions));
    if groups.len() > GROUPS_MAX {
        let rest = groups.split_off(GROUPS_MAX - 1);
        let sessions = rest.iter().map(|group| group.sessions).sum();
        groups.push(SessionGroup {
            sessions,
            state: "other".to_owned(),
            ..SessionGroup::default()
        });
    }
    groups
}

/// Replaces each number by `*`.
fn without_numbers(statement: &str) -> String {
    let mut text = String::with_capacity(statement.len());
    for c in statement.chars() {
        match c.is_ascii_digit() {
            false => text.push(c),
            true if !text.ends_with('*') => text.push('*'),
            true => {}
        }
    }
    text
}

/// Adds the numbers of active and waiting sessions to a sample.
pub(super) fn count_by_state(groups: &[SessionGroup], values: &mut Values) {
    let sum = |is_wanted: &dyn Fn(&SessionGroup) -> bool| {
        let sessions =
            groups.iter().filter(|group| is_wanted(group)).map(|group| f64::from(group.sessions));
        // The sum of no values is negative zero.
        sessions.fold(0.0, |sum, sessions| sum + sessions)
    };
    values.put(names::SESSIONS, sum(&|_| true));
    values.put(names::SESSIONS_ACTIVE, sum(&|group| !group.is_idle()));
    values.put(names::SESSIONS_WAITING, sum(&|group| !group.is_idle() && !group.wait.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(state: &str, wait: &str, statement: &str) -> SessionActivity {
        SessionActivity {
            sessions: 1,
            state: state.into(),
            wait: wait.into(),
            statement: statement.into(),
        }
    }

    #[test]
    fn sessions_that_do_the_same_on_tables_of_their_own_form_one_group() {
        let create = |number: u32| {
            session("Query", "schema lock", &format!("CREATE TABLE crud_{number} (id INT)"))
        };
        let groups = grouped((1..=30).map(create).collect(), Syntax::MYSQL);
        let [group] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!(
            (group.sessions, group.statement.as_str()),
            (30, "CREATE TABLE crud_* (id INT)")
        );
        let alone = grouped(vec![create(7)], Syntax::MYSQL);
        assert_eq!(alone[0].statement, "CREATE TABLE crud_7 (id INT)");
    }

    #[test]
    fn sessions_that_differ_only_in_literals_form_one_group() {
        let seen = vec![
            session("Query", "", "SELECT 1"),
            session("Query", "", "SELECT 2"),
            session("Sleep", "", ""),
        ];
        let groups = grouped(seen, Syntax::MYSQL);
        assert_eq!(groups.len(), 2);
        assert_eq!((groups[0].sessions, groups[0].statement.as_str()), (2, "SELECT ?"));
        assert!(groups[1].is_idle());
    }

    #[test]
    fn surplus_groups_are_summed_up_and_none_is_lost() {
        let seen = (0..40)
            .map(|i| session("Query", "", &format!("SELECT a FROM t{}", "x".repeat(i))))
            .collect();
        let groups = grouped(seen, Syntax::MYSQL);
        assert_eq!(groups.len(), GROUPS_MAX);
        assert_eq!(groups.iter().map(|group| group.sessions).sum::<u32>(), 40);
    }

    #[test]
    fn active_and_waiting_sessions_are_counted() {
        let mut values = Values::default();
        let groups = grouped(
            vec![
                session("Query", "Commit", "COMMIT"),
                session("Query", "", "SELECT 1"),
                session("Sleep", "", ""),
            ],
            Syntax::MYSQL,
        );
        count_by_state(&groups, &mut values);
        let of = |name| values.get(name);
        assert_eq!(
            [of(names::SESSIONS), of(names::SESSIONS_ACTIVE), of(names::SESSIONS_WAITING)],
            [Some(3.0), Some(2.0), Some(1.0)]
        );
    }
}
