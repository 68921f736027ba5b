//! Whether a message that is classified is also answered: what one sender may ask, and how long assistants may talk with
//! each other.
//!
//! The rules of classification say what a message is. This says how much of it the assistant can take, so it depends on
//! earlier messages and on the time.

use std::collections::BTreeMap;

use dormouse_classify::{Classification, MessageVerdict, Rule};
use dormouse_contracts::{Attested, Sender};

use super::View;
use crate::{
    event::Refusal,
    state::{Heard, Judgement, SenderLoads, Trigger, is_output},
};

/// The messages before the next one, as far as its admission depends on them.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    pub(crate) admission: &'a SenderLoads,
    /// How many messages of each person wait, in addition to those in the state.
    pub(crate) waiting: Option<&'a BTreeMap<String, usize>>,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// It is kept, with this classification.
    Kept {
        classification: Classification,
        refused: Option<Refusal>,
    },
    /// It is only counted.
    Dropped,
}

/// Decides what becomes of a message with this classification.
///
/// A message that is not answered is overheard: the assistant still knows it. The first such message of a sender keeps
/// its verdict: it gets a turn, in which the notice is said to the sender without asking the model.
pub(crate) fn admit(
    view: View<'_>,
    attested: &Attested,
    classification: Classification,
    before: Before<'_>,
) -> Admitted {
    let kept = |verdict, refused| Admitted::Kept {
        classification: Classification {
            verdict,
            ..classification
        },
        refused,
    };
    let verdict = classification.verdict;
    let settings = &view.config().admission;
    let is_output = matches!(attested.sender, Sender::Myself { .. }) || is_output(attested);
    if settings.is_off() || is_output || verdict == MessageVerdict::Ignore {
        return kept(verdict, None);
    }
    let person = view.state.identities.person(&attested.sender);
    let waiting = waiting_of(view, person, before);
    let judged = (before.admission).judge(settings, person, verdict, waiting, view.now);
    let first = |is_told: bool, notice: &str| {
        let is_told = is_told || notice.trim().is_empty() || is_notice_waiting(view, person);
        match is_told {
            true => MessageVerdict::Context,
            false => MessageVerdict::Trigger,
        }
    };
    match judged {
        Judgement::Dropped => Admitted::Dropped,
        _ if classification.rule == Rule::ExchangeLimit => {
            let id = attested.sender.id();
            let has_parted = id.is_none_or(|id| before.admission.has_parted(id));
            kept(
                first(has_parted, &settings.farewell),
                Some(Refusal::Exchanges),
            )
        }
        Judgement::Within => kept(verdict, None),
        Judgement::NotAnswered { cause, is_told } => {
            kept(first(is_told, &settings.refusal_notice), Some(cause))
        }
    }
}

/// The messages of a person that wait for an answer, the one being answered included.
fn messages_of<'a>(view: View<'a>, person: &'a str) -> impl Iterator<Item = &'a Heard> {
    let open = view.state.turns.open().map(|turn| &turn.trigger);
    let all = open.chain(view.state.turns.waiting());
    let messages = all.filter_map(Trigger::message);
    messages.filter(move |heard| {
        let sender = &heard.perception.attested.sender;
        view.state.identities.person(sender) == person
    })
}

fn waiting_of(view: View<'_>, person: &str, before: Before<'_>) -> usize {
    let more = before.waiting.and_then(|waiting| waiting.get(person));
    messages_of(view, person).count() + more.copied().unwrap_or_default()
}

/// Whether a notice for the person waits to be said. In a long outage there is still only one.
fn is_notice_waiting(view: View<'_>, person: &str) -> bool {
    messages_of(view, person).any(|heard| heard.refused.is_some())
}
