//! The messages that are still open when a visit ends, what will happen to them, and why they still wait.

use dormouse_contracts::{Perception, Sender, Seq, SourceKind};
use dormouse_engine::{Activity, Heard, State, Trigger};
use dormouse_text::shortened;

use crate::item::OpenMessage;

/// How many open messages are listed; the others are only counted.
const NAMED: usize = 3;

/// How much of a message is printed, in characters.
const EXCERPT: usize = 60;

/// The messages that wait at the end, and what they wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// How many messages.
    pub(super) count: usize,
    /// What the assistant was doing when the visit ended.
    pub(super) activity: Activity,
    /// Why they wait, if a file cannot be written or a service cannot be reached.
    pub(super) cause: Option<String>,
    /// The first of these messages.
    pub(super) open: Vec<OpenMessage>,
}

impl Waiting {
    /// The messages that wait in this state and in the world, of the senders that count. `unheard` are perceptions that the
    /// assistant has not received.
    pub(super) fn new(
        activity: Activity,
        state: Option<&State>,
        unheard: &[Perception],
        counts: impl Fn(&Sender) -> bool,
    ) -> Self {
        let accepted = state.into_iter().flat_map(accepted);
        let accepted = accepted.filter(|(heard, _)| counts(sender(heard)));
        let accepted = accepted.map(|(message, act)| OpenMessage {
            act,
            ..heard(message)
        });
        let unheard = unheard.iter().filter(|it| asks_for_an_answer(it));
        let unheard = unheard.filter(|it| counts(&it.attested.sender));
        let mut open: Vec<_> = accepted.chain(unheard.map(unaccepted)).collect();
        let count = open.len();
        open.truncate(NAMED);
        let cause = match &activity {
            Activity::WorldUnreachable { cause, .. } => cause.clone(),
            Activity::Stalled { cause } => Some(cause.clone()),
            _ => state.and_then(obstacle),
        };
        Self {
            count,
            activity,
            cause,
            open,
        }
    }
}

/// Who sent the messages that are accepted and not finished.
pub(super) fn senders(state: &State) -> impl Iterator<Item = &Sender> {
    accepted(state).map(|(message, _)| sender(message))
}

/// Who sent the perceptions that ask for an answer.
pub(super) fn asking(unheard: &[Perception]) -> impl Iterator<Item = &Sender> {
    let unheard = unheard.iter().filter(|it| asks_for_an_answer(it));
    unheard.map(|it| &it.attested.sender)
}

fn sender(heard: &Heard) -> &Sender {
    &heard.perception.attested.sender
}

/// The messages that are accepted and not finished, in the order in which they will be handled, each with the act that is under
/// way for it.
fn accepted(state: &State) -> impl Iterator<Item = (&Heard, Option<String>)> {
    let begun = state.turns.open().filter_map(|turn| {
        let effect = turn.open_call().and_then(|call| call.effect.as_ref());
        let act = effect.map(|effect| effect.tool.to_string());
        Some((turn.message()?, act))
    });
    let waiting = state.turns.waiting().filter_map(Trigger::message);
    begun.chain(waiting.map(|message| (message, None)))
}

/// Why the world could not be reached, if the next attempt is already under way.
fn obstacle(state: &State) -> Option<String> {
    state.turns.current()?.world.obstacle.clone()
}

fn heard(heard: &Heard) -> OpenMessage {
    let Seq(event) = heard.seq;
    OpenMessage {
        event: Some(event),
        ..unaccepted(&heard.perception)
    }
}

fn unaccepted(perception: &Perception) -> OpenMessage {
    OpenMessage {
        event: None,
        from: perception.attested.sender.name().to_owned(),
        text: shortened(perception.words.as_claimed(), EXCERPT).into_owned(),
        act: None,
    }
}

/// Whether a perception is a message to the assistant, judged by how it was said. It is classified only when the
/// assistant receives it.
fn asks_for_an_answer(perception: &Perception) -> bool {
    let attested = &perception.attested;
    let is_direct = matches!(
        attested.source,
        SourceKind::Addressed | SourceKind::Whisper | SourceKind::Page
    );
    is_direct && !matches!(attested.sender, Sender::Myself { .. })
}
