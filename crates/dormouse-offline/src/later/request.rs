//! Reads a request: its condition, and what is to be done.

use dormouse_contracts::{AwaitedKind, Timestamp};
use dormouse_text::shortened;

use super::{Later, LaterEvent, Person};
use crate::{
    english::later::{
        ABOUT, ACTIONS, ANYBODY, ARTICLES, CALLS, CONNECTS, DOES, Does, EVERYBODY, HAPPENS_TO,
        LEADS, MARKERS, MEETINGS, NO_NAMES, PASSIVES, QUESTIONS, SEES, WANTS, WANTS_TO_BE,
    },
    moment::{deadline, is_joined, is_vague, repeats, time_at, time_first},
    pattern::text_of,
    phrasing::{tame, to_you},
    promise::Unclear,
    words::{Word, begins, longest},
};

/// The longest description, in characters.
pub(super) const LONGEST: usize = 150;
/// How many words say how often, at most: "every second day at".
const OFTEN: usize = 4;
/// The most things that one request waits for.
const MOST_EVENTS: usize = 3;

/// The words of a request, and when they were said.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) text: &'a str,
    pub(super) words: &'a [Word],
    pub(super) now: Timestamp,
}

/// A condition, and the word after it.
#[derive(Clone, Debug, Default)]
struct Condition {
    when: Vec<LaterEvent>,
    due_at: Option<Timestamp>,
    until: Option<Timestamp>,
    unclear: Option<Unclear>,
    end: usize,
}

/// A request, and the word after the person it is for.
#[derive(Clone, Debug)]
struct Wanted {
    does: Does,
    who: Person,
    end: usize,
}

/// A request with its condition.
pub(super) struct Draft {
    later: Later,
    unclear: Option<Unclear>,
}

impl<'a> Request<'a> {
    pub(super) fn condition_first(&self) -> Option<Draft> {
        let condition = self.first_condition(0)?;
        let wanted = self.action(condition.end)?;
        let what = self.words.get(wanted.end..)?;
        Some(self.draft(&condition, 0, &wanted, what))
    }

    pub(super) fn action_first(&self) -> Option<Draft> {
        let wanted = self.action(0)?;
        let len = self.words.len();
        // First look right after the person. Then the rest says what it is about.
        if let Some(condition) = self.first_condition(wanted.end) {
            let what = self.words.get(condition.end..)?;
            return Some(self.draft(&condition, wanted.end, &wanted, what));
        }
        // Then look at the end. But a fact to pass on, or a question, may itself end with a moment.
        let behind = self.words.get(wanted.end..)?;
        let is_question = behind
            .first()
            .is_some_and(|word| QUESTIONS.contains(&word.text.as_str()));
        let tells_a_fact =
            (is_question || begins(behind, "that") > 0) && wanted.does != Does::Remind;
        (wanted.end + 1..len).find_map(|at| {
            let condition = self.condition(at)?;
            let is_only_a_moment = condition.when.is_empty();
            (condition.end == len && !(tells_a_fact && is_only_a_moment)).then(|| {
                let what = self.words.get(wanted.end..at).unwrap_or_default();
                self.draft(&condition, at, &wanted, what)
            })
        })
    }

    fn draft(&self, condition: &Condition, at: usize, wanted: &Wanted, what: &[Word]) -> Draft {
        let what = text_of(self.text, without_ends(what)).unwrap_or_default();
        let what = tame(what.trim());
        let said = self.words.get(at..condition.end).unwrap_or_default();
        let said = text_of(self.text, without_ends(said)).unwrap_or_default();
        let what = match wanted.who {
            Person::Me => to_you(&what),
            _ => what,
        };
        Draft {
            later: Later {
                who: wanted.who.clone(),
                does: wanted.does,
                what: shortened(&what, LONGEST).into_owned(),
                when: condition.when.clone(),
                due_at: condition.due_at,
                until: condition.until,
                said: shortened(&to_you(&tame(said)), LONGEST).into_owned(),
            },
            unclear: condition.unclear.or_else(|| self.doubt(condition)),
        }
    }

    /// What makes a request unclear whose condition is only a moment.
    fn doubt(&self, condition: &Condition) -> Option<Unclear> {
        if !condition.when.is_empty() {
            return None;
        }
        if repeats(self.words) {
            return Some(Unclear::Repeats);
        }
        let behind = self.rest(condition.end);
        let also = begins(behind, "and");
        let has_second = is_joined(behind, self.now)
            || (also > 0 && self.one_condition(condition.end + also).is_some());
        has_second.then_some(Unclear::Moments)
    }

