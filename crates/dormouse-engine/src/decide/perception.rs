//! What a message is to the assistant.

use dormouse_classify::{
    Classification, MessageVerdict, Rule, classify, find_mention, source_trust,
};
use dormouse_contracts::{Attested, Origin, Perception, Seq};
use dormouse_text::is_blank;

use super::View;
use crate::{
    event::{NameDoubt, Perceived},
    render,
    state::People,
};

/// What a message is to the assistant, and by which rule.
pub(crate) fn classification(view: View<'_>, perception: &Perception) -> Classification {
    if is_blank(perception.words.as_claimed()) {
        return Classification {
            verdict: MessageVerdict::Ignore,
            rule: Rule::Fallback,
        };
    }
    let mention = find_mention(&perception.words, view.key);
    classify(&perception.attested, mention, &view.config().classify)
}

/// The event by which a message is accepted, at this place in the log. `people` are those who were heard before it.
pub(crate) fn perceived(
    view: View<'_>,
    seq: Seq,
    perception: Perception,
    classification: Classification,
    people: &People,
) -> Perceived {
    let trust = source_trust(&perception.attested, &view.config().classify);
    let doubts = doubts(view, &perception.attested, people);
    // Counts what a prompt will show, not what was said: a line break takes more tokens in a prompt.
    let shown = render::perception(Origin::event(seq), &perception, trust, &doubts, usize::MAX);
    let tokens = view.counter.count(&shown).tokens;
    Perceived {
        perception,
        classification,
        trust,
        tokens,
        doubts,
    }
}

/// What makes the name of a sender suspicious.
fn doubts(view: View<'_>, attested: &Attested, people: &People) -> Vec<NameDoubt> {
    let own = [view.key.as_str(), render::YOU];
    let own = own.into_iter().chain(view.config().name.as_deref());
    people.doubts(attested, own)
}
