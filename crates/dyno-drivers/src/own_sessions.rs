//! Sessions that this process opened to ask a system something. A server lists one for a moment
//! after it was closed, and dyno must not take its own for somebody else's.

use crate::lock;
use dyno_model::target::{Endpoint, Target};
use std::sync::Mutex;

/// Where they were opened, with the server's numbers. Those of clients are not among them: nothing
/// is shared on their way, and a trial waits for the end of theirs.
static OPENED: Mutex<Vec<(Endpoint, u32)>> = Mutex::new(Vec::new());

/// Notes a session.
pub(crate) fn note(target: &Target, number: Option<u32>) {
    if let Some(number) = number {
        let mut opened = lock(&OPENED);
        opened.push((target.endpoint.clone(), number));
    }
}

/// Which of the sessions that a server lists are this process's. A number that is not listed any
/// more is forgotten: a server may give it to somebody else.
#[must_use]
pub fn among(endpoint: &Endpoint, listed: &[u32]) -> Vec<u32> {
    let mut opened = lock(&OPENED);
    opened.retain(|(place, number)| place != endpoint || listed.contains(number));
    opened.iter().filter(|(place, _)| place == endpoint).map(|(_, number)| *number).collect()
}

/// Forgets the sessions on a server that is restarted: its numbers begin anew.
pub fn forget(endpoint: &Endpoint) {
    let _ = among(endpoint, &[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::Engine;

    #[test]
    fn a_number_is_own_where_it_was_given_and_until_it_is_listed_no_more() {
        let place = |port| Endpoint::Tcp { host: "own-sessions.test".to_owned(), port };
        for number in [7, 8] {
            note(&Target::new(Engine::Mysql, place(1)), Some(number));
        }
        note(&Target::new(Engine::Mysql, place(1)), None);
        assert_eq!(among(&place(2), &[7, 8, 9]), [0; 0]);
        assert_eq!(among(&place(1), &[7, 8, 9]), [7, 8]);
        assert_eq!(among(&place(1), &[8, 9]), [8]);
        assert_eq!(among(&place(1), &[7, 8, 9]), [8]);
        forget(&place(1));
        assert_eq!(among(&place(1), &[7, 8, 9]), [0; 0]);
    }
}