    /// A condition where a request names it first. There, a day needs no hour.
    fn first_condition(&self, at: usize) -> Option<Condition> {
        let rest = self.rest(at);
        if repeats(rest.get(..rest.len().min(OFTEN)).unwrap_or_default()) {
            return Some(Condition {
                unclear: Some(Unclear::Repeats),
                end: at + 1,
                ..Condition::default()
            });
        }
        self.condition(at).or_else(|| {
            let (count, due_at) = time_first(rest, self.now)?;
            Some(Condition {
                due_at: Some(due_at),
                end: at + count,
                ..Condition::default()
            })
        })
    }

    /// What to wait for, from this word on.
    fn condition(&self, at: usize) -> Option<Condition> {
        let mut all = self.one_condition(at)?;
        while begins(self.rest(all.end), "or") > 0 && all.when.len() < MOST_EVENTS {
            let next = self
                .one_condition(all.end + 1)
                .or_else(|| self.fact(all.end + 1));
            let Some(next) = next else { break };
            all.when.extend(next.when);
            all.due_at = all.due_at.or(next.due_at);
            all.unclear = all.unclear.or(next.unclear);
            all.end = next.end;
        }
        if let Some((until, end)) = self.limit(all.end).filter(|_| !all.when.is_empty()) {
            (all.until, all.end) = (Some(until), end);
        }
        Some(all)
    }

    fn one_condition(&self, at: usize) -> Option<Condition> {
        if let Some((count, due_at)) = time_at(self.rest(at), self.now) {
            return Some(Condition {
                due_at: Some(due_at),
                end: at + count,
                ..Condition::default()
            });
        }
        if let Some(count) = deadline(self.rest(at), self.now) {
            return Some(Condition {
                unclear: Some(Unclear::Deadline),
                end: at + count,
                ..Condition::default()
            });
        }
        if let Some(condition) = self.meeting(at) {
            return Some(condition);
        }
        if begins(self.rest(at), "should") > 0 {
            return self.fact(at + 1);
        }
        let marker = longest(self.rest(at), MARKERS)?;
        self.fact(at + marker)
    }

    /// "next time you see Bob", "if you happen to meet her".
    fn meeting(&self, at: usize) -> Option<Condition> {
        let marker = longest(self.rest(at), MEETINGS)?;
        let at = at + marker;
        if begins(self.rest(at), "we meet") > 0 {
            let again = begins(self.rest(at + 2), "again");
            return Some(met(AwaitedKind::Present, Person::Me, at + 2 + again));
        }
        let you = begins(self.rest(at), "you");
        let inserted = longest(self.rest(at + you), HAPPENS_TO).unwrap_or(0);
        let at = at + you + inserted;
        let sees = longest(self.rest(at), SEES).filter(|_| you > 0)?;
        let (who, end) = self.person(at + sees)?;
        let again = longest(self.rest(end), &["again", "next"]).unwrap_or(0);
        Some(met(AwaitedKind::Present, who, end + again))
    }

    /// "Bob comes", "Bob or Carol comes", "the door opens".
    fn fact(&self, at: usize) -> Option<Condition> {
        let mut subjects = Vec::new();
        let mut next = at;
        while let Some((who, end)) = self.subject(next)
            && subjects.len() < MOST_EVENTS
        {
            subjects.push(who);
            next = end;
            match begins(self.rest(end), "or") {
                0 => break,
                or => next = end + or,
            }
        }
        let many = longest(self.rest(at), EVERYBODY);
        let does = |at: usize| {
            let found = DOES
                .iter()
                .find(|(phrase, _)| begins(self.rest(at), phrase) > 0)?;
            Some((found.1, at + begins(self.rest(at), found.0)))
        };
        if let (Some(count), true) = (many, subjects.is_empty()) {
            let (_, end) = does(at + count).or_else(|| {
                let has = begins(self.rest(at + count), "is here");
                (has > 0).then_some((AwaitedKind::Present, at + count + has))
            })?;
            return Some(Condition {
                unclear: Some(Unclear::Person),
                end,
                ..Condition::default()
            });
        }
        if let (Some((kind, end)), false) = (does(next), subjects.is_empty()) {
            let when = subjects.into_iter().map(|who| LaterEvent {
                kind,
                who,
                words: String::new(),
            });
            return Some(Condition {
                when: when.collect(),
                end,
                ..Condition::default()
            });
        }
        self.happening(at)
    }

