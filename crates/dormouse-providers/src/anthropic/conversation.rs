//! A conversation as this API wants it: the system's instructions apart, then users and model in turns.

mod turn;

use std::collections::HashMap;

use dormouse_contracts::{CallId, Message};
use serde_json::{Value, json};

pub(super) use self::turn::mark;
use self::turn::{Block, Part, Role, Turn, is_blank, text};
use super::names::{self, ToolNames};

/// What a user says where the conversation does not begin with one.
const BEGINNING: &str = "(The conversation begins.)";
/// What a user says where the model has spoken last. Newer models refuse to continue what they said.
const GO_ON: &str = "(Go on.)";

/// A conversation in turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation<'a> {
    system: Vec<(usize, &'a str)>,
    turns: Vec<Turn<'a>>,
}

impl<'a> Conversation<'a> {
    /// Puts messages into turns. Messages without any text are left out.
    ///
    /// Instructions in the middle are told with those at the beginning: among the words of users they would be worth no more
    /// than what users say.
    pub(super) fn of(messages: &'a [Message]) -> Self {
        let mut conversation = Self::default();
        let mut times = HashMap::new();
        for (from, message) in messages.iter().enumerate() {
            conversation.add(from, message, &mut times);
        }
        conversation.begin_and_end_with_a_user(messages.len());
        conversation.answer_calls();
        conversation
    }

    /// The names of the tools that were called.
    pub(super) fn called(&self) -> Vec<&'a str> {
        let blocks = self.turns.iter().flat_map(|turn| &turn.blocks);
        let mut names: Vec<&str> = Vec::new();
        for block in blocks {
            if let Part::Call { call, .. } = block.part
                && !names.contains(&call.name.as_str())
            {
                names.push(&call.name);
            }
        }
        names
    }

    /// The system's instructions, one block each. The last one from the first `stable` messages is marked for the cache.
    pub(super) fn system(&self, stable: usize) -> Vec<Value> {
        let blocks = self.system.iter();
        let mut blocks: Vec<_> = blocks.map(|(_, content)| text(content)).collect();
        let kept = self.system.iter().take_while(|(from, _)| *from < stable);
        let last = kept.count().checked_sub(1);
        if let Some(block) = last.and_then(|last| blocks.get_mut(last)) {
            mark(block);
        }
        blocks
    }

    /// The turns. The last block that only has blocks of the first `stable` messages before it is marked for the cache.
    pub(super) fn messages(&self, names: &ToolNames, stable: usize) -> Vec<Value> {
        let kept = self.turns.iter().flat_map(|turn| &turn.blocks);
        let kept = kept.take_while(|block| block.from < stable).count();
        let mut place = 0;
        let turns = self.turns.iter().map(|turn| {
            let blocks = turn.blocks.iter().map(|block| {
                place += 1;
                let mut json = block.json(names);
                if place == kept {
                    mark(&mut json);
                }
                json
            });
            json!({"role": turn.role.name(), "content": blocks.collect::<Vec<_>>()})
        });
        turns.collect()
    }

    fn add(&mut self, from: usize, message: &'a Message, times: &mut HashMap<&'a CallId, usize>) {
        match message {
            Message::System { content } if !is_blank(content) => {
                self.system.push((from, content));
            }
            Message::User { content } => self.say(Role::User, from, content),
            Message::Assistant {
                content,
                tool_calls,
            } => {
                self.say(Role::Assistant, from, content);
                for call in tool_calls {
                    let earlier = times.entry(&call.id).or_default();
                    let id = names::call_id(call.id.as_str(), *earlier);
                    *earlier += 1;
                    self.push(Role::Assistant, from, Part::Call { call, id });
                }
            }
            Message::Tool { call_id, content } => {
                let (to, content) = (call_id, content.as_str());
                self.push(Role::User, from, Part::Answer { to, content });
            }
            // Nothing is in it, or it is of a kind that did not exist when this was written.
            _ => {}
        }
    }

    fn say(&mut self, role: Role, from: usize, content: &'a str) {
        if !is_blank(content) {
            self.push(role, from, Part::Text(content.into()));
        }
    }

    fn push(&mut self, role: Role, from: usize, part: Part<'a>) {
        let block = Block { from, part };
        match self.turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.blocks.push(block),
            None => self.turns.push(Turn {
                role,
                blocks: vec![block],
            }),
        }
    }

    fn begin_and_end_with_a_user(&mut self, end: usize) {
        let speaks = |turn: Option<&Turn<'_>>| turn.map(|turn| turn.role);
        if speaks(self.turns.first()) != Some(Role::User) {
            let part = Part::Text(BEGINNING.into());
            let blocks = vec![Block { from: 0, part }];
            let role = Role::User;
            self.turns.insert(0, Turn { role, blocks });
        }
        if let Some(turn) = self.turns.last()
            && turn.role == Role::Assistant
        {
            let waits = turn.calls().next().is_some();
            let go_on = Block {
                from: end,
                part: Part::Text(GO_ON.into()),
            };
            self.turns.push(Turn {
                role: Role::User,
                blocks: if waits { Vec::new() } else { vec![go_on] },
            });
        }
    }

    /// Gives every call exactly one result, in the turn right behind it and first in it. Results that no call waits for
    /// are told as text.
    fn answer_calls(&mut self) {
        let mut waiting = Vec::new();
        for turn in &mut self.turns {
            match turn.role {
                Role::Assistant => {
                    turn.blocks
                        .sort_by_key(|block| matches!(block.part, Part::Call { .. }));
                    waiting = turn.calls().collect();
                }
                Role::User => turn.answer(std::mem::take(&mut waiting)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
