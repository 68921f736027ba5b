//! The parts of one prompt, in their order, and the messages that they make.

use std::sync::Arc;

use super::{
    CAREFUL, Choice, OVERHEARD, Offered, Preamble, SAID_TO_YOU, briefing,
    component::Component,
    conversation::{Conversation, ShownMessages},
    divide, earlier,
    excerpt::Excerpt,
    listed::ListedPart,
    preamble::Slot,
    result, widened,
};
use crate::{
    config::ToolCalling,
    privacy::Shareable,
    state::{FinishedTurn, Heard, MessageForm, State, Turn},
};

/// A part of a prompt after the system message.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) id: u16,
    pub(super) key: &'a str,
    body: Body<'a>,
}

#[derive(Debug)]
enum Body<'a> {
    /// Words to the model.
    Text(String),
    /// What the model did in a turn. Results that do not fit are cut to this many tokens.
    Steps(&'a Turn, Option<u32>),
    /// An earlier turn.
    Earlier(Arc<ShownMessages>),
}

/// What the parts are made from.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) state: &'a State,
    pub(super) turn: &'a Turn,
    pub(super) shareable: &'a Shareable<'a>,
    pub(super) goals: Option<&'a ListedPart>,
    /// The assistant's own notes and projects.
    pub(super) own: Option<&'a ListedPart>,
    /// The line that little of a budget is left.
    pub(super) low: Option<&'a str>,
    pub(super) choice: Choice,
    pub(super) preamble: &'a Preamble,
}

impl<'a> Sources<'a> {
    /// The parts after the system message.
    pub(super) fn parts(self, offered: &Offered) -> Vec<Part<'a>> {
        let own = self.own.map(|own| own.text.clone());
        let own = own.map(|text| said(Component::CharacterContext, text));
        let mut parts: Vec<_> = own.into_iter().collect();
        for slot in &self.preamble.slots {
            match slot {
                Slot::Own(own) => parts.push(Part {
                    id: own.id,
                    key: &own.key,
                    body: Body::Text(own.text.clone()),
                }),
                Slot::Made(Component::ConversationHistory) => self.history(&mut parts),
                Slot::Made(component) => {
                    parts.extend(self.made(*component).map(|text| said(*component, text)));
                }
            }
        }
        self.terminal(offered, &mut parts);
        parts
    }

    fn made(self, component: Component) -> Option<String> {
        match component {
            Component::ContextBuffer => self.overheard(),
            Component::Goals => self.goals.map(|goals| goals.text.clone()),
            _ => self.choice.remembered.part(component, self.turn),
        }
    }

    fn history(self, parts: &mut Vec<Part<'a>>) {
        let instead = self.choice.earlier.parts(self.shareable).into_iter();
        parts.extend(instead.map(|text| said(Component::ConversationHistory, text)));
        let turns = &self.shareable.turns;
        let left_out = turns.len().saturating_sub(self.choice.turns);
        for turn in turns.iter().skip(left_out) {
            let body = Body::Earlier(self.earlier(turn));
            parts.push(part(Component::ConversationHistory, body));
        }
    }

    /// The trigger of the turn, and what was done about it.
    fn terminal(self, offered: &Offered, parts: &mut Vec<Part<'a>>) {
        let Self { turn, choice, .. } = self;
        if self.preamble.shows(Component::PendingEvent) {
            let careful = turn.is_careful().then(|| CAREFUL.to_owned());
            let briefing = briefing::part(self.state, turn);
            let notes = briefing.into_iter().chain(careful).chain(widened(turn));
            parts.extend(notes.map(|note| said(Component::PendingEvent, note)));
            let heard = self.heard(turn);
            let is_marked = choice.lines > 0;
            let heard = match is_marked {
                true => format!("{SAID_TO_YOU}\n{heard}"),
                false => heard,
            };
            parts.push(said(Component::PendingEvent, heard));
        }
        parts.extend(divide(turn).map(|note| said(Component::Goals, note)));
        parts.push(part(
            Component::ToolResult,
            Body::Steps(turn, choice.result_cap),
        ));
        if let Some(low) = self.low {
            parts.push(said(Component::ToolResult, low.to_owned()));
        }
        if !offered.last_words.is_empty() {
            let words = offered.last_words.to_owned();
            parts.push(said(Component::ToolResult, words));
        }
    }

    /// The messages of an earlier turn. For a turn that is shown whole, they are built once and cached.
    fn earlier(self, turn: &FinishedTurn) -> Arc<ShownMessages> {
        let calling = self.state.configuration.settings.tool_calling;
        let is_masked = earlier::shows_masked(self.state, turn);
        let make = || {
            let mut conversation = Conversation::default();
            conversation.user(&self.heard(turn));
            conversation.steps(turn, calling, |call| {
                earlier::result(self.state, turn, call, self.preamble)
            });
            ShownMessages::from(conversation)
        };
        match turn.trigger.tokens() <= self.choice.message_cap {
            true => {
                let masked = is_masked.then_some(self.preamble.masked);
                turn.messages(MessageForm { calling, masked }, make)
            }
            false => Arc::new(make()),
        }
    }

    /// The message of a turn, as far as it fits.
    fn heard(self, turn: &Turn) -> String {
        let cap = self.choice.message_cap;
        turn.trigger.within(cap, &*self.preamble.counter).text
    }

    /// The overheard lines that fit, oldest first, if there are any. They follow a heading that no outside text can
    /// imitate, because every quoted line starts with a mark. Another heading precedes the message.
    fn overheard(self) -> Option<String> {
        let lines = &self.shareable.overheard;
        let left_out = lines.len().checked_sub(self.choice.lines)?;
        let shown = |line: &&Heard| {
            let cap = self.choice.line_cap;
            line.within(cap, &*self.preamble.counter).text
        };
        let lines: Vec<_> = lines.iter().skip(left_out).map(shown).collect();
        (!lines.is_empty()).then(|| format!("{OVERHEARD}\n{}", lines.join("\n")))
    }
}

