//! Independent accounts: several people who say the same and cannot have heard it from each other.

use dormouse_contracts::{Audience, EntityId, Origin, Sender, Seq, Timestamp, Trust};

use dormouse_retrieval::support::{AnalysedText, ShownText, says_all};

use super::shown::{omitted, shown, was_line_shown, with_shown};
use crate::{
    privacy::Shareable,
    state::{Heard, People, State, Turn},
};

/// The trust of a claim with independent accounts: exactly the least that a claim needs to be recalled.
pub(super) const CORROBORATED: Trust = match Trust::try_new(0.5) {
    Ok(trust) => trust,
    Err(_) => Trust::NONE,
};

/// A text that makes the claim, reduced to what shows who could have repeated it.
#[derive(Clone, Debug)]
struct Account<'a> {
    /// Its sequence number in the log; 0 if that is not known.
    at: Seq,
    /// When it was said, according to its world. A text that was delivered late may have been heard earlier.
    said_at: Option<Timestamp>,
    /// Whose account it is, if it may count.
    who: Option<&'a EntityId>,
    /// Who could perceive it; `None` if that is not known.
    audience: Option<Audience>,
}

/// The shown messages that are independent accounts of `text`: each says all of it, and each is from a different person
/// whom the world attests. None of these people could have heard it from an earlier text that was shown. Messages with
/// a trust below `floor` do not count.
///
/// These are never accounts: words of another assistant, because it repeats what it heard; a text without an attested
/// author; and a remembered line, because a prompt does not contain its audience. A message is no account either if its
/// speaker may have been in the audience of an earlier text that says the same; an unknown audience counts as
/// everybody. Two ids that the operator merged are one person.
pub(super) fn independent(
    text: &str,
    subject: &str,
    state: &State,
    turn: &Turn,
    floor: Trust,
) -> Vec<Origin> {
    let messages = messages(state, turn);
    let accounts = messages
        .iter()
        .filter(|heard| says_all(text, subject, &said(heard)))
        .map(|heard| account(heard, floor, &state.people));
    let spoken = turn.steps.len().saturating_sub(1);
    // The assistant's own words, and what it looked up, may have spread the claim to unknown people.
    let others = shown(state, turn, spoken).into_iter().filter(|item| {
        let seq = item.origin.map(|origin| origin.seq());
        let is_message = messages.iter().any(|heard| Some(heard.seq) == seq);
        !is_message && says_all(text, subject, &item.said)
    });
    let others = others.map(|item| Account {
        at: item.origin.map_or(Seq(0), |origin| origin.seq()),
        said_at: None,
        who: None,
        audience: None,
    });
    let all: Vec<_> = accounts.chain(others).collect();
    counted(all).into_iter().map(Origin::event).collect()
}

/// The messages that the prompt of the last step showed.
fn messages<'a>(state: &'a State, turn: &'a Turn) -> Vec<&'a Heard> {
    let own = turn.message().into_iter();
    if turn.is_careful() {
        return own.collect();
    }
    // A message that the listeners may not learn is not an account for them.
    let Shareable {
        turns, overheard, ..
    } = Shareable::of(state, turn);
    let omitted = omitted(turn);
    let turns = with_shown(turns, omitted).filter(|(_, was_shown)| *was_shown);
    let earlier = turns.filter_map(|(turn, _)| turn.message());
    let lines = overheard.into_iter();
    let lines = lines.filter(|line| was_line_shown(line, omitted));
    own.chain(earlier).chain(lines).collect()
}

fn said(heard: &Heard) -> AnalysedText<'_> {
    let words = heard.perception.words.as_claimed();
    AnalysedText::from(ShownText {
        speaker: heard.perception.attested.sender.name().to_owned(),
        ..ShownText::text(heard.trust, words)
    })
}

fn account<'a>(heard: &'a Heard, floor: Trust, people: &'a People) -> Account<'a> {
    let attested = &heard.perception.attested;
    let who = match &attested.sender {
        Sender::Entity { id, .. } if heard.trust >= floor => Some(people.survivor(id)),
        _ => None,
    };
    let audience = attested.audience.as_ref();
    Account {
        at: heard.seq,
        said_at: Some(attested.at),
        who,
        audience: audience.map(|audience| audience.renamed(|id| people.survivor(id))),
    }
}

