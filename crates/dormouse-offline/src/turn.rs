//! Chooses the next step of a turn.

mod following;
mod promising;
mod tasks;

use dormouse_contracts::{ChatRequest, DueAction, Message, TurnCall, TurnContext, TurnTrigger};
use dormouse_text::shortened;
use serde_json::Value;

use crate::{
    act::Act,
    done::Outcome,
    english::{
        said::Topic,
        understood::{DIRECTIONS, YES},
    },
    event::{PendingEvent, Way},
    intent::{Intent, recognise},
    itself,
    later::{ASK_FOR, PASS_ON},
    memories,
    moment::said_at,
    offer::Offer,
    persona::Character,
    phrasing::{
        CANNOT_TELL, LONGEST_ANSWER, NOTHING_HERE, Voice, is_a_wording, plain, quote, seed, tame,
    },
    place, promises, why,
    words::words,
};

/// How many memories one answer requests.
const LINES: u64 = 20;
/// How many messages of another assistant are answered in a row. Without a bound, two would page each other for ever.
const EXCHANGES: usize = 3;
/// The tools that say something.
const SPEAKING: [&str; 4] = ["say", "whisper", "page", "channel"];

/// Returns the next step for this request, with the offered tools.
pub(crate) fn next_act(request: &ChatRequest, offer: &Offer<'_>) -> Act {
    let Some(context) = &request.turn else {
        return without_event(&request.messages, offer);
    };
    let character = Character::of(&context.persona);
    let steps = Steps { context, offer };
    match &context.trigger {
        TurnTrigger::Message(perception) => {
            let event = PendingEvent::from(&**perception);
            let voice = Voice {
                character: &character,
                name: plain(&event.name),
                seed: event.seed,
                last: last_said(context),
            };
            let turn = MessageTurn {
                event: &event,
                voice: &voice,
                steps,
            };
            turn.next(&turn.intent())
        }
        TurnTrigger::Due(due) => {
            let voice = Voice {
                character: &character,
                name: plain(&due.name),
                seed: seed([&*due.name, &*due.description]),
                last: None,
            };
            match due.description == following::FOLLOW {
                true => following::go_along(due, &voice, &steps),
                false => remind(due, &voice, &steps),
            }
        }
        TurnTrigger::Task(task) => match &task.report {
            None => tasks::answer(&task.task, &character, &steps),
            Some(report) => tasks::pass_on(task, report, &steps),
        },
        _ => steps.rest(),
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

/// What the assistant said last, in an earlier turn.
fn last_said(context: &TurnContext) -> Option<String> {
    let calls = context.earlier.iter().rev().flat_map(|turn| &turn.steps);
    calls.flat_map(|step| &step.calls).find_map(said)
}

/// The words of a call that speaks.
pub(crate) fn said(call: &TurnCall) -> Option<String> {
    if !SPEAKING.contains(&call.tool.as_str()) {
        return None;
    }
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    Some(arguments.get("message")?.as_str()?.to_owned())
}

/// The steps so far, and the offered tools.
#[derive(Clone, Copy)]
struct Steps<'a> {
    context: &'a TurnContext,
    offer: &'a Offer<'a>,
}

impl<'a> Steps<'a> {
    fn calls(&self) -> impl Iterator<Item = &'a TurnCall> + use<'a> {
        self.context.steps.iter().flat_map(|step| &step.calls)
    }

    fn was_called(&self, tool: &str) -> bool {
        self.calls().any(|call| call.tool == tool)
    }

    /// Whether it has said something in this turn, or tried to.
    fn has_spoken(&self) -> bool {
        let mut steps = self.context.steps.iter();
        steps.any(|step| step.calls.is_empty() && !step.text.trim().is_empty())
    }

    /// Returns the call if its tool is offered and was not yet called for this event.
    fn if_fresh(&self, act: Act) -> Option<Act> {
        match &act {
            Act::Call { tool, .. } if !self.offer.has(tool) || self.was_called(tool) => None,
            _ => Some(act),
        }
    }

    /// Returns the outcome of this tool's call, if it was made.
    fn outcome(&self, tool: &str) -> Option<Outcome> {
        self.calls().find(|call| call.tool == tool).map(Outcome::of)
    }

    /// Says something to one person, once. Only in private, because others may not be meant to hear it.
    fn tell_in_private(&self, name: &str, words: &str) -> Act {
        let spoken = SPEAKING.iter().any(|tool| self.was_called(tool)) || self.has_spoken();
        let ways = ["page", "whisper"];
        let way = ways.into_iter().find(|way| self.offer.has(way));
        match way.filter(|_| !spoken) {
            Some(way) => Act::call(way, [("to", name), ("message", words)]),
            None => self.rest(),
        }
    }

    /// Looks up what is pending for somebody, and completes one of these actions. `None` once both are done, or cannot
    /// be done.
    fn take_off(&self, entity: &str, which: impl Fn(&Value) -> Option<u64>) -> Option<Act> {
        let look = Act::call("get_entity_profile", [("entity", entity)]);
        self.if_fresh(look).or_else(|| {
            let Some(Outcome::Success(profile)) = self.outcome("get_entity_profile") else {
                return None;
            };
            let arguments = [
                ("entity", entity.into()),
                ("action", which(&profile)?.into()),
            ];
            self.if_fresh(Act::call_with("complete_pending_action", arguments))
        })
    }

    /// Does nothing more.
    fn rest(&self) -> Act {
        self.if_fresh(Act::call("noop", []))
            .unwrap_or_else(|| Act::Text(String::new()))
    }
}

/// Keeps a promise: marks it as done, and says it to the person it is for.
fn remind(due: &DueAction, voice: &Voice<'_>, steps: &Steps<'_>) -> Act {
    let entity = due.entity.as_str();
    // The profile lists only actions that may be mentioned here. An action that was completed already would not be due
    // any more. So this also says an action that the profile does not list.
    let is_due = |profile: &Value| promises::id_of(profile, &due.description, Some(due.due_at));
    if let Some(act) = steps.take_off(entity, is_due) {
        return act;
    }
    let words = match on_behalf(&due.description) {
        Some((begins, asker, what)) => {
            let says = match begins {
                ASK_FOR => "wants to know",
                _ => "asked me to tell you",
            };
            let what = full_stop(&tame(what));
            format!("{}, {} {says}: {what}", voice.name, plain(asker))
        }
        None => voice.say(Topic::Reminder, &full_stop(&tame(&due.description))),
    };
    let words = shortened(&words, LONGEST_ANSWER);
    steps.tell_in_private(&due.name, &words)
}

/// Splits a description of something to say on somebody's behalf: its verb, the name, and the words.
fn on_behalf(description: &str) -> Option<(&'static str, &str, &str)> {
    [PASS_ON, ASK_FOR].into_iter().find_map(|begins| {
        let (asker, what) = description.strip_prefix(begins)?.split_once(": ")?;
        Some((begins, asker, what))
    })
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(chars).collect()
}

fn full_stop(text: &str) -> String {
    match text.ends_with(['.', '!', '?', '…']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// A turn that answers a message.
struct MessageTurn<'a> {
    event: &'a PendingEvent,
    voice: &'a Voice<'a>,
    steps: Steps<'a>,
}

impl MessageTurn<'_> {
    /// What the message asks for. If somebody asks why the assistant said something that it has not said lately, the
    /// question goes to the memory.
    fn intent(&self) -> Intent {
        let intent = recognise(&self.event.words, &[&self.voice.character.name]);
        match intent {
            Intent::Why(question)
                if !self.event.is_assistant
                    && why::is_about_something_else(&question, self.steps.context, self.voice) =>
            {
                Intent::Ask(question)
            }
            Intent::Unknown => self.completed().unwrap_or(Intent::Unknown),
            intent => intent,
        }
    }

    fn next(&self, intent: &Intent) -> Act {
        if self.event.is_assistant && !self.answers_an_assistant(intent) {
            return self.steps.rest();
        }
        match self.groundwork(intent) {
            Some(act) => act,
            None => self.reply(&self.answer(intent), intent),
        }
    }

    /// Whether another assistant gets an answer: only to questions, and only to a few in a row. Politeness between two
    /// assistants would never end, and another assistant cannot make requests. A question in one of this model's own
    /// wordings gets no answer either: it only asks for clarification.
    fn answers_an_assistant(&self, intent: &Intent) -> bool {
        let is_question = matches!(intent, Intent::Ask(_) | Intent::Look | Intent::Time);
        let earlier = self.steps.context.earlier.iter().rev();
        let of_assistants = earlier.take_while(|turn| match &turn.trigger {
            TurnTrigger::Message(message) => PendingEvent::from(&**message).is_assistant,
            _ => false,
        });
        is_question && !is_a_wording(&self.event.words) && of_assistants.count() < EXCHANGES
    }

    /// Returns the call that the answer needs; `None` if it was made or is not offered.
    fn groundwork(&self, intent: &Intent) -> Option<Act> {
        let act = match intent {
            Intent::Remember(text) => {
                Act::call("store_memory", [("text", &*shortened(text, 2_000))])
            }
            Intent::Ask(question) if self.of_itself(question).is_some() => return None,
            Intent::Ask(question) => recall(&shortened(question, 500)),
            Intent::Look => Act::call("inspect_location", []),
            Intent::Follow => return self.begin_to_follow(),
            Intent::Wait => return self.end_following(),
            Intent::Promises => {
                let who = self.event.who.as_ref()?;
                Act::call("get_entity_profile", [("entity", who.as_str())])
            }
            Intent::Errand(errand) => {
                let task = errand.task(&plain(&self.event.name));
                Act::call("delegate_task", [("task", &*task), ("to", &*errand.whom)])
            }
            Intent::Remind(text) => self.promise(text)?,
            Intent::Later(text) => self.commitment(text)?,
            Intent::Go(to) => return self.walk(to),
            _ => return None,
        };
        self.steps.if_fresh(act)
    }

    /// Goes to the exit that leads to this place. Looks at the exits first, unless `to` is a direction.
    fn walk(&self, to: &str) -> Option<Act> {
        let steps = &self.steps;
        let is_direction = DIRECTIONS.contains(&to.to_lowercase().as_str());
        let movable = steps.offer.has("move") && !steps.was_called("move");
        if movable
            && !is_direction
            && let Some(look) = steps.if_fresh(Act::call("inspect_location", []))
        {
            return Some(look);
        }
        let place = match steps.outcome("inspect_location") {
            Some(Outcome::Success(place)) => place,
            _ => Value::Null,
        };
        let direction = place::way_to(&place, to).unwrap_or(to);
        steps.if_fresh(Act::call("move", [("direction", direction)]))
    }

    /// Returns the answer, after the calls that it needs.
    fn answer(&self, intent: &Intent) -> String {
        let outcome = |tool| self.steps.outcome(tool);
        let say = |topic| self.voice.say(topic, "");
        match intent {
            Intent::Remember(text) => remembered(text, outcome("store_memory")),
            Intent::Ask(question) => match outcome("recall_memories") {
                Some(Outcome::Success(result)) if itself::is_asked(question) => {
                    let told = memories::whole_basis(question, &result);
                    told.unwrap_or_else(|| say(itself::unsaid(question)))
                }
                None => self.of_itself(question).map_or_else(
                    || "I do not know, and I have no way to search my memory here.".to_owned(),
                    str::to_owned,
                ),
                Some(Outcome::Success(result)) => memories::answer(question, &result, self.voice),
                Some(other) => failed("I could not search my memory", &other),
            },
            Intent::Look => match outcome("inspect_location") {
                None => "I have no way to look around here.".to_owned(),
                Some(Outcome::Success(result)) => place::describe(&result),
                Some(other) => failed("I could not look around", &other),
            },
            Intent::Follow => self.followed(),
            Intent::Go(_) => match outcome("move") {
                None => "I have no way to move here.".to_owned(),
                Some(Outcome::Success(result)) => {
                    let room = place::moved_to(&result);
                    let room = room.map(|room| format!(" in {room}"));
                    self.voice.say(Topic::Went, &room.unwrap_or_default())
                }
                Some(other) => failed("I could not go there", &other),
            },
            Intent::Promises => match outcome("get_entity_profile") {
                Some(Outcome::Success(profile)) => promises::listed(&profile, self.voice),
                Some(other) => failed("I could not look that up", &other),
                None => say(Topic::NoPromises),
            },
            Intent::Errand(errand) => match outcome("delegate_task") {
                None => format!("I have no way to ask {} here.", errand.whom),
                Some(Outcome::Success(_)) => {
                    format!("I have asked {}. You will hear from me.", errand.whom)
                }
                Some(other) => failed(&format!("I cannot ask {}", errand.whom), &other),
            },
            Intent::Remind(text) => self.promised(text),
            Intent::Later(text) => self.promised_later(text),
            Intent::Wait => say(Topic::Wait),
            Intent::Time => format!(
                "It is {}.",
                said_at(self.event.at, self.event.at).replace("at ", "")
            ),
            Intent::Why(question) => why::explain(question, self.steps.context, self.voice),
            Intent::Forget => say(Topic::Forget),
            Intent::Talk(Topic::Acknowledgement) if self.says_yes() => say(Topic::GoOn),
            Intent::Talk(topic) => self.voice.say(*topic, &self.voice.character.introduction),
            Intent::Statement => say(Topic::Statement),
            Intent::Unknown => say(Topic::NotUnderstood),
        }
    }

    /// What the persona says about it, if the question is about the assistant itself.
    fn of_itself(&self, question: &str) -> Option<&str> {
        let sayable = &self.voice.character.sayable;
        let is_asked = itself::is_asked(question);
        is_asked
            .then(|| itself::answer(question, sayable))
            .flatten()
    }

    /// Whether the message says yes to a question of this model.
    fn says_yes(&self) -> bool {
        let first = words(&self.event.words).into_iter().next();
        let last = self.voice.last.as_deref().unwrap_or_default();
        first.is_some_and(|word| YES.contains(&word.text.as_str()))
            && last.contains('?')
            && is_a_wording(last)
    }

    /// Answers once, in the same way as the message was sent: a whisper, a page, on the channel, or aloud. A speaker
    /// who spoke aloud and is now elsewhere is paged.
    fn reply(&self, answer: &str, intent: &Intent) -> Act {
        let answer = &*shortened(answer, LONGEST_ANSWER);
        let steps = &self.steps;
        let moved = matches!(intent, Intent::Go(_))
            && matches!(steps.outcome("move"), Some(Outcome::Success(_)));
        let (tool, act) = match &self.event.way {
            Way::Channel(channel) => {
                let arguments = [("channel", channel.as_str()), ("message", answer)];
                ("channel", Act::call("channel", arguments))
            }
            Way::Whisper if !moved => ("whisper", self.act_to("whisper", answer)),
            Way::Whisper | Way::Page => ("page", self.act_to("page", answer)),
            Way::Aloud if moved && steps.offer.has("page") => ("page", self.act_to("page", answer)),
            Way::Aloud => ("say", Act::call("say", [("message", answer)])),
        };
        if steps.was_called(tool) || steps.has_spoken() {
            return steps.rest();
        }
        steps
            .if_fresh(act)
            .unwrap_or_else(|| Act::Text(answer.to_owned()))
    }

    fn act_to(&self, tool: &'static str, answer: &str) -> Act {
        Act::call(tool, [("to", &self.event.name), ("message", answer)])
    }
}

/// Confirms a note that recall finds by default, and otherwise says that recall will not find it.
fn remembered(text: &str, outcome: Option<Outcome>) -> String {
    let text = quote(text);
    match outcome {
        None => format!("I have no way to remember here, so I will not keep {text}."),
        Some(Outcome::Success(result)) => {
            let is_found = result.get("recalled_by_default").and_then(Value::as_bool);
            match is_found {
                Some(false) => format!(
                    "I noted it, but I believe it too little to bring it up by myself: {text}"
                ),
                _ => format!("I will remember: {text}"),
            }
        }
        Some(other) => failed("I could not remember that", &other),
    }
}

/// Requests [`LINES`] memories, more than an answer quotes, since some of them are questions and are not quoted.
fn recall(question: &str) -> Act {
    let arguments = [("query", question.into()), ("limit", LINES.into())];
    Act::call_with("recall_memories", arguments)
}

fn failed(what: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failure(reason) => format!("{what}: {}", quote(reason)),
        Outcome::Unknown | Outcome::Success(_) => CANNOT_TELL.to_owned(),
    }
}
