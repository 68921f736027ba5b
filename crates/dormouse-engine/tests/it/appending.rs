//! Deciding and appending while somebody else appends, too.

use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, Author, BoxFuture, Seq, Timestamp,
};
use dormouse_engine::{
    Event, GoalMoment, GoalNote, NewGoal, ReplayError, State, USUAL_PRIORITY, append_decided,
    restore,
};
use dormouse_testing::{ManualClock, MemoryLog};

use crate::home::{in_virtual_time, key};

/// A log to which somebody else appends first, so many times.
struct MovingLog {
    log: MemoryLog,
    moves: AtomicUsize,
}

impl MovingLog {
    fn new(moves: usize) -> Self {
        Self {
            log: MemoryLog::new(),
            moves: AtomicUsize::new(moves),
        }
    }

    fn end(&self) -> Seq {
        self.log
            .events(&key())
            .last()
            .map_or(Seq::ZERO, |it| it.seq)
    }

    async fn look(&self) -> Result<State, DecideError> {
        Ok(restore(&self.log, &key()).await?)
    }
}

impl Append for MovingLog {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(async move {
            let left = self.moves.load(Ordering::SeqCst);
            if left > 0 {
                self.moves.store(left - 1, Ordering::SeqCst);
                let other = goal(&self.look().await.unwrap(), "somebody else's");
                let other = AppendRequest {
                    assistant: key(),
                    expected: self.end(),
                    events: vec![other.encode(Timestamp::EPOCH).unwrap()],
                };
                self.log.append(other).await.unwrap();
            }
            self.log.append(request).await
        })
    }
}

#[derive(Debug, thiserror::Error)]
enum DecideError {
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error(transparent)]
    Encode(#[from] serde_json::Error),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

fn goal(state: &State, text: &str) -> Event {
    let goal = NewGoal {
        description: GoalNote::by_operator(text),
        priority: USUAL_PRIORITY,
        parent: None,
        moment: GoalMoment::default(),
    };
    let author = Author::Operator("Ada".to_owned());
    Event::GoalCreated(state.goals.create(goal, author).unwrap())
}

#[test]
fn what_is_decided_on_a_state_that_is_past_is_decided_again() {
    in_virtual_time(async {
        let (log, clock) = (MovingLog::new(3), ManualClock::new(Timestamp::EPOCH));
        let mut seen = Vec::new();
        let key = key();
        let decided = append_decided(
            &log,
            &key,
            &clock,
            || log.look(),
            |state| {
                seen.push(state.seq.0);
                Ok::<_, DecideError>(vec![goal(state, "mine")])
            },
        );
        let decided = decided.await.unwrap();
        assert_eq!(seen, [0, 1, 2, 3]);
        assert_eq!(decided.through, Seq(4));
        let goals = restore(&log.log, &key).await.unwrap().goals;
        let texts: Vec<_> = goals
            .iter()
            .map(|goal| goal.description.text.clone())
            .collect();
        assert_eq!(texts.len(), 4, "each has a number of its own: {texts:?}");
    });
}

#[test]
fn a_log_that_never_rests_is_given_up_after_sixteen_attempts() {
    in_virtual_time(async {
        let (log, clock) = (
            MovingLog::new(usize::MAX),
            ManualClock::new(Timestamp::EPOCH),
        );
        let decide = |state: &State| Ok(vec![goal(state, "mine")]);
        let decided = append_decided(&log, &key(), &clock, || log.look(), decide).await;
        let Err(DecideError::Append(error)) = decided else {
            panic!("{decided:?}")
        };
        assert!(matches!(error.kind(), AppendErrorKind::Conflict { .. }));
        assert_eq!(log.end(), Seq(16), "nothing but what somebody else wrote");
    });
}

#[test]
fn without_events_nothing_is_written() {
    in_virtual_time(async {
        let (log, clock) = (MovingLog::new(1), ManualClock::new(Timestamp::EPOCH));
        let nothing = |_: &State| Ok::<_, DecideError>(Vec::new());
        let decided = append_decided(&log, &key(), &clock, || log.look(), nothing).await;
        assert!(decided.unwrap().events.is_empty());
        assert_eq!(log.end(), Seq::ZERO);
    });
}
