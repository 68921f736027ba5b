//! Tasks between assistants: asking another one on somebody's behalf, answering another one's task from the memory, and passing on
//! what it answered.

use dormouse_text::shortened;

use crate::{
    english::errands::{CONNECTING, LEADS, NOBODY, QUESTIONS},
    pattern::{matched, text_of},
    phrasing::{plain, tame},
    words::{Word, words},
};

/// In a task: the words between the name of the asker and the question.
const WANTS: &str = " wants to know: ";
/// The longest name of the one to ask, in words.
const LONGEST_NAME: usize = 3;
/// The longest question of a task, in characters.
const LONGEST: usize = 500;

/// A request to ask somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Errand {
    /// The one to ask, as the request names them.
    pub(crate) whom: String,
    /// What to ask, in the words of the request: "whether the boat is here".
    pub(crate) what: String,
}

impl Errand {
    /// Returns the errand if these words of `text` ask for one.
    pub(crate) fn read(text: &str, words: &[Word]) -> Option<Self> {
        let asks = |word: &Word| QUESTIONS.split('/').any(|one| one == word.text);
        if !words.iter().any(asks) {
            return None;
        }
        LEADS.iter().find_map(|lead| {
            let pattern = format!("{lead} {QUESTIONS} <what>");
            let captures = matched(&pattern, words)?;
            let of = |name| captures.iter().find(|(called, ..)| *called == name);
            let (_, from, to) = of("who")?;
            let whom = words.get(*from..*to)?;
            let is_somebody = whom.len() <= LONGEST_NAME
                && whom.iter().all(|it| !NOBODY.contains(&it.text.as_str()));
            let (_, begins, ends) = of("what")?;
            let what = words.get(begins.checked_sub(1)?..*ends)?;
            is_somebody.then_some(Self {
                whom: plain(text_of(text, whom)?),
                what: tame(text_of(text, what)?),
            })
        })
    }

    /// The task for the one who is asked.
    pub(crate) fn task(&self, asker: &str) -> String {
        format!("{asker}{WANTS}{}", shortened(&self.what, LONGEST))
    }
}

/// Splits a task into the asker and the question. A task that [`Errand::task`] did not write has no asker, and all of
/// it is the question.
pub(crate) fn asked(task: &str) -> (Option<&str>, &str) {
    match task.split_once(WANTS) {
        Some((asker, what)) => (Some(asker), what),
        None => (None, task),
    }
}

/// The query to the memory for a task: the question without "whether".
pub(crate) fn question(task: &str) -> &str {
    let (_, what) = asked(task);
    let all = words(what);
    match &all[..] {
        [first, second, ..] if CONNECTING.contains(&first.text.as_str()) => {
            what.get(second.from..).unwrap_or(what)
        }
        _ => what,
    }
}

#[cfg(test)]
mod tests;
