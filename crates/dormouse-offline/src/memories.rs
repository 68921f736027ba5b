//! Answers a question from the result of `recall_memories`.

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    english::{said::Topic, spelling::EMPTY_WORDS},
    errand,
    intent::{Intent, recognise},
    phrasing::{Voice, plain, quote},
    words::asks,
};

/// The maximum number of quoted memories.
const QUOTED: usize = 2;

/// The least trust with which default recall returns a note. The answer marks anything below it as doubtful.
const BELIEVED: f64 = 0.5;

/// Below this probability that the memory contains an answer at all, memories that have only some words of a question do not
/// answer it. Of the questions below it, about one in seven has an answer (`docs/recall.md`).
const UNLIKELY: f64 = 0.3;

/// The name of the assistant itself as the speaker of a memory.
const OWN: &str = "you";
/// The speaker of a memory that comes from nobody who is known.
const SOMEONE: &str = "someone";

/// A memory that can be quoted.
struct Line<'a> {
    text: String,
    memory: &'a Value,
}

/// Returns the line of a memory. `None` for questions and requests to anybody, and for the assistant's own answers: they
/// are not evidence.
fn line(memory: &Value) -> Option<Line<'_>> {
    let text = memory.get("text")?.as_str()?;
    if memory.get("from").is_some_and(|from| from == OWN) {
        return None;
    }
    if errand::asked(text).0.is_some() || asks(text) {
        return None;
    }
    let text = match recognise(text, &addressed(text)) {
        Intent::Remember(what) => what,
        Intent::Ask(_)
        | Intent::Errand(_)
        | Intent::Why(_)
        | Intent::Look
        | Intent::Time
        | Intent::Promises
        | Intent::Remind(_)
        | Intent::Later(_)
        | Intent::Follow
        | Intent::Wait
        | Intent::Go(_)
        | Intent::Forget
        | Intent::Talk(Topic::WhoAreYou | Topic::WhatAreYou | Topic::Abilities) => return None,
        _ => text.to_owned(),
    };
    Some(Line { text, memory })
}

/// Whom the words before the first comma or colon may address: "Rat, where is the key".
fn addressed(text: &str) -> Vec<&str> {
    let first = text.split_once([',', ':']).map(|(name, _)| name.trim());
    first.into_iter().collect()
}

/// Returns the answer to `question` from the result of `recall_memories`.
pub(crate) fn answer(question: &str, result: &Value, voice: &Voice<'_>) -> String {
    if result.get("cut_off_after").is_some() {
        return "I remember something about that, but more than I am shown at once.".to_owned();
    }
    match basis(question, result) {
        Some(basis) => basis,
        // The memory left something out, because not everybody who hears the answer perceived it.
        None if result.get("left_out").is_some() => voice.say(Topic::Withheld, ""),
        None => voice.say(Topic::Unknown, ""),
    }
}

/// The answer to another assistant's question, from the result of `recall_memories`.
pub(crate) fn found(question: &str, result: &Value) -> String {
    basis(question, result)
        .unwrap_or_else(|| "I looked in my memory, and found nothing about that.".to_owned())
}

/// The memories that answer `question`, quoted; `None` if none does.
pub(crate) fn basis(question: &str, result: &Value) -> Option<String> {
    let (is_whole, quotations) = quotations(question, result)?;
    let confidence = result.get("confidence").and_then(Value::as_f64);
    Some(match is_whole {
        true => quotations,
        false if confidence.is_some_and(|likely| likely < UNLIKELY) => return None,
        false => format!("I am not sure; the closest I remember is this. {quotations}"),
    })
}

/// The same, but only memories that have all words of the question.
pub(crate) fn whole_basis(question: &str, result: &Value) -> Option<String> {
    let (is_whole, quotations) = quotations(question, result)?;
    is_whole.then_some(quotations)
}

/// The memories that fit the question best, and whether they have all of its words.
fn quotations(question: &str, result: &Value) -> Option<(bool, String)> {
    let asked = content_words(question);
    let memories = result.get("memories").and_then(Value::as_array);
    let mut told_before = HashSet::new();
    let mut found: Vec<(usize, Line<'_>)> = memories
        .into_iter()
        .flatten()
        .filter_map(line)
        .filter(|line| told_before.insert(line.text.to_lowercase()))
        .map(|line| (matches(&asked, &line), line))
        .collect();
    let best = found.iter().map(|(score, _)| *score).max().unwrap_or(0);
    // The sort is stable, so equal lines keep the order of recall.
    found.retain(|(score, _)| *score == best);
    if found.is_empty() || (best == 0 && !asked.is_empty()) {
        return None;
    }
    let quotations: Vec<String> = found
        .iter()
        .take(QUOTED)
        .map(|(_, line)| quoted(line))
        .collect();
    let is_whole = best == asked.len() && !asked.is_empty();
    Some((is_whole, quotations.join(" ")))
}

/// Counts the words of the question that occur in the line or in the name of its speaker.
fn matches(asked: &HashSet<String>, line: &Line<'_>) -> usize {
    let mut words = content_words(&line.text);
    let from = line.memory.get("from").and_then(Value::as_str);
    words.extend(content_words(from.unwrap_or_default()));
    asked.intersection(&words).count()
}

/// Returns the significant words, in lower case and without endings.
pub(crate) fn content_words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
        .map(|word| stem(&word).to_owned())
        .collect()
}

