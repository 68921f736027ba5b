//! What a message asks for.

use dormouse_contracts::Timestamp;

use crate::{
    english::{
        later::{ACTIONS, CALLS, MARKERS},
        said::Topic,
        spelling::{AFTER, BEFORE},
        times::DEADLINES,
        understood::{
            ASKS, BETWEEN, DIRECTIONS, JOINS, LETS, Meaning, NO_PLACES, NO_REQUEST, NO_STATEMENT,
            NOT_NOW, POLITE, UNDERSTOOD,
        },
    },
    errand::Errand,
    facts,
    later::{Later, later},
    moment::{time_at, time_first},
    pattern::{captured, matched, text_of},
    promise::{Unclear, reminder},
    why::asks_why,
    words::{Word, asks, begins, longest, sentences, words},
};

/// How many sentences of a message are read, at most.
const MOST_SENTENCES: usize = 8;
/// How many phrases before and after a request are skipped, at most.
const MOST_SKIPPED: usize = 6;
/// The longest sentence that asks for a joke, in words. Longer ones only mention a joke.
const LONGEST_JOKE: usize = 9;

/// The longest question for a reason that says nothing about its subject, in words.
const SHORT_QUESTION: usize = 3;

/// What a message asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Keep this in mind.
    Remember(String),
    /// Remind the speaker: the time and what of, in one text.
    Remind(String),
    /// Do this later: the request, with what to wait for.
    Later(String),
    /// Say what was promised.
    Promises,
    /// Ask somebody else: the request.
    Errand(Errand),
    /// Look around, or tell where you are.
    Look,
    /// Come along.
    Follow,
    /// Stay.
    Wait,
    /// Go there.
    Go(String),
    /// Say why you said that: the whole question.
    Why(String),
    /// Forget something.
    Forget,
    /// Say the time.
    Time,
    /// Answer from the memory.
    Ask(String),
    /// Small talk: the answer needs no tool.
    Talk(Topic),
    /// The speaker told a fact.
    Statement,
    /// Not recognised.
    Unknown,
}

/// Recognises what a message asks for. `names` are those of the assistant: they may address it at the beginning or the end.
///
/// A request counts more than a question, and that more than small talk around it.
pub(crate) fn recognise(message: &str, names: &[&str]) -> Intent {
    let parts = sentences(message);
    let mut best = Intent::Unknown;
    for sentence in parts.into_iter().take(MOST_SENTENCES) {
        let found = Sentence::of(sentence, names).intent(message);
        if rank(&found) == Rank::Request {
            return found;
        }
        // Of two remarks, the later one expects the answer: "Hello! How are you?"
        if rank(&found) >= rank(&best) {
            best = found;
        }
    }
    best
}

/// Which sentence of a message decides what it asks for: the highest rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Nothing,
    Greeting,
    Talk,
    Question,
    Request,
}

fn rank(intent: &Intent) -> Rank {
    match intent {
        Intent::Unknown => Rank::Nothing,
        Intent::Talk(Topic::Greeting | Topic::Acknowledgement) => Rank::Greeting,
        Intent::Talk(_) | Intent::Statement => Rank::Talk,
        Intent::Ask(_) => Rank::Question,
        _ => Rank::Request,
    }
}

