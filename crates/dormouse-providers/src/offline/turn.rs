//! From the conversation so far to the next step.

use dormouse_contracts::Message;
use serde_json::Value;

use super::{
    act::Act,
    event::{PendingEvent, Way, pending},
    intent::{Intent, recognise},
    memories,
    phrasing::{CANNOT_TELL, INTRODUCTION, LONGEST_ANSWER, NOTHING_HERE, plain, quote, shorten},
    place,
};

/// The next step in this conversation, with the tools that `offered` says are there.
pub(super) fn next_act(messages: &[Message], offered: &dyn Fn(&str) -> bool) -> Act {
    let Some((event, behind)) = pending(messages) else {
        return without_event(messages, offered);
    };
    let intent = recognise(&event.words);
    let turn = Turn {
        event,
        behind,
        offered,
    };
    match turn.groundwork(&intent) {
        Some(act) => act,
        None => turn.reply(&turn.answer(&intent)),
    }
}

/// Calls `noop`, once; where it is not offered, what is wanted is text, which takes a language model.
fn without_event(messages: &[Message], offered: &dyn Fn(&str) -> bool) -> Act {
    let lately = messages.iter().rev();
    let lately = lately.take_while(|message| !matches!(message, Message::User { .. }));
    let is_noop = |message: &Message| {
        matches!(message, Message::Assistant { tool_calls, .. }
            if tool_calls.iter().any(|call| call.name == "noop"))
    };
    match (offered("noop"), lately.into_iter().any(is_noop)) {
        (true, false) => Act::call("noop", []),
        (true, true) => Act::Text(String::new()),
        (false, _) => Act::Text(NOTHING_HERE.to_owned()),
    }
}

/// The text of a message.
pub(super) fn text_of(message: &Message) -> &str {
    match message {
        Message::System { content }
        | Message::User { content }
        | Message::Assistant { content, .. }
        | Message::Tool { content, .. } => content,
        _ => "",
    }
}

/// What needs no look at the exits to be understood.
const DIRECTIONS: &[&str] = &[
    "north",
    "south",
    "east",
    "west",
    "northeast",
    "northwest",
    "southeast",
    "southwest",
    "up",
    "down",
    "in",
    "out",
];

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Success(Value),
    Failure(String),
    Unknown,
}

/// What the model has done about the event so far, and what it may do.
struct Turn<'a> {
    event: PendingEvent,
    behind: &'a [Message],
    offered: &'a dyn Fn(&str) -> bool,
}