/// Removes English endings that differ between a question and its answer.
fn stem(word: &str) -> &str {
    ["ing", "ed", "es", "s", "e"]
        .into_iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .find(|stem| stem.chars().count() >= 3 && !stem.ends_with('s'))
        .unwrap_or(word)
}

fn quoted(line: &Line<'_>) -> String {
    let field = |name: &str| line.memory.get(name).and_then(Value::as_str);
    let text = quote(&line.text);
    let trust = line.memory.get("trust").and_then(Value::as_f64);
    let doubt = match trust.is_some_and(|trust| trust < BELIEVED) {
        true => " I would not rely on that.",
        false => "",
    };
    let who = field("from").map(plain).filter(|from| from != SOMEONE);
    let how = match field("how") {
        Some("whisper") => "whispered to me",
        Some("page") => "paged me",
        // A memory without a speaker is a fact that was derived from what people said.
        None if who.is_none() && doubt.is_empty() => return format!("I remember: {text}"),
        _ => "told me",
    };
    let when = field("at").map(|at| format!("On {}", when(at)));
    let when = when.unwrap_or_else(|| "At a time I do not know".to_owned());
    let who = who.unwrap_or_else(|| "somebody".to_owned());
    format!("{when}, {who} {how}: {text}{doubt}")
}

