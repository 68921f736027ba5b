//! A model that goes by a rule.

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, FinishReason, Message, ModelError,
    ModelErrorKind, ModelName, ProviderId,
};
use futures_util::stream;
use serde_json::{Value, json};

use crate::memory::Dice;

/// A model that makes one fact from each line it is shown, decides about doubtful facts by their number, and fails now
/// and then.
#[derive(Debug)]
pub(super) struct ByRule {
    provider: ProviderId,
    name: ModelName,
    dice: Dice,
}

impl ByRule {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            provider: ProviderId::try_new("rule").unwrap(),
            name: ModelName::try_new("by-rule").unwrap(),
            dice: Dice::new(seed),
        }
    }

    fn answer(&self, request: &ChatRequest) -> String {
        let shown = request
            .messages
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::User { content } => Some(content.as_str()),
                _ => None,
            });
        let shown = shown.unwrap();
        if shown.starts_with('[') {
            Value::Array(shown.lines().map(fact).collect()).to_string()
        } else if shown.starts_with('c') {
            Value::Array(verdicts(shown)).to_string()
        } else {
            let words = [self.dice.text(""), self.dice.text("")];
            json!({ "interests": words, "communication_style": "casual" }).to_string()
        }
    }
}

/// The fact that is made of a line such as `[j7] 2026-11-21T00:00:00Z Alice: tea boat n7`.
fn fact(line: &str) -> Value {
    let (key, rest) = line[1..].split_once("] ").unwrap();
    let (_, rest) = rest.split_once(' ').unwrap();
    let (speaker, said) = rest.split_once(": ").unwrap();
    json!({ "text": format!("{speaker} told of {said}"), "kind": "fact", "about": [speaker], "from": [key] })
}

/// What becomes of doubtful facts, `c7 (…): …` followed by records such as ` m12 (…): …`.
fn verdicts(shown: &str) -> Vec<Value> {
    let mut verdicts: Vec<Value> = Vec::new();
    for line in shown.lines() {
        let word = line.split_whitespace().next().unwrap();
        if let Some(number) = word.strip_prefix('c') {
            let actions = ["add", "link", "supersede", "ignore"];
            let action = actions[number.parse::<usize>().unwrap() % actions.len()];
            verdicts.push(json!({ "fact": word, "action": action, "reason": "by the rule" }));
        } else if let Some(last) = verdicts.last_mut()
            && last["record"].is_null()
        {
            last["record"] = word.into();
        }
    }
    verdicts
}

impl ChatModel for ByRule {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let deltas = if self.dice.below(8) == 0 {
            let kind = ModelErrorKind::Unavailable;
            vec![Err(ModelError::new(self.provider.clone(), kind, None))]
        } else {
            let text = ChatDelta::Text(self.answer(request));
            vec![Ok(text), Ok(ChatDelta::Finished(FinishReason::Stop))]
        };
        Box::pin(stream::iter(deltas))
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.name)
    }
}
