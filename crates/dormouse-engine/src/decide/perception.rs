//! What a message is to the assistant.

use dormouse_classify::{
    Classification, MessageVerdict, Rule, classify, find_mention, source_trust, trust_with_history,
};
use dormouse_contracts::{Attested, Origin, Perception, Sender, Seq, SourceKind, Trust};
use dormouse_text::is_blank;

use super::View;
use crate::{
    event::{MovedTrust, NameDoubt, Perceived, Refusal},
    render,
    state::{CrossTalk, People},
};

/// The verdict on a message, and the rule that decided it. `cross_talk` is what other assistants said before it.
pub(crate) fn classification(
    view: View<'_>,
    perception: &Perception,
    cross_talk: CrossTalk,
) -> Classification {
    if is_blank(perception.words.as_claimed()) {
        return Classification {
            verdict: MessageVerdict::Ignore,
            rule: Rule::Fallback,
        };
    }
    let mention = find_mention(&perception.words, view.key);
    let classification = classify(&perception.attested, mention, &view.config().classify);
    let is_exchange = classification.verdict == MessageVerdict::Trigger
        && matches!(perception.attested.sender, Sender::Assistant { .. });
    if is_exchange && view.config().limits.ends_exchanges(cross_talk) {
        return Classification {
            verdict: MessageVerdict::Context,
            rule: Rule::ExchangeLimit,
        };
    }
    classification
}

/// The event by which a message is accepted, at this place in the log. `people` are those who were heard before it.
pub(crate) fn perceived(
    view: View<'_>,
    seq: Seq,
    mut perception: Perception,
    (classification, refused): (Classification, Option<Refusal>),
    people: &People,
) -> Perceived {
    // A list that is too long would fill the log, so the audience counts as unknown.
    let audience = &mut perception.attested.audience;
    *audience = audience.take().filter(|all| !all.is_too_long());
    let (trust, moved) = believed(view, &perception.attested, people);
    let doubts = doubts(view, &perception.attested, people);
    let is_public = is_public(view, &perception.attested);
    // Counts what a prompt will show, not what was said: a line break takes more tokens in a prompt.
    let shown = render::perception(Origin::event(seq), &perception, trust, &doubts, usize::MAX);
    let tokens = view.counter.count(&shown).tokens;
    Perceived {
        perception,
        classification,
        trust,
        tokens,
        doubts,
        moved,
        refused,
        is_public,
    }
}

/// Whether the operator marked where it was said as public. A whisper in a public place stays a whisper.
fn is_public(view: View<'_>, attested: &Attested) -> bool {
    let config = view.config();
    match &attested.source {
        SourceKind::Channel(channel) => config.public_channels.contains(channel),
        SourceKind::Addressed
        | SourceKind::Say
        | SourceKind::Pose
        | SourceKind::Movement
        | SourceKind::Emit => {
            let place = attested.place.as_ref();
            place.is_some_and(|place| config.public_places.contains(&place.id))
        }
        _ => false,
    }
}

/// The trust of a message, and what moved it away from the trust of its source.
fn believed(view: View<'_>, attested: &Attested, people: &People) -> (Trust, Option<MovedTrust>) {
    let classify = &view.config().classify;
    let source = source_trust(attested, classify);
    let history = people.history(attested);
    let Some(by) = history.filter(|_| view.config().sender_history) else {
        return (source, None);
    };
    let trust = trust_with_history(attested, classify, by);
    (
        trust,
        (trust != source).then_some(MovedTrust { source, by }),
    )
}

/// What makes the name of a sender suspicious.
fn doubts(view: View<'_>, attested: &Attested, people: &People) -> Vec<NameDoubt> {
    let own = [view.key.as_str(), render::YOU];
    let own = own.into_iter().chain(view.config().name.as_deref());
    people.doubts(attested, own)
}