/// A sentence of a message.
struct Sentence<'t> {
    text: &'t str,
    words: Vec<Word>,
    asks: bool,
    /// Where a request may begin, and where it may end, in words.
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl<'t> Sentence<'t> {
    fn of(text: &'t str, names: &[&str]) -> Self {
        let words = words(text);
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let mut starts = vec![0];
        while let Some(at) = starts.last()
            && starts.len() <= MOST_SKIPPED
        {
            let rest = words.get(*at..).unwrap_or_default();
            let skipped = before(rest, &names);
            match skipped {
                0 => break,
                _ => starts.push(at + skipped),
            }
        }
        let mut ends = vec![words.len()];
        while let Some(at) = ends.last()
            && ends.len() <= MOST_SKIPPED
        {
            let rest = words.get(..*at).unwrap_or_default();
            match after(rest, &names) {
                0 => break,
                skipped => ends.push(at - skipped),
            }
        }
        Self {
            asks: asks(text),
            text,
            words,
            starts,
            ends,
        }
    }

    fn intent(&self, message: &str) -> Intent {
        let mut talk: Option<Intent> = None;
        for start in &self.starts {
            for end in &self.ends {
                let Some(found) = self.meaning(*start, *end, message) else {
                    continue;
                };
                match rank(&found) {
                    Rank::Request => return found,
                    more if talk.as_ref().is_none_or(|talk| rank(talk) < more) => {
                        talk = Some(found)
                    }
                    _ => {}
                }
            }
        }
        let is_only_polite = matches!(
            talk,
            None | Some(Intent::Talk(
                Topic::Greeting | Topic::Thanks | Topic::Sorry | Topic::Acknowledgement
            ))
        );
        match self.question() {
            Some(question) if is_only_polite => Intent::Ask(question),
            _ => talk.unwrap_or_else(|| self.statement()),
        }
    }

    /// The question without its introduction, if the sentence is a question.
    fn question(&self) -> Option<String> {
        let last = *self.starts.last()?;
        let begins = |at: &usize| {
            let rest = self.words.get(*at..).unwrap_or_default();
            rest.len() > 1
                && rest
                    .first()
                    .is_some_and(|it| ASKS.contains(&it.text.as_str()))
        };
        let start = self.starts.iter().copied().find(begins);
        let start = start.or((self.asks && last < self.words.len()).then_some(last))?;
        let from = self.words.get(start)?.from;
        let question = self.text.get(from..)?.trim();
        (!question.is_empty()).then(|| question.to_owned())
    }

    /// A fact that the speaker told. A sentence that may be a request is not a fact, so that
    /// the answer says what this model can do.
    fn statement(&self) -> Intent {
        let is_verb = |word: &Word| {
            let verbs = ACTIONS.iter().map(|(pattern, _)| *pattern);
            let mut verbs = verbs.chain(CALLS.iter().copied());
            verbs.any(|phrase| phrase.split(' ').next() == Some(&word.text))
        };
        let is_request = self.words.iter().enumerate().any(|(at, word)| {
            let behind = self.words.get(at + 1..).unwrap_or_default();
            let begins = self.starts.contains(&at);
            let has_condition = || {
                (0..behind.len()).any(|at| {
                    let rest = behind.get(at..).unwrap_or_default();
                    time_at(rest, Timestamp::EPOCH).is_some()
                        || begins
                            && (longest(rest, MARKERS).is_some()
                                || longest(rest, DEADLINES).is_some())
                })
            };
            NO_STATEMENT.contains(&&*word.text) || (is_verb(word) && has_condition())
        });
        match facts::of_sentence(self.text, "somebody") {
            Some(_) if !is_request => Intent::Statement,
            _ => Intent::Unknown,
        }
    }

    /// What the words from `start` to `end` mean by themselves.
    fn meaning(&self, start: usize, end: usize, message: &str) -> Option<Intent> {
        let words = self
            .words
            .get(start..end)
            .filter(|words| !words.is_empty())?;
        if asks_why(words) {
            return Some(Intent::Why(self.reason_asked(words, message)));
        }
        // The time does not matter here: it only changes when the request is due, not whether it is one.
        let later = later(self.text, words, Timestamp::EPOCH);
        // A reminder with its moment at the end is left to the patterns, because they ask for what is missing.
        let begins_with_a_moment = time_first(words, Timestamp::EPOCH).is_some();
        let is_for_patterns = |later: Result<Later, Unclear>| {
            later.is_ok_and(|it| it.is_reminder()) && !begins_with_a_moment
        };
        if later.is_some_and(|later| !is_for_patterns(later)) {
            return text_of(self.text, words).map(|text| Intent::Later(text.to_owned()));
        }
        if let Some(errand) = Errand::read(self.text, words) {
            return Some(Intent::Errand(errand));
        }
        UNDERSTOOD.iter().find_map(|(pattern, meaning)| {
            let captures = matched(pattern, words)?;
            let x = captured(self.text, words, &captures, "x");
            self.fits(*meaning, words, x, start, message)
        })
    }

    /// The words of a question for a reason. A short one is about what the message says before: "You said so. Why?"
    fn reason_asked(&self, words: &[Word], message: &str) -> String {
        let text = match words.len() {
            ..=SHORT_QUESTION => message,
            _ => self.text,
        };
        text.trim().to_owned()
    }

    /// What a request for a reminder says about it: `x`, which follows "remind me", and a moment before that.
    fn reminder(&self, words: &[Word], x: &str) -> Option<String> {
        let verb = words
            .iter()
            .position(|word| ["remind", "reminding"].contains(&&*word.text));
        let before = words.get(..verb.unwrap_or(0)).unwrap_or_default();
        let lead = text_of(self.text, before).unwrap_or_default();
        if !may_request(before) {
            return None;
        }
        let has_moment = reminder(lead, Timestamp::EPOCH) != Err(Unclear::Time);
        Some(match has_moment && lead != x {
            true => format!("{lead} {x}"),
            false => x.to_owned(),
        })
    }

    fn fits(
        &self,
        meaning: Meaning,
        words: &[Word],
        x: Option<&str>,
        start: usize,
        message: &str,
    ) -> Option<Intent> {
        let whole = || text_of(self.text, words).map(str::to_owned);
        Some(match meaning {
            Meaning::Remember => {
                let is_question = |x: &str| {
                    let first = crate::words::words(x).into_iter().next();
                    first.is_some_and(|word| ASKS.contains(&word.text.as_str()))
                };
                // "Can you remember that …?" is a request, "Remember me?" is not.
                if self.asks && (start == 0 || x.is_some_and(is_question)) {
                    return None;
                }
                Intent::Remember(to_the_end(message, x?))
            }
            Meaning::Remind => Intent::Remind(self.reminder(words, x.unwrap_or_default())?),
            Meaning::RemindAt if reminder(x?, Timestamp::EPOCH) == Err(Unclear::Time) => {
                return None;
            }
            Meaning::RemindAt => Intent::Remind(x?.to_owned()),
            Meaning::Forget => Intent::Forget,
            Meaning::Go => Intent::Go(place(x?)?),
            Meaning::GoThatWay if !DIRECTIONS.contains(&&*x?.to_lowercase()) => return None,
            Meaning::GoThatWay => Intent::Go(x?.to_owned()),
            Meaning::Ask => Intent::Ask(whole()?),
            Meaning::Joke if words.len() > LONGEST_JOKE => return None,
            Meaning::Promises => Intent::Promises,
            Meaning::Look => Intent::Look,
            Meaning::Follow => Intent::Follow,
            Meaning::Wait => Intent::Wait,
            Meaning::Why => Intent::Why(self.reason_asked(words, message)),
            Meaning::Time => Intent::Time,
            Meaning::WhoAreYou => Intent::Talk(Topic::WhoAreYou),
            Meaning::WhatAreYou => Intent::Talk(Topic::WhatAreYou),
            Meaning::Abilities => Intent::Talk(Topic::Abilities),
            Meaning::WhoAmI => Intent::Talk(Topic::WhoAmI),
            Meaning::HowAreYou => Intent::Talk(Topic::HowAreYou),
            Meaning::Joke => Intent::Talk(Topic::Joke),
            Meaning::Thanks => Intent::Talk(Topic::Thanks),
            Meaning::Bye => Intent::Talk(Topic::Bye),
            Meaning::Sorry => Intent::Talk(Topic::Sorry),
            Meaning::Praise => Intent::Talk(Topic::Praise),
            Meaning::Blame => Intent::Talk(Topic::Blame),
            Meaning::Acknowledgement => Intent::Talk(Topic::Acknowledgement),
            Meaning::Greeting => Intent::Talk(Topic::Greeting),
        })
    }
}