    /// "the door opens", "it starts to rain", "somebody knocks". Reads only sentences about the present or the future.
    fn happening(&self, at: usize) -> Option<Condition> {
        let begins_so = longest(self.rest(at), ARTICLES).or(longest(self.rest(at), ANYBODY))?;
        let ends = (at + begins_so..=self.words.len()).find(|end| self.is_boundary(at, *end))?;
        let clause = self.words.get(at..ends)?;
        let is_now = clause
            .iter()
            .skip(begins_so)
            .any(|word| ["is", "are"].contains(&&*word.text) || is_verb(&word.text));
        let content = clause.iter().map(|word| word.text.as_str());
        let content = content.filter(|word| !CONNECTS.contains(word));
        let content: Vec<_> = content.map(stem).collect();
        let fits = is_now && (1..=4).contains(&content.len());
        // A number would be found in any text that holds it: "I have six eggs".
        if fits && content.iter().all(|word| is_vague(word)) {
            return Some(Condition {
                unclear: Some(Unclear::Event),
                end: ends,
                ..Condition::default()
            });
        }
        // "Tell me when the fair is" asks a question.
        let is_question = clause
            .last()
            .is_some_and(|word| ["is", "are"].contains(&&*word.text));
        let fits = fits && !is_question;
        fits.then(|| Condition {
            when: vec![LaterEvent {
                kind: AwaitedKind::Happens,
                who: Person::Anybody,
                words: content.join(" "),
            }],
            end: ends,
            ..Condition::default()
        })
    }

    /// Whether a clause that began at `from` ends before this word.
    fn is_boundary(&self, from: usize, at: usize) -> bool {
        let is_after_comma = || {
            let before = at.checked_sub(1).and_then(|last| self.words.get(last));
            let (Some(before), Some(here)) = (before, self.words.get(at)) else {
                return true;
            };
            let between = self.text.get(before.to..here.from).unwrap_or_default();
            between.contains([',', ':'])
        };
        at > from + 1
            && (is_after_comma()
                || begins(self.rest(at), "or") > 0
                || self.limit(at).is_some()
                || self.action(at).is_some())
            || (at > from && at == self.words.len())
    }

    /// "before eight", "within the next hour", "in the next ten minutes".
    fn limit(&self, at: usize) -> Option<(Timestamp, usize)> {
        let leads = longest(
            self.rest(at),
            &[
                "within the next",
                "in the next",
                "within the",
                "within",
                "before",
                "by",
            ],
        )?;
        // A length of time is read after "in", a moment after "at".
        let lead = match begins(self.rest(at), "before") + begins(self.rest(at), "by") {
            0 => "in",
            _ => "at",
        };
        let mut rest = vec![Word {
            text: lead.to_owned(),
            from: 0,
            to: 0,
        }];
        let behind = self.rest(at + leads);
        let is_unit = behind.first().is_some_and(|word| word.text == "hours");
        if is_unit {
            rest.push(Word {
                text: "an".to_owned(),
                from: 0,
                to: 0,
            });
        }
        rest.extend(behind.iter().take(6).cloned());
        let added = 1 + usize::from(is_unit);
        let (count, until) = time_at(&rest, self.now)?;
        Some((until, at + leads + count.checked_sub(added)?))
    }

    /// "tell Bob", after what may precede a request.
    fn action(&self, at: usize) -> Option<Wanted> {
        let mut at = at;
        while let Some(skipped) = longest(self.rest(at), LEADS) {
            at += skipped;
        }
        let wants_to_be = longest(self.rest(at), WANTS_TO_BE);
        let passive = wants_to_be.and_then(|count| {
            let verb = self.rest(at + count).first()?;
            let (_, does) = PASSIVES.iter().find(|(known, _)| *known == verb.text)?;
            Some((*does, count + 1))
        });
        let told = longest(self.rest(at), WANTS).map(|count| (Does::Tell, count));
        let called = longest(self.rest(at), CALLS).map(|count| (Does::Call, count));
        if let Some((does, count)) = told.or(passive).or(called) {
            return Some(Wanted {
                does,
                who: Person::Me,
                end: at + count,
            });
        }
        ACTIONS.iter().find_map(|(pattern, does)| {
            let (before, behind) = pattern.split_once("<p>")?;
            let before = begins(self.rest(at), before);
            let (who, end) = self.person(at + before).filter(|_| before > 0)?;
            let behind = behind.trim();
            let count = begins(self.rest(end), behind);
            (behind.is_empty() || count > 0).then(|| Wanted {
                does: *does,
                who,
                end: end + count,
            })
        })
    }

