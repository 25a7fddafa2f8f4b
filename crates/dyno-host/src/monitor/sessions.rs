//! What sessions are doing, grouped: state, wait, statement without literals.

use super::Values;
use super::digest::digest;
use dyno_model::engine::Quoting;
use dyno_model::monitor::{SessionGroup, names};
use std::collections::BTreeMap;

/// Groups kept of one look; the rest is summed up in the last, without statement.
const GROUPS_MAX: usize = 12;

/// One session, or several that look the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenSession {
    pub(crate) sessions: u32,
    pub(crate) state: String,
    pub(crate) wait: String,
    /// As the server told it; may be cut off.
    pub(crate) statement: String,
}

/// Groups by state, wait and digest, most frequent first.
pub(super) fn grouped(seen: Vec<SeenSession>, quoting: Quoting) -> Vec<SessionGroup> {
    let mut counts: BTreeMap<(String, String, String), u32> = BTreeMap::new();
    for session in seen {
        let statement = digest(&session.statement, quoting);
        *counts.entry((session.state, session.wait, statement)).or_default() += session.sessions;
    }
    let group = |((state, wait, statement), sessions)| SessionGroup { sessions, state, wait, statement };
    let mut groups: Vec<SessionGroup> = counts.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.sessions));
    if groups.len() > GROUPS_MAX {
        let rest = groups.split_off(GROUPS_MAX - 1);
        let sessions = rest.iter().map(|group| group.sessions).sum();
        groups.push(SessionGroup { sessions, state: "other".to_owned(), ..SessionGroup::default() });
    }
    groups
}

/// Numbers of sessions at work and waiting, as values of a sample.
pub(super) fn count(groups: &[SessionGroup], values: &mut Values) {
    let sum = |is_wanted: &dyn Fn(&SessionGroup) -> bool| {
        let sessions = groups.iter().filter(|group| is_wanted(group)).map(|group| f64::from(group.sessions));
        // The sum of nothing is a negative zero.
        sessions.fold(0.0, |sum, sessions| sum + sessions)
    };
    values.put(names::SESSIONS, sum(&|_| true));
    values.put(names::SESSIONS_ACTIVE, sum(&|group| !group.is_idle()));
    values.put(names::SESSIONS_WAITING, sum(&|group| !group.is_idle() && !group.wait.is_empty()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(state: &str, wait: &str, statement: &str) -> SeenSession {
        SeenSession { sessions: 1, state: state.into(), wait: wait.into(), statement: statement.into() }
    }

    #[test]
    fn sessions_that_differ_only_in_literals_are_one_group() {
        let seen = vec![
            session("Query", "", "SELECT 1"),
            session("Query", "", "SELECT 2"),
            session("Sleep", "", ""),
        ];
        let groups = grouped(seen, Quoting::Mysql);
        assert_eq!(groups.len(), 2);
        assert_eq!((groups[0].sessions, groups[0].statement.as_str()), (2, "SELECT ?"));
        assert!(groups[1].is_idle());
    }

    #[test]
    fn many_groups_are_summed_up_and_none_is_lost() {
        let seen = (0..40).map(|i| session("Query", "", &format!("SELECT a FROM t{i}"))).collect();
        let groups = grouped(seen, Quoting::Mysql);
        assert_eq!(groups.len(), GROUPS_MAX);
        assert_eq!(groups.iter().map(|group| group.sessions).sum::<u32>(), 40);
    }

    #[test]
    fn sessions_at_work_and_waiting_are_counted() {
        let mut values = Values::default();
        let groups = grouped(
            vec![
                session("Query", "Commit", "COMMIT"),
                session("Query", "", "SELECT 1"),
                session("Sleep", "", ""),
            ],
            Quoting::Mysql,
        );
        count(&groups, &mut values);
        let of = |name| values.get(name);
        assert_eq!(
            [of(names::SESSIONS), of(names::SESSIONS_ACTIVE), of(names::SESSIONS_WAITING)],
            [Some(3.0), Some(2.0), Some(1.0)]
        );
    }
}