/// The first account of each person who gives one without having heard one before. Pure.
fn counted(mut accounts: Vec<Account<'_>>) -> Vec<Seq> {
    accounts.sort_by_key(|account| account.at);
    let mut counted: Vec<&EntityId> = Vec::new();
    let mut messages = Vec::new();
    for account in &accounts {
        let Some(who) = account.who.filter(|who| !counted.contains(who)) else {
            continue;
        };
        let is_earlier = |other: &&Account<'_>| {
            let times = other.said_at.zip(account.said_at);
            other.at < account.at || times.is_some_and(|(other, own)| other < own)
        };
        // A person's own earlier words do not make their account dependent. But a repetition is not a second account.
        let others = accounts.iter().filter(|other| other.who != Some(who));
        let mut earlier = others.filter(is_earlier);
        let has_missed = |earlier: &Account<'_>| {
            let audience = earlier.audience.as_ref();
            audience.and_then(|audience| audience.includes(who)) == Some(false)
        };
        if earlier.all(has_missed) {
            counted.push(who);
            messages.push(account.at);
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: u8) -> EntityId {
        EntityId::try_new(format!("player:{number}")).unwrap()
    }

    /// Who says it (if known), and who hears it: unknown, or these people.
    type Said = (Option<u8>, Option<Vec<u8>>);

    fn found_in(said: &[Said]) -> usize {
        let ids: Vec<_> = (0..8).map(id).collect();
        let accounts = said.iter().zip(1..).map(|((who, heard), at)| Account {
            at: Seq(at),
            said_at: Some(Timestamp::EPOCH),
            who: who.map(|who| &ids[usize::from(who)]),
            audience: heard
                .as_ref()
                .and_then(|heard| Audience::of(heard.iter().copied().chain(*who).map(id))),
        });
        counted(accounts.collect()).len()
    }

    fn alone(who: u8) -> Said {
        (Some(who), Some(Vec::new()))
    }

    #[test]
    fn whoever_could_have_heard_it_gives_no_account_of_their_own() {
        assert_eq!(found_in(&[alone(1), alone(2), alone(3)]), 3);
        assert_eq!(found_in(&[alone(1), alone(1), alone(1)]), 1);
        assert_eq!(found_in(&[(Some(1), Some(vec![2])), alone(2), alone(3)]), 2);
        assert_eq!(found_in(&[(Some(1), None), alone(2), alone(3)]), 1);
        // A text without an author that both have read makes both accounts dependent on it.
        assert_eq!(found_in(&[(None, Some(vec![1, 2])), alone(1), alone(2)]), 0);
        assert_eq!(found_in(&[alone(1), alone(2), (None, None), alone(3)]), 2);
    }

    #[test]
    fn a_text_that_was_delivered_late_was_heard_when_it_was_said() {
        let (alice, bob) = (id(1), id(2));
        let both = Audience::of([alice.clone(), bob.clone()]);
        let own = Audience::of([bob.clone()]);
        let found = |said_at| {
            let account = |at, said_at, who, audience: &Option<Audience>| Account {
                at: Seq(at),
                said_at: Some(Timestamp::from_micros(said_at)),
                who: Some(who),
                audience: audience.clone(),
            };
            counted(vec![
                account(1, 10, &bob, &own),
                account(2, said_at, &alice, &both),
            ])
            .len()
        };
        assert_eq!((found(20), found(5)), (2, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn no_more_are_counted_than_there_are_people_and_repeating_adds_nobody(
            said in prop::collection::vec(
                (prop::option::of(0_u8..6), prop::option::of(prop::collection::vec(0_u8..6, 0..4))), 0..10),
        ) {
            let found = found_in(&said);
            let people: std::collections::BTreeSet<_> = said.iter().filter_map(|(who, _)| *who).collect();
            prop_assert!(found <= people.len());
            let twice: Vec<_> = said.iter().cloned().chain(said.iter().cloned()).collect();
            prop_assert_eq!(found_in(&twice), found);
        }

        #[test]
        fn in_one_room_there_is_one_account_at_most_whatever_is_repeated(
            speakers in prop::collection::vec(0_u8..6, 0..10),
        ) {
            let said: Vec<Said> = speakers.iter().map(|who| (Some(*who), Some((0..6).collect()))).collect();
            prop_assert!(found_in(&said) <= 1);
        }

        #[test]
        fn a_wider_or_unknown_audience_never_adds_an_account(
            said in prop::collection::vec((0_u8..6, prop::collection::vec(0_u8..6, 0..4)), 1..10),
            wider in any::<prop::sample::Index>(),
            by in prop::option::of(0_u8..6),
        ) {
            let mut said: Vec<Said> = said.into_iter().map(|(who, heard)| (Some(who), Some(heard))).collect();
            let before = found_in(&said);
            let place = wider.index(said.len());
            said[place].1 = match (by, said[place].1.take()) {
                (Some(by), Some(mut heard)) => {
                    heard.push(by);
                    Some(heard)
                }
                _ => None,
            };
            prop_assert!(found_in(&said) <= before);
        }
    }
}
