//! Sessions that this process opened for queries. A server may list a session for a moment after it
//! was closed, and dyno must not take it for a session of others.

use dyno_model::sync::lock;
use dyno_model::target::{Endpoint, Target};
use std::sync::Mutex;

/// Endpoints and session ids. Sessions of clients are not included: nothing is shared on their hot
/// path, and a trial waits until they end.
static OPENED: Mutex<Vec<(Endpoint, u32)>> = Mutex::new(Vec::new());

/// Records a session.
pub(crate) fn note(target: &Target, session_number: Option<u32>) {
    if let Some(number) = session_number {
        let mut opened = lock(&OPENED);
        opened.push((target.endpoint.clone(), number));
    }
}

/// Which of the sessions listed by a server belong to this process. Ids that are no longer listed
/// are forgotten, because a server may reuse them.
#[must_use]
pub fn among(endpoint: &Endpoint, listed: &[u32]) -> Vec<u32> {
    let mut opened = lock(&OPENED);
    opened.retain(|(of, number)| of != endpoint || listed.contains(number));
    opened.iter().filter(|(of, _)| of == endpoint).map(|(_, number)| *number).collect()
}

/// Forgets the sessions of a server that is restarted and reuses ids.
pub fn forget(endpoint: &Endpoint) {
    let _ = among(endpoint, &[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::target::Engine;

    #[test]
    fn an_id_is_own_on_its_server_until_it_is_no_longer_listed() {
        let endpoint = |port| Endpoint::Tcp { host: "own-sessions.test".to_owned(), port };
        for number in [7, 8] {
            note(&Target::new(Engine::Mysql, endpoint(1)), Some(number));
        }
        note(&Target::new(Engine::Mysql, endpoint(1)), None);
        assert_eq!(among(&endpoint(2), &[7, 8, 9]), [0; 0]);
        assert_eq!(among(&endpoint(1), &[7, 8, 9]), [7, 8]);
        assert_eq!(among(&endpoint(1), &[8, 9]), [8]);
        assert_eq!(among(&endpoint(1), &[7, 8, 9]), [8]);
        forget(&endpoint(1));
        assert_eq!(among(&endpoint(1), &[7, 8, 9]), [0; 0]);
    }
}
