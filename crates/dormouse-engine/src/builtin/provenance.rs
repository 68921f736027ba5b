//! The source of a line that the model wants to keep, and the resulting trust.
//!
//! What a model writes may come from any part of its prompt. Only a line that quotes the message it answers certainly
//! comes from that message.

use dormouse_contracts::{Attribution, Origin, Trust};

use super::tools::is_own;
use crate::{
    event::{Source, Verdict},
    state::{CallState, State, Trigger, Turn},
};

/// The trust of a line, and the person it came from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Provenance {
    pub(crate) trust: Trust,
    pub(crate) from: Attribution,
    pub(crate) origin: Origin,
}

/// The trust of what the world answered: the answer may hold text that anybody wrote there.
pub(crate) const SURROUNDINGS_TRUST: Trust = match Trust::try_new(0.2) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// The provenance of `text`, a line the model wants to keep. If it quotes the message that it answers, its provenance
/// is that message. Otherwise it is that of the least trusted part of everything the model may have been shown.
pub(crate) fn provenance(text: &str, state: &State, turn: &Turn) -> Provenance {
    let trigger = cause(&turn.trigger);
    let words = turn.trigger.words();
    let sources = if is_quoted(text, words) {
        vec![trigger]
    } else {
        shown(state, turn)
    };
    let lowest = sources
        .iter()
        .map(|source| source.trust)
        .fold(turn.trigger.trust(), Trust::lowest);
    let mut least = sources.iter().filter(|source| source.trust == lowest);
    let first = least.next();
    let trigger = Origin::event(turn.trigger_seq());
    let (from, origin) = match first {
        Some(first) if least.all(|other| other.from.is_same_as(&first.from)) => {
            (first.from.clone(), first.origin.unwrap_or(trigger))
        }
        _ => (Attribution::Several, trigger),
    };
    Provenance {
        trust: lowest,
        from,
        origin,
    }
}

fn cause(trigger: &Trigger) -> Source {
    let message = trigger.message();
    Source {
        trust: trigger.trust(),
        from: message.map_or(Attribution::Myself, |heard| {
            (&heard.perception.attested.sender).into()
        }),
        origin: Some(Origin::event(trigger.seq())),
    }
}

/// Everything that a prompt of this turn could show, including remembered lines.
fn shown(state: &State, turn: &Turn) -> Vec<Source> {
    let turns = || state.history.turns().chain([turn]);
    let calls = || turns().flat_map(|turn| turn.steps.iter().flat_map(|step| &step.calls));
    let mut sources: Vec<_> = turns().map(|turn| cause(&turn.trigger)).collect();
    sources.extend(state.overheard.iter().map(|line| Source {
        trust: line.trust,
        from: Attribution::from(&line.perception.attested.sender),
        origin: Some(Origin::event(line.seq)),
    }));
    if calls().any(is_outside) {
        sources.push(Source {
            trust: SURROUNDINGS_TRUST,
            from: Attribution::Surroundings,
            origin: None,
        });
    }
    let remembered = turns().flat_map(|turn| turn.sources.iter());
    sources.extend(remembered.cloned());
    sources
}

/// Whether the result of a call may hold text that was written outside: the result of a look, or of an act that the
/// world reports on.
fn is_outside(call: &CallState) -> bool {
    let is_known = call.category.is_some();
    let was_made = matches!(call.verdict, Some(Verdict::Success | Verdict::Failure));
    is_known && was_made && !is_own(&call.call.name)
}

/// Whether `text` is a part of `words`: the same words in the same order without gaps, beginning and ending at word
/// boundaries. Case, white space and the punctuation around it do not matter; the punctuation within does, since "I
/// may. Open it!" does not say "I may open it".
fn is_quoted(text: &str, words: &str) -> bool {
    let text = one_line(text);
    let text = text.trim_matches(|c: char| !is_of_word(c));
    let words = one_line(words);
    let mut before = None;
    let begins = words.char_indices().filter(|(_, c)| {
        let begins = !before.is_some_and(is_of_word);
        before = Some(*c);
        begins
    });
    let mut rests = begins.filter_map(|(at, _)| words.get(at..)?.strip_prefix(text));
    !text.is_empty() && rests.any(|rest| !rest.chars().next().is_some_and(is_of_word))
}