/// Formats `2026-11-21T10:15:00Z` as `2026-11-21 at 10:15`; other text is unchanged.
fn when(at: &str) -> String {
    let readable = || {
        let (day, time) = at.split_once('T')?;
        let minutes = time.get(..5)?;
        (day.len() == 10 && minutes.as_bytes().get(2) == Some(&b':'))
            .then(|| format!("{day} at {minutes}"))
    };
    readable().map_or_else(|| plain(at), |readable| plain(&readable))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::persona::Character;

    fn answer(question: &str, result: &Value) -> String {
        let character = Character::default();
        let voice = Voice {
            character: &character,
            name: "Bob".to_owned(),
            seed: 0,
            last: None,
        };
        super::answer(question, result, &voice)
    }

    fn memory(text: &str) -> Value {
        json!({"text": text, "at": "2026-11-21T10:15:00Z", "from": "Alice", "trust": 0.7})
    }

    #[test]
    fn the_best_memory_is_quoted_with_time_and_speaker() {
        let result =
            json!({"memories": [memory("The kettle is blue."), memory("Bob prefers tea")]});
        assert_eq!(
            answer("What does Bob prefer?", &result),
            "On 2026-11-21 at 10:15, Alice told me: \"Bob prefers tea\""
        );
    }

    #[test]
    fn questions_and_its_own_words_never_answer_a_question() {
        let mut own = memory("On 2026-11-20 at 09:00, Bob told me: \"Bob prefers tea\"");
        own["from"] = OWN.into();
        let result = json!({"memories": [
            memory("@dormouse what does Bob prefer?"),
            own,
            memory("Please remember that Bob prefers tea"),
            memory("Bob prefers tea"),
        ]});
        assert_eq!(
            answer("What does Bob prefer?", &result),
            "On 2026-11-21 at 10:15, Alice told me: \"Bob prefers tea\""
        );
        let result = json!({"memories": [memory("what does Bob prefer?")]});
        assert_eq!(
            answer("What does Bob prefer?", &result),
            "I do not know: I remember nothing about that."
        );
    }

    #[test]
    fn a_question_for_somebody_else_that_was_overheard_never_answers_it() {
        for overheard in [
            "ask Rat where the key is",
            "Dormouse, ask Rat where the key is.",
            "Rat, where is the key",
            "Old Rat: where is the key?",
            "Alice wants to know: where the key is",
        ] {
            let result = json!({"memories": [memory(overheard)]});
            assert_eq!(basis("where the key is", &result), None, "{overheard}");
            let result =
                json!({"memories": [memory(overheard), memory("Rat, the key is under the mat")]});
            assert_eq!(
                basis("where the key is", &result).as_deref(),
                Some("On 2026-11-21 at 10:15, Alice told me: \"Rat, the key is under the mat\""),
            );
        }
    }

    #[test]
    fn no_request_and_no_question_to_it_is_quoted_as_a_memory() {
        for heard in [
            "why did you say that?",
            "why did you say the key is lost",
            "what are you basing the key on?",
            "look around for the key",
            "what time is it, and where is the key?",
            "what did you promise me about the key?",
            "remind me at six to fetch the key",
            "when Bob comes, tell him that I have the key",
            "wait here for the key",
            "go to the key",
            "forget that the key is lost",
            "Bob has the key, right?",
        ] {
            let result = json!({"memories": [memory(heard)]});
            assert_eq!(basis("the key", &result), None, "{heard}");
        }
        let result = json!({"memories": [memory("Bob has the key.")]});
        assert!(basis("the key", &result).is_some());
    }

    #[test]
    fn the_endings_of_words_do_not_matter() {
        let result = json!({"memories": [memory("Bob likes his boiled cakes")]});
        assert!(answer("Who liked boiling a cake?", &result).starts_with("On 2026-11-21"));
    }

    #[test]
    fn a_truncated_result_is_not_treated_as_an_empty_one() {
        let quoted = answer(
            "tea?",
            &json!({"success": true, "cut_off_after": 9, "result_text": "{"}),
        );
        assert!(quoted.contains("more than I am shown"), "{quoted}");
    }

    #[test]
    fn a_partial_answer_is_called_the_closest_memory() {
        let result = json!({"memories": [memory("Bob prefers tea")]});
        let quoted = answer("What does Carol prefer?", &result);
        assert!(quoted.starts_with("I am not sure; the closest"), "{quoted}");
    }

    #[test]
    fn a_partial_answer_is_not_given_where_an_answer_is_unlikely() {
        let of = |confidence: f64, question| {
            let memories = [memory("Bob prefers tea")];
            answer(
                question,
                &json!({"memories": memories, "confidence": confidence}),
            )
        };
        let unknown = "I do not know: I remember nothing about that.";
        assert_eq!(of(0.1, "What does Carol prefer?"), unknown);
        assert!(of(0.5, "What does Carol prefer?").starts_with("I am not sure"));
        // Every word of the question is there, so the score does not matter.
        assert!(of(0.1, "What does Bob prefer?").ends_with("\"Bob prefers tea\""));
    }

    #[test]
    fn unrelated_memories_are_not_quoted() {
        let result = json!({"memories": [memory("The kettle is blue.")]});
        for result in [
            result,
            json!({"memories": []}),
            json!({}),
            json!(null),
            json!({"memories": [7, {"text": 1}]}),
        ] {
            assert_eq!(
                answer("Who likes cake?", &result),
                "I do not know: I remember nothing about that."
            );
        }
    }

    #[test]
    fn what_it_may_not_say_here_is_announced_only_if_nothing_else_answers() {
        let left_out = "what not everybody who hears your answer perceived";
        let nothing = json!({"memories": [memory("The kettle is blue.")], "left_out": left_out});
        let said = answer("Who likes cake?", &nothing);
        assert!(said.ends_with("can ask me in private."), "{said}");
        let found = json!({"memories": [memory("Bob likes cake")], "left_out": left_out});
        assert!(answer("Who likes cake?", &found).starts_with("On 2026-11-21"));
    }

    #[test]
    fn a_quotation_says_how_it_was_said() {
        for (how, said) in [
            ("whisper", "Alice whispered to me: "),
            ("page", "Alice paged me: "),
            ("words to you", "Alice told me: "),
        ] {
            let mut memory = memory("Bob prefers tea");
            memory["how"] = how.into();
            let quoted = answer("What does Bob prefer?", &json!({"memories": [memory]}));
            assert!(quoted.contains(said), "{quoted}");
        }
    }

    #[test]
    fn it_says_that_it_remembers_what_default_recall_finds_and_doubts_the_rest() {
        let fact = |trust: f64| {
            json!({"memories": [{"text": "Star is a horse", "at": "2026-11-21T10:15:00Z",
            "from": "someone", "trust": trust}]})
        };
        assert_eq!(
            answer("What is Star?", &fact(0.5)),
            "I remember: \"Star is a horse\""
        );
        let doubted = answer("What is Star?", &fact(0.4));
        assert!(
            doubted.starts_with("On 2026") && doubted.ends_with("I would not rely on that."),
            "{doubted}"
        );
    }

    #[test]
    fn a_memory_with_missing_fields_is_still_quoted() {
        assert_eq!(
            answer(
                "tea?",
                &json!({"memories": [{"text": "tea is green", "at": "yesterday", "how": "say"}]})
            ),
            "On yesterday, somebody told me: \"tea is green\""
        );
        assert_eq!(when("2026-11-21T1"), "2026-11-21T1");
    }
}