/// Whether these words before "remind me" leave it a request to the listener, as "could you" and "do not forget to" do, but
/// not "Carol would" and "did you".
fn may_request(before: &[Word]) -> bool {
    let is = |word: &&Word, all: &[&str]| all.contains(&word.text.as_str());
    let mut words = before
        .iter()
        .rev()
        .filter(|word| !is(word, POLITE))
        .peekable();
    let mut between = 0;
    while words.next_if(|word| is(word, BETWEEN)).is_some() {
        between += 1;
    }
    let Some(last) = words.next() else {
        return true;
    };
    match last.text.as_str() {
        "you" => between > 0 || words.next().is_some_and(|word| is(&word, LETS)),
        "forget" => before
            .iter()
            .any(|word| ["not", "never"].contains(&&*word.text)),
        "remember" | "sure" => true,
        word if JOINS.contains(&word) => true,
        word => between == 0 && !NO_REQUEST.contains(&word),
    }
}

/// Extends `x` to the end of the message, because a request to remember covers all that follows it.
fn to_the_end(message: &str, x: &str) -> String {
    let from = (x.as_ptr() as usize).checked_sub(message.as_ptr() as usize);
    let rest = from.and_then(|from| message.get(from..));
    rest.unwrap_or(x).trim().to_owned()
}

/// The place in "go to …", if it can be one.
fn place(x: &str) -> Option<String> {
    let words = words(x);
    let first = words.first()?;
    let is_short = words.len() <= 4 && x.len() <= 60;
    let is_now = !words.iter().any(|word| NOT_NOW.contains(&&*word.text));
    let is_place = is_short && is_now && !NO_PLACES.contains(&first.text.as_str());
    is_place.then(|| x.to_owned())
}

/// How many words at the start do not change the meaning of the rest.
fn before(words: &[Word], names: &[String]) -> usize {
    let greetings = [
        "hello there",
        "hi there",
        "hey there",
        "hello",
        "hi",
        "greetings",
        "thanks",
        "good morning",
        "good evening",
        "good afternoon",
        "good day",
        "thank you",
    ];
    let phrases = BEFORE.iter().copied().chain(greetings);
    let phrases = phrases.chain(names.iter().map(String::as_str));
    let skipped = phrases.map(|phrase| begins(words, phrase));
    skipped.max().unwrap_or(0)
}

/// How many words at the end do not change the meaning of the rest.
fn after(words: &[Word], names: &[String]) -> usize {
    let ends = |phrase: &str| {
        let count = phrase.split(' ').count();
        let at = words.len().checked_sub(count);
        at.map_or(0, |at| begins(words.get(at..).unwrap_or_default(), phrase))
    };
    let phrases = AFTER
        .iter()
        .copied()
        .chain(names.iter().map(String::as_str));
    phrases.map(ends).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