fn said(component: Component, text: String) -> Part<'static> {
    part(component, Body::Text(text))
}

fn part(component: Component, body: Body<'_>) -> Part<'_> {
    let row = component.row();
    Part {
        id: row.id,
        key: row.key,
        body,
    }
}

impl Part<'_> {
    /// Adds it to a conversation.
    pub(super) fn add_to(
        &self,
        conversation: &mut Conversation,
        form: ToolCalling,
        preamble: &Preamble,
    ) {
        match &self.body {
            Body::Text(text) => conversation.user(text),
            Body::Earlier(messages) => conversation.add(messages),
            Body::Steps(turn, cap) => conversation.steps(turn, form, |call| match cap {
                None => result(call).to_owned(),
                Some(cap) => Excerpt::of_result(result(call), *cap, &*preamble.counter).text,
            }),
        }
    }
}

/// The conversation of these parts, and how many of its first messages stay the same in later prompts: the earlier turns,
/// unless a part that changes with each prompt precedes them.
pub(super) fn conversation(
    offered: &Offered,
    parts: &[Part<'_>],
    form: ToolCalling,
    preamble: &Preamble,
) -> (Conversation, usize) {
    let mut conversation = Conversation::of(offered.system_message());
    let mut stable = conversation.settled();
    let mut is_stable = true;
    for part in parts {
        part.add_to(&mut conversation, form, preamble);
        is_stable &= match Component::of_key(part.key) {
            // Own notes and goals change rarely.
            Some(
                Component::CharacterContext | Component::Goals | Component::ConversationHistory,
            ) => true,
            Some(_) => false,
            None => true,
        };
        if is_stable {
            stable = conversation.settled();
        }
    }
    (conversation, stable)
}