impl Turn<'_> {
    /// What has to be called before the answer is known; nothing if it was called or is not offered.
    fn groundwork(&self, intent: &Intent) -> Option<Act> {
        let act = match intent {
            Intent::Remember(text) => Act::call("remember", [("text", text)]),
            Intent::Ask(question) => Act::call("recall", [("query", &shorten(question, 500))]),
            Intent::Look => Act::call("inspect_location", []),
            Intent::Go(to) => return self.walk(to),
            _ => return None,
        };
        self.if_fresh(act)
    }

    /// Goes to the exit that leads there; looks for it first, unless a direction was named.
    fn walk(&self, to: &str) -> Option<Act> {
        let is_direction = DIRECTIONS.contains(&to.to_lowercase().as_str());
        let movable = (self.offered)("move") && !self.was_called("move");
        if movable
            && !is_direction
            && let Some(look) = self.if_fresh(Act::call("inspect_location", []))
        {
            return Some(look);
        }
        let place = match self.outcome("inspect_location") {
            Some(Outcome::Success(place)) => place,
            _ => Value::Null,
        };
        let direction = place::way_to(&place, to).unwrap_or(to);
        self.if_fresh(Act::call("move", [("direction", direction)]))
    }

    /// The answer in words, once the groundwork is done.
    fn answer(&self, intent: &Intent) -> String {
        let name = plain(&self.event.name);
        match intent {
            Intent::Remember(text) => match self.outcome("remember") {
                None => format!(
                    "I have no way to remember here, so I will not keep {}.",
                    quote(text)
                ),
                Some(Outcome::Success(_)) => format!("I will remember: {}", quote(text)),
                Some(other) => failed("I could not remember that", &other),
            },
            Intent::Ask(question) => match self.outcome("recall") {
                None => "I do not know, and I have no way to search my memory here.".to_owned(),
                Some(Outcome::Success(result)) => memories::answer(question, &result),
                Some(other) => failed("I could not search my memory", &other),
            },
            Intent::Look => match self.outcome("inspect_location") {
                None => "I have no way to look around here.".to_owned(),
                Some(Outcome::Success(result)) => place::describe(&result),
                Some(other) => failed("I could not look around", &other),
            },
            Intent::Go(_) => match self.outcome("move") {
                None => "I have no way to move here.".to_owned(),
                Some(Outcome::Success(_)) => "Here I am.".to_owned(),
                Some(other) => failed("I could not go there", &other),
            },
            Intent::Introduce => INTRODUCTION.to_owned(),
            Intent::Greeting => format!("Hello, {name}."),
            Intent::Thanks => format!("You are welcome, {name}."),
            Intent::Bye => format!("Good bye, {name}."),
            Intent::Unknown => not_understood(&self.event.words),
        }
    }

    /// Says it the way the other spoke; nothing more if that was done already.
    fn reply(&self, answer: &str) -> Act {
        let answer = &shorten(answer, LONGEST_ANSWER);
        let (tool, act) = match self.event.way {
            Way::Whisper => ("whisper", self.act_to("whisper", answer)),
            Way::Page => ("page", self.act_to("page", answer)),
            Way::Aloud => ("say", Act::call("say", [("message", answer)])),
        };
        if self.was_called(tool) || self.has_spoken() {
            let nothing = Act::call("noop", []);
            self.if_fresh(nothing)
                .unwrap_or_else(|| Act::Text(String::new()))
        } else {
            self.if_fresh(act)
                .unwrap_or_else(|| Act::Text(answer.clone()))
        }
    }

    fn act_to(&self, tool: &'static str, answer: &str) -> Act {
        Act::call(tool, [("to", &self.event.name), ("message", answer)])
    }

    /// The call, if its tool is offered and was not called for this event yet.
    fn if_fresh(&self, act: Act) -> Option<Act> {
        match &act {
            Act::Call { tool, .. } if !(self.offered)(tool) || self.was_called(tool) => None,
            _ => Some(act),
        }
    }

    fn was_called(&self, tool: &str) -> bool {
        self.call_id(tool).is_some()
    }

    fn has_spoken(&self) -> bool {
        self.behind.iter().any(|message| {
            matches!(message, Message::Assistant { content, tool_calls }
                if tool_calls.is_empty() && !content.trim().is_empty())
        })
    }

    fn call_id(&self, tool: &str) -> Option<&dormouse_contracts::CallId> {
        let calls = self.behind.iter().flat_map(|message| match message {
            Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            _ => &[],
        });
        calls
            .filter(|call| call.name == tool)
            .map(|call| &call.id)
            .next()
    }

    /// What became of the call of this tool; none if it was not called.
    fn outcome(&self, tool: &str) -> Option<Outcome> {
        let id = self.call_id(tool)?;
        let result = self.behind.iter().find_map(|message| match message {
            Message::Tool { call_id, content } if call_id == id => Some(content),
            _ => None,
        });
        // A call whose result never came may have happened or not.
        Some(result.map_or(Outcome::Unknown, |content| read_result(content)))
    }
}

fn read_result(content: &str) -> Outcome {
    let Ok(mut told) = serde_json::from_str::<Value>(content) else {
        return Outcome::Failure("its result could not be read".to_owned());
    };
    let result = told.get_mut("result").map(Value::take);
    // A result that was too long to be shown says so beside where it would be.
    let result = result.unwrap_or_else(|| told.clone());
    let is_unknown = |value: &Value| {
        value
            .get("outcome")
            .is_some_and(|outcome| outcome == "unknown")
    };
    if is_unknown(&told) || is_unknown(&result) {
        Outcome::Unknown
    } else if told.get("success").and_then(Value::as_bool) == Some(true) {
        Outcome::Success(result)
    } else {
        let reason = told.get("error").and_then(Value::as_str);
        Outcome::Failure(reason.unwrap_or("no reason was given").to_owned())
    }
}

fn failed(what: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failure(reason) => format!("{what}: {}", quote(reason)),
        Outcome::Unknown | Outcome::Success(_) => CANNOT_TELL.to_owned(),
    }
}

fn not_understood(words: &str) -> String {
    if words.is_empty() {
        return "I am the offline model, and I heard no words.".to_owned();
    }
    format!(
        "I am the offline model, with no language model behind me, and I did not understand this: {}",
        quote(words)
    )
}