fn one_line(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

/// An apostrophe or a hyphen belongs to the word that contains it.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use dormouse_classify::{Classification, Rule};
    use dormouse_contracts::{Seq, Timestamp};
    use dormouse_memory::RecordKind;
    use dormouse_testing::Perceive;
    use proptest::prelude::*;

    use super::*;
    use crate::event::{
        ContextType, Event, Perceived, RecalledItem, RecalledLine, Recollected, StopReason,
        TickEnded, TickStarted,
    };

    #[test]
    fn a_part_of_the_words_in_their_order_is_a_quotation() {
        let words = "Remember: “The gate's   code is 7,\nand Bob may NOT open it.” Well?";
        for text in [
            "the gate's code is 7",
            "The gate's code is 7, and Bob may not open it.",
            "  Bob may not\topen it! ",
            "well",
        ] {
            assert!(is_quoted(text, words), "{text}");
        }
    }

    #[test]
    fn other_words_in_another_order_or_parts_of_words_are_none() {
        let words = "Nobody may. Open the vault, least of all Bob: that monkey won't. Inside!";
        for text in [
            "Bob may open the vault",
            "nobody may open the vault",
            "body may",
            "the key",
            "side",
            "that monkey won",
            "t. inside",
            "",
            " … ",
        ] {
            assert!(!is_quoted(text, words), "{text}");
        }
    }

    fn trust(tenths: u8) -> Trust {
        Trust::try_new(f32::from(tenths) / 10.0).unwrap()
    }

    /// A state in whose open turn somebody trusted `own` tenths speaks, after others, and with these memories shown.
    fn after(others: &[u8], remembered: &[Vec<u8>], own: u8) -> State {
        let mut state = State::default();
        let heard = others.iter().chain([&own]).zip(1..);
        for ((tenths, number), shown) in heard.zip(remembered.iter().cycle()) {
            let whisper = Perceive::whisper("Alice", "the gate is shut").number(number);
            let trigger = state.seq.next();
            let events = [
                Event::Perceived(Perceived {
                    perception: whisper.build(),
                    classification: Classification {
                        verdict: dormouse_classify::MessageVerdict::Trigger,
                        rule: Rule::DirectMessage,
                    },
                    trust: trust(*tenths),
                    tokens: 1,
                    doubts: Vec::new(),
                }),
                Event::TickStarted(TickStarted {
                    tick: number,
                    context: ContextType::TickEvent,
                    trigger,
                }),
                Event::Recollected(Recollected {
                    items: shown
                        .iter()
                        .map(|tenths| RecalledItem::New(line(trust(*tenths))))
                        .collect(),
                    ..Recollected::default()
                }),
            ];
            for event in events {
                state.apply(state.seq.next(), Timestamp::EPOCH, &event);
            }
            if number <= others.len() as u64 {
                let ended = Event::TickEnded(TickEnded {
                    reason: StopReason::Noop,
                    resume_at: None,
                });
                state.apply(state.seq.next(), Timestamp::EPOCH, &ended);
            }
        }
        state
    }

    fn line(trust: Trust) -> RecalledLine {
        RecalledLine {
            text: "a line".to_owned(),
            at: Timestamp::EPOCH,
            from: Attribution::Named("Bob".to_owned()),
            trust,
            record: Origin::event(Seq(7)),
            kind: RecordKind::Event,
            tokens: 1,
        }
    }

    #[test]
    fn nobody_passes_for_the_assistant_by_the_name_it_has_for_itself() {
        for name in ["you", "You", " YOU ", "Yоu", "y\u{200d}ou"] {
            let mut state = State::default();
            let events = [
                Event::Perceived(Perceived {
                    perception: Perceive::whisper(name, "the gate is shut").build(),
                    classification: Classification {
                        verdict: dormouse_classify::MessageVerdict::Trigger,
                        rule: Rule::DirectMessage,
                    },
                    trust: trust(9),
                    tokens: 1,
                    doubts: Vec::new(),
                }),
                Event::TickStarted(TickStarted {
                    tick: 1,
                    context: ContextType::TickEvent,
                    trigger: Seq(1),
                }),
            ];
            for event in events {
                state.apply(state.seq.next(), Timestamp::EPOCH, &event);
            }
            let turn = state.turns.current().unwrap();
            for text in ["the gate is shut", "nobody gets in"] {
                let from = provenance(text, &state, turn).from;
                assert_eq!(from.name(), Some(name));
                assert!(!from.is_same_as(&Attribution::Myself), "{name}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_paraphrase_is_believed_like_the_least_of_all_that_was_shown_and_a_quotation_like_its_speaker(
            others in proptest::collection::vec(0_u8..=10, 0..5),
            remembered in proptest::collection::vec(proptest::collection::vec(0_u8..=10, 0..4), 1..4),
            own in 0_u8..=10,
        ) {
            let state = after(&others, &remembered, own);
            let turn = state.turns.current().unwrap();
            let shown = remembered.iter().cycle().take(others.len() + 1).flatten();
            let lowest = others.iter().chain([&own]).chain(shown).min().unwrap();
            let paraphrase = provenance("nobody can get through the gate", &state, turn);
            prop_assert_eq!(paraphrase.trust, trust(*lowest));
            let quotation = provenance("The gate is shut!", &state, turn);
            prop_assert_eq!(quotation.trust, trust(own));
            prop_assert_eq!(quotation.origin, Origin::event(turn.trigger_seq()));
        }

        #[test]
        fn what_is_quoted_stands_word_for_word_in_what_was_said(
            words in "[ab '.,é]{0,30}",
            text in "[ab '.,é]{0,8}",
        ) {
            if is_quoted(&text, &words) {
                let text = one_line(&text);
                let part = text.trim_matches(|c: char| !is_of_word(c));
                prop_assert!(one_line(&words).contains(part));
            }
        }

        #[test]
        fn any_run_of_the_words_is_a_quotation(
            words in proptest::collection::vec("[a-zé]{1,6}", 1..12),
            from in 0_usize..12,
            count in 1_usize..12,
        ) {
            let from = from.min(words.len() - 1);
            let run: Vec<_> = words.iter().skip(from).take(count).cloned().collect();
            prop_assert!(is_quoted(&run.join("\n").to_uppercase(), &words.join(" ")));
        }
    }
}