    /// A person as the object: "me", "him", a name.
    fn person(&self, at: usize) -> Option<(Person, usize)> {
        let first = self.words.get(at)?;
        match &*first.text {
            "me" | "us" => Some((Person::Me, at + 1)),
            "him" | "her" | "them" => Some((Person::Pronoun, at + 1)),
            _ => self.name(at),
        }
    }

    /// A person as the subject: "I", "he", "somebody", a name.
    fn subject(&self, at: usize) -> Option<(Person, usize)> {
        let first = self.words.get(at)?;
        match &*first.text {
            "i" | "we" => Some((Person::Me, at + 1)),
            "he" | "she" | "they" => Some((Person::Pronoun, at + 1)),
            _ => match longest(self.rest(at), ANYBODY) {
                Some(count) => Some((Person::Anybody, at + count)),
                None => self.name(at),
            },
        }
    }

    /// A name: a word, and the words after it that begin with a capital letter, as names do.
    fn name(&self, at: usize) -> Option<(Person, usize)> {
        let first = self.words.get(at)?;
        let is_word = first.text.chars().next().is_some_and(char::is_alphabetic);
        if !is_word
            || is_vague(&first.text)
            || NO_NAMES.contains(&first.text.as_str())
            || EVERYBODY.contains(&&*first.text)
        {
            return None;
        }
        let is_capital = |word: &Word| {
            let written = self.text.get(word.from..word.to).unwrap_or_default();
            let first = written.chars().next();
            word.text.len() > 1 && first.is_some_and(char::is_uppercase)
        };
        let follows = |one: &Word, next: &Word| self.text.get(one.to..next.from) == Some(" ");
        let mut end = at + 1;
        while let (Some(last), Some(next)) = (self.words.get(end - 1), self.words.get(end))
            && is_capital(first)
            && is_capital(next)
            && follows(last, next)
        {
            end += 1;
        }
        let name = text_of(self.text, self.words.get(at..end)?)?;
        Some((Person::Named(name.to_owned()), end))
    }

    fn rest(&self, at: usize) -> &'a [Word] {
        self.words.get(at..).unwrap_or_default()
    }
}

impl Draft {
    /// Resolves each pronoun to the only person whom the sentence names.
    pub(super) fn resolved(self) -> Result<Later, Unclear> {
        let Self { mut later, unclear } = self;
        if let Some(unclear) = unclear {
            return Err(unclear);
        }
        let mentioned = later
            .when
            .iter()
            .map(|event| &event.who)
            .chain([&later.who]);
        let named = mentioned.filter(|who| matches!(who, Person::Named(_)));
        let mut named: Vec<_> = named.cloned().collect();
        named.dedup();
        let meant = |who: &mut Person| match (&*who, named.as_slice()) {
            (Person::Pronoun, [only]) => {
                *who = only.clone();
                Ok(())
            }
            (Person::Pronoun, _) => Err(Unclear::Person),
            _ => Ok(()),
        };
        later
            .when
            .iter_mut()
            .try_for_each(|it| meant(&mut it.who))?;
        meant(&mut later.who)?;
        Ok(later)
    }
}

fn met(kind: AwaitedKind, who: Person, end: usize) -> Condition {
    Condition {
        when: vec![LaterEvent {
            kind,
            who,
            words: String::new(),
        }],
        end,
        ..Condition::default()
    }
}

/// The words without connecting words at both ends.
fn without_ends(words: &[Word]) -> &[Word] {
    let mut words = words;
    while let [first, rest @ ..] = words
        && ABOUT.contains(&first.text.as_str())
    {
        words = rest;
    }
    while let [rest @ .., last] = words
        && ["please", "thanks", "that", "to", "from"].contains(&&*last.text)
    {
        words = rest;
    }
    words
}

/// Whether it is a verb in the third person, present tense.
fn is_verb(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss")
}

/// The part that all forms of a verb begin with.
fn stem(word: &str) -> &str {
    match word {
        "goes" => word,
        _ if is_verb(word) => {
            let stem = word.strip_suffix('s').unwrap_or(word);
            let hisses = ["she", "che", "xe", "sse"]
                .iter()
                .any(|end| stem.ends_with(end));
            if hisses {
                stem.strip_suffix('e').unwrap_or(stem)
            } else {
                stem
            }
        }
        _ => word,
    }
}
