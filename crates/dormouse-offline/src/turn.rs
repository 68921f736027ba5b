//! Chooses the next step of a turn.

use dormouse_contracts::{ChatRequest, Message, TurnCall, TurnContext};
use dormouse_text::shortened;
use serde_json::Value;

use crate::{
    act::Act,
    done::Outcome,
    event::{PendingEvent, Way},
    intent::{Intent, recognise},
    memories,
    offer::Offer,
    phrasing::{CANNOT_TELL, INTRODUCTION, LONGEST_ANSWER, NOTHING_HERE, plain, quote},
    place,
};

/// Returns the next step for this request, with the offered tools.
pub(crate) fn next_act(request: &ChatRequest, offer: &Offer<'_>) -> Act {
    let Some(context) = &request.turn else {
        return without_event(&request.messages, offer);
    };
    let event = PendingEvent::from(&context.trigger);
    let intent = recognise(&event.words);
    let turn = Turn {
        event,
        context,
        offer,
    };
    match turn.groundwork(&intent) {
        Some(act) => act,
        None => turn.reply(&turn.answer(&intent)),
    }
}

/// Calls `noop`, once. If `noop` is not offered, the request is for text. Such a request needs a language model.
fn without_event(messages: &[Message], offer: &Offer<'_>) -> Act {
    let lately = messages.iter().rev();
    let mut lately = lately.take_while(|message| !matches!(message, Message::User { .. }));
    let called = lately.any(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.iter().any(|call| call.name == "noop"),
        _ => false,
    });
    match (offer.has("noop"), called) {
        (true, false) => Act::call("noop", []),
        (true, true) => Act::Text(String::new()),
        (false, _) => Act::Text(NOTHING_HERE.to_owned()),
    }
}

/// The text of a message.
pub(crate) fn text_of(message: &Message) -> &str {
    match message {
        Message::System { content }
        | Message::User { content }
        | Message::Assistant { content, .. }
        | Message::Tool { content, .. } => content,
        _ => "",
    }
}

/// The directions that are used without looking at the exits first.
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

/// How many memories one answer requests.
const LINES: u64 = 20;

/// The steps so far, and the offered tools.
struct Turn<'a> {
    event: PendingEvent,
    context: &'a TurnContext,
    offer: &'a Offer<'a>,
}

impl Turn<'_> {
    /// Returns the call that the answer needs; `None` if it was made or is not offered.
    fn groundwork(&self, intent: &Intent) -> Option<Act> {
        let act = match intent {
            Intent::Remember(text) => Act::call("store_memory", [("text", text)]),
            Intent::Ask(question) => recall(&shortened(question, 500)),
            Intent::Look => Act::call("inspect_location", []),
            Intent::Go(to) => return self.walk(to),
            _ => return None,
        };
        self.if_fresh(act)
    }

    /// Goes to the exit that leads to this place. Looks at the exits first, unless `to` is a direction.
    fn walk(&self, to: &str) -> Option<Act> {
        let is_direction = DIRECTIONS.contains(&to.to_lowercase().as_str());
        let movable = self.offer.has("move") && !self.was_called("move");
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

    /// Returns the answer, after the calls that it needs.
    fn answer(&self, intent: &Intent) -> String {
        let name = plain(&self.event.name);
        match intent {
            Intent::Remember(text) => match self.outcome("store_memory") {
                None => format!(
                    "I have no way to remember here, so I will not keep {}.",
                    quote(text)
                ),
                Some(Outcome::Success(_)) => format!("I will remember: {}", quote(text)),
                Some(other) => failed("I could not remember that", &other),
            },
            Intent::Ask(question) => match self.outcome("recall_memories") {
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

    /// Answers once, in the same way as the message was sent: a whisper, a page, on the channel, or aloud.
    fn reply(&self, answer: &str) -> Act {
        let answer = &shortened(answer, LONGEST_ANSWER);
        let (tool, act) = match &self.event.way {
            Way::Whisper => ("whisper", self.act_to("whisper", answer)),
            Way::Page => ("page", self.act_to("page", answer)),
            Way::Channel(channel) => {
                let arguments = [("channel", channel.as_str()), ("message", answer)];
                ("channel", Act::call("channel", arguments))
            }
            Way::Aloud => ("say", Act::call("say", [("message", answer)])),
        };
        if self.was_called(tool) || self.has_spoken() {
            let nothing = Act::call("noop", []);
            self.if_fresh(nothing)
                .unwrap_or_else(|| Act::Text(String::new()))
        } else {
            self.if_fresh(act)
                .unwrap_or_else(|| Act::Text(answer.to_string()))
        }
    }

    fn act_to(&self, tool: &'static str, answer: &str) -> Act {
        Act::call(tool, [("to", &self.event.name), ("message", answer)])
    }

    /// Returns the call if its tool is offered and was not yet called for this event.
    fn if_fresh(&self, act: Act) -> Option<Act> {
        match &act {
            Act::Call { tool, .. } if !self.offer.has(tool) || self.was_called(tool) => None,
            _ => Some(act),
        }
    }

    fn calls(&self) -> impl Iterator<Item = &TurnCall> {
        self.context.steps.iter().flat_map(|step| &step.calls)
    }

    fn was_called(&self, tool: &str) -> bool {
        self.calls().any(|call| call.tool == tool)
    }

    fn has_spoken(&self) -> bool {
        let mut steps = self.context.steps.iter();
        steps.any(|step| step.calls.is_empty() && !step.text.trim().is_empty())
    }

    /// Returns the outcome of this tool's call, if it was made.
    fn outcome(&self, tool: &str) -> Option<Outcome> {
        self.calls().find(|call| call.tool == tool).map(Outcome::of)
    }
}

/// Requests [`LINES`] memories, more than an answer quotes, since some of them are questions and are not quoted.
fn recall(question: &str) -> Act {
    let arguments = [
        ("query".to_owned(), question.into()),
        ("limit".to_owned(), LINES.into()),
    ];
    Act::Call {
        tool: "recall_memories",
        arguments: arguments.into_iter().collect(),
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
