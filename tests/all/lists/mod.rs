//! Lists of servers, in each form.

mod cod4x;
mod gamespy1;
mod gamespy2;
mod net;
mod passes;
mod ut2004;

use std::time::{Duration, Instant};

use queryport::lists::{Cod4xList, GameSpy1List, GameSpy2List, ListRequest, Ut2004List};
use queryport::{GameKey, ListError, Timing};

/// A clock that goes on before the first bytes are taken ends no session before its deadline.
#[test]
fn a_session_of_each_list_has_the_whole_time_for_its_first_bytes() {
    let key = || GameKey::new("tG3j8c").unwrap();
    let requests: [ListRequest; 5] = [
        GameSpy1List::new("ut", key()).into(),
        GameSpy1List::without_login("netpanzer").into(),
        GameSpy2List::new("swat4", key()).into(),
        Cod4xList::new(6).into(),
        Ut2004List::new(3369).into(),
    ];
    let start = Instant::now();
    let deadline = start + Timing::default().timeout();
    for request in requests {
        let session = |now| {
            let request = request.clone();
            let mut session = request.session(7, Timing::default(), start).unwrap();
            session.handle_timeout(now);
            session
        };
        let sent = |now| {
            let mut out = Vec::new();
            session(now).poll_transmit(now, &mut out);
            out
        };
        let last = deadline - Duration::from_nanos(1);
        assert_eq!(session(last).poll_answer(), None, "{request:?}");
        assert_eq!(sent(last), sent(start), "{request:?}");
        let answer = session(deadline).poll_answer();
        assert_eq!(answer, Some(Err(ListError::NoReply)), "{request:?}");
        assert_eq!(sent(deadline), b"", "{request:?}");
    }
}
