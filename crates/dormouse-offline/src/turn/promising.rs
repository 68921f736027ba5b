//! Requests to do something later: it notes them, and says what it promised or what it needs to know.

use dormouse_contracts::{Timestamp, TurnTrigger};
use serde_json::{Value, json};

use super::{MessageTurn, failed, full_stop, lower_first};
use crate::{
    act::Act,
    done::Outcome,
    english::said::Topic,
    event::PendingEvent,
    intent::{Intent, recognise},
    later::{Later, Person, later},
    moment::said_at,
    phrasing::plain,
    promise::{IT_IS_TIME, Unclear, reminder},
    words::words,
};

impl MessageTurn<'_> {
    /// The request of the message before, with the moment that this message names: "at six", after "when shall I remind you?"
    pub(super) fn completed(&self) -> Option<Intent> {
        let TurnTrigger::Message(message) = &self.steps.context.earlier.last()?.trigger else {
            return None;
        };
        let asked = PendingEvent::from(&**message);
        let (moment, now) = (&*self.event.words, self.event.at);
        let names_only_a_moment =
            |text: &str| reminder(text, now).is_ok_and(|reminder| reminder.what == IT_IS_TIME);
        // "Six" by itself is a moment only here.
        let bare = format!("for {moment}");
        let moments = [moment, &bare];
        let moment = moments.into_iter().find(|text| names_only_a_moment(text))?;
        let may_be_completed = |unclear| matches!(unclear, Unclear::Time | Unclear::Deadline);
        let is_same = asked.who.is_some() && asked.who == self.event.who;
        match recognise(&asked.words, &[&self.voice.character.name]) {
            _ if !is_same => None,
            Intent::Remind(text) if reminder(&text, now).is_err_and(may_be_completed) => {
                Some(Intent::Remind(format!("{moment} {text}")))
            }
            Intent::Later(text) if matches!(self.later(&text), Some(Err(Unclear::Deadline))) => {
                Some(Intent::Later(format!("{moment}, {text}")))
            }
            _ => None,
        }
    }

    /// Notes what to do, for whom and when.
    pub(super) fn promise(&self, text: &str) -> Option<Act> {
        let reminder = reminder(text, self.event.at).ok()?;
        let due_at = reminder.due_at.to_string();
        let arguments = [
            ("entity", self.event.who.as_ref()?.as_str()),
            ("description", &reminder.what),
            ("due_at", &due_at),
        ];
        Some(Act::call("add_pending_action", arguments))
    }

    /// Reads a request with something to wait for.
    fn later(&self, text: &str) -> Option<Result<Later, Unclear>> {
        later(text, &words(text), self.event.at)
    }

    /// Notes what to do, for whom, and what to wait for.
    pub(super) fn commitment(&self, text: &str) -> Option<Act> {
        let later = self.later(text)?.ok()?;
        let asker = self.event.who.as_ref()?.as_str();
        let name = |who: &Person| match who {
            Person::Me => Some(asker.to_owned()),
            Person::Named(name) => Some(name.clone()),
            Person::Anybody | Person::Pronoun => None,
        };
        let when = later.when.iter().map(|event| {
            let mut one = serde_json::Map::new();
            one.insert("event".to_owned(), json!(event.kind));
            let who = name(&event.who).map(|who| ("who", who));
            let words = Some(("words", event.words.clone())).filter(|(_, words)| !words.is_empty());
            let given = who.into_iter().chain(words);
            one.extend(given.map(|(key, text)| (key.to_owned(), text.into())));
            Value::Object(one)
        });
        let when: Vec<_> = when.collect();
        let moment = |at: Option<Timestamp>| at.map(|at| at.to_string().into());
        let description = later.description(&self.voice.name);
        let arguments: [(&str, Option<Value>); 5] = [
            ("entity", Some(name(&later.who)?.into())),
            ("description", Some(description.into())),
            ("due_at", moment(later.due_at)),
            (
                "when",
                Some(when).filter(|when| !when.is_empty()).map(Value::from),
            ),
            ("until", moment(later.until)),
        ];
        let arguments = arguments.into_iter();
        Some(Act::Call {
            tool: "add_pending_action",
            arguments: arguments
                .filter_map(|(key, value)| Some((key.to_owned(), value?)))
                .collect(),
        })
    }

    /// Says what it promised, or what it needs to know.
    pub(super) fn promised(&self, text: &str) -> String {
        let reminder = match reminder(text, self.event.at) {
            Ok(reminder) => reminder,
            Err(unclear) => return self.asks_back(unclear),
        };
        match self.steps.outcome("add_pending_action") {
            None => "I have no way to keep a promise here.".to_owned(),
            Some(Outcome::Success(_)) => {
                let at = said_at(reminder.due_at, self.event.at);
                let what = format!("{at}: {}", full_stop(&reminder.what));
                self.voice.say(Topic::Promised, &what)
            }
            Some(other) => failed("I cannot promise that", &other),
        }
    }

    /// Says what it needs to know before it promises anything.
    fn asks_back(&self, unclear: Unclear) -> String {
        let topic = match unclear {
            Unclear::Time => Topic::NoTime,
            Unclear::Deadline => Topic::Deadline,
            Unclear::Moments => Topic::Moments,
            Unclear::Repeats => Topic::Repeats,
            Unclear::Event => Topic::NoEvent,
            Unclear::Person => {
                return "Whom do you mean? Say the name: \"when Bob comes, tell him that …\"."
                    .to_owned();
            }
        };
        self.voice.say(topic, "")
    }

    /// Says what it promised to do later, or what it needs to know.
    pub(super) fn promised_later(&self, text: &str) -> String {
        let later = match self.later(text) {
            Some(Ok(later)) => later,
            Some(Err(unclear)) => return self.asks_back(unclear),
            // The moment has passed: "today at noon" in the evening.
            None => return self.asks_back(Unclear::Time),
        };
        match self.steps.outcome("add_pending_action") {
            None => "I have no way to keep a promise here.".to_owned(),
            Some(Outcome::Success(_)) => {
                let when = match later.due_at.filter(|_| later.when.is_empty()) {
                    Some(due_at) => said_at(due_at, self.event.at),
                    None => lower_first(&later.said),
                };
                match &later.who {
                    Person::Named(name) => {
                        format!("I will see to that {when}, for {}.", plain(name))
                    }
                    _ => {
                        let what = full_stop(&later.description(&self.voice.name));
                        self.voice.say(Topic::Promised, &format!("{when}: {what}"))
                    }
                }
            }
            Some(other) => failed("I cannot promise that", &other),
        }
    }
}
