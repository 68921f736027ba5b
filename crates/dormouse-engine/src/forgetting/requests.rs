//! People who asked the assistant, in the world, to be forgotten.
//!
//! Only a person's own message counts, attested by the world and directed at the assistant. The request alone forgets
//! nothing: an operator decides.

use std::collections::BTreeMap;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{AssistantId, EntityId, ReadEvents, Sender, Seq, Timestamp, each_event};

use crate::{
    event::{Event, Perceived},
    replay::ReplayError,
};

/// A request to be forgotten that is still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetRequest {
    /// The message.
    pub event: Seq,
    /// When it was heard.
    pub at: Timestamp,
    /// The person who asked.
    pub person: EntityId,
    /// The name the person had.
    pub name: String,
    /// The message.
    pub words: String,
}

/// Words that ask for it, at the beginning of a sentence.
const VERBS: [&str; 8] = [
    "forget", "erase", "delete", "remove", "vergiss", "vergesst", "lösche", "lösch",
];
/// Words that may precede them.
const BEFORE: [&str; 22] = [
    "please",
    "hello",
    "hi",
    "can",
    "could",
    "would",
    "you",
    "i",
    "want",
    "wish",
    "like",
    "to",
    "d",
    "now",
    "just",
    "bitte",
    "kannst",
    "könntest",
    "du",
    "ich",
    "möchte",
    "dass",
];
/// What is asked to be forgotten: the person.
const OBJECTS: [&str; 22] = [
    "me",
    "about me",
    "all about me",
    "all of me",
    "everything about me",
    "everything you know about me",
    "all you know about me",
    "what you know about me",
    "everything i said",
    "everything i told you",
    "everything i have said",
    "all i said",
    "all i told you",
    "my data",
    "all my data",
    "that you know me",
    "mich",
    "alles über mich",
    "alles was ich gesagt habe",
    "meine daten",
    "alle meine daten",
    "was du über mich weißt",
];
/// Words that may follow. With any other word, the sentence has another meaning ("forget me not", "forget me if you
/// can").
const AFTER: [&str; 10] = [
    "please",
    "now",
    "completely",
    "entirely",
    "for",
    "good",
    "forever",
    "bitte",
    "ganz",
    "jetzt",
];

/// Whether a message asks to forget its speaker.
fn is_request(words: &str, names: &[String]) -> bool {
    words.split(['.', '!', '?', '\n', ';']).any(|sentence| {
        let lower = sentence.to_lowercase();
        let words: Vec<_> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let Some(verb) = words.iter().position(|word| VERBS.contains(word)) else {
            return false;
        };
        let (before, after) = words.split_at(verb);
        let is_name = |word: &str| names.iter().any(|name| name == word);
        let is_polite = |word: &&str| BEFORE.contains(word) || is_name(word);
        if !before.iter().all(is_polite) {
            return false;
        }
        let after = after.get(1..).unwrap_or_default();
        OBJECTS.iter().any(|object| {
            let object: Vec<_> = object.split(' ').collect();
            let rest = after.strip_prefix(object.as_slice());
            rest.is_some_and(|rest| {
                rest.iter()
                    .all(|word| AFTER.contains(word) || is_name(word))
            })
        })
    })
}

/// Everybody who asked the assistant to forget them and was not forgotten since, with the last message in which they did.
/// Reads the log one page at a time.
///
/// # Errors
///
/// [`ReplayError`], which names the first event that could not be read.
pub async fn forget_requests<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
) -> Result<Vec<ForgetRequest>, ReplayError> {
    let mut pending: BTreeMap<EntityId, ForgetRequest> = BTreeMap::new();
    let mut names = vec![key.as_str().to_lowercase()];
    each_event(log, key, .., |stored| {
        match stored.kind.as_str() {
            "configured" => {
                if let Event::Configured(configured) = Event::decode(stored)? {
                    let name = configured.settings.and_then(|settings| settings.name);
                    names.extend(name.map(|name| name.to_lowercase()));
                }
            }
            "perceived" => {
                if let Event::Perceived(perceived) = Event::decode(stored)? {
                    pending.extend(asked(stored.seq, stored.at, &perceived, &names));
                }
            }
            "forgotten" => {
                if let Event::Forgotten(forgotten) = Event::decode(stored)? {
                    forgotten
                        .selected
                        .ids()
                        .for_each(|id| drop(pending.remove(id)));
                }
            }
            _ => {}
        }
        Ok::<_, ReplayError>(())
    })
    .await?;
    let mut pending: Vec<_> = pending.into_values().collect();
    pending.sort_by_key(|request| request.event);
    Ok(pending)
}

fn asked(
    event: Seq,
    at: Timestamp,
    perceived: &Perceived,
    names: &[String],
) -> Option<(EntityId, ForgetRequest)> {
    let Sender::Entity { id, name } = &perceived.perception.attested.sender else {
        return None;
    };
    let words = perceived.perception.words.as_claimed();
    let is_directed = perceived.classification.verdict == MessageVerdict::Trigger;
    (is_directed && is_request(words, names)).then(|| {
        let request = ForgetRequest {
            event,
            at,
            person: id.clone(),
            name: name.clone(),
            words: words.to_owned(),
        };
        (id.clone(), request)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sentence_that_asks_to_forget_its_speaker_is_a_request() {
        let names = ["dormouse".to_owned(), "pip".to_owned()];
        for asked in [
            "Forget me.",
            "please forget everything about me, Pip",
            "Hello Dormouse. Could you please delete all my data?",
            "I want you to forget everything I told you!",
            "Pip, erase everything you know about me please",
            "Bitte vergiss alles über mich.",
        ] {
            assert!(is_request(asked, &names), "{asked}");
        }
        for other in [
            "Don't forget me!",
            "never forget me",
            "forget me not are my favourite flowers",
            "Alice said: forget me",
            "forget it",
            "Forget Bob.",
            "You will forget me if I leave",
            "did you forget everything about me",
            "remember me",
        ] {
            assert!(!is_request(other, &names), "{other}");
        }
    }
}
