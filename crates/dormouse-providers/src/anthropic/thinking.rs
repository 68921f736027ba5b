//! How much a model shall think, in the words of this API.

use std::collections::BTreeSet;

use dormouse_contracts::{ChatRequest, Message, ReasoningEffort, RequestField, ToolChoice};
use serde_json::{Value, json};

use super::generation::ThinkingForm;

/// The least number of tokens that can be given to thought.
const LEAST: u32 = 1_024;

/// What a request says of thought.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Thinking {
    /// The field `thinking`.
    pub(super) thinking: Option<Value>,
    /// The field `effort` of `output_config`.
    pub(super) effort: Option<&'static str>,
    /// Was something asked for that cannot be said?
    pub(super) left_out: bool,
}

impl Thinking {
    /// What to say to a model of this form whose reply may have `max_tokens`, in a request without those fields.
    pub(super) fn of(
        request: &ChatRequest,
        form: ThinkingForm,
        max_tokens: u32,
        without: &BTreeSet<RequestField>,
    ) -> Self {
        let Some(effort) = request.reasoning_effort else {
            return Self::default();
        };
        let left = |field| without.contains(&field);
        let forced = forces_a_tool(request) && !left(RequestField::ToolChoice);
        match form {
            // Without a word these do not think, which is as little as they can.
            ThinkingForm::None | ThinkingForm::Budget if effort == ReasoningEffort::Minimal => {
                Self::default()
            }
            _ if left(RequestField::ReasoningEffort) => Self::cannot(),
            ThinkingForm::None => Self::cannot(),
            ThinkingForm::Effort => Self::by_effort(effort, forced),
            // These refuse to think where a tool is forced, and where the turn has begun without thoughts: those would have
            // to be sent back with their signature, which the port does not carry.
            ThinkingForm::Budget if forced || continues_a_turn(&request.messages) => Self::cannot(),
            ThinkingForm::Budget => Self::by_budget(effort, max_tokens),
        }
    }

    fn cannot() -> Self {
        Self {
            left_out: true,
            ..Self::default()
        }
    }

    fn by_effort(effort: ReasoningEffort, forced: bool) -> Self {
        let thinks = effort != ReasoningEffort::Minimal && !forced;
        Self {
            thinking: thinks.then(|| json!({"type": "adaptive"})),
            effort: Some(match effort {
                ReasoningEffort::Minimal | ReasoningEffort::Low => "low",
                ReasoningEffort::High => "high",
                _ => "medium",
            }),
            left_out: false,
        }
    }

    /// A budget of at most half of the reply.
    fn by_budget(effort: ReasoningEffort, max_tokens: u32) -> Self {
        let wanted = match effort {
            ReasoningEffort::Minimal | ReasoningEffort::Low => LEAST,
            ReasoningEffort::High => 16 * LEAST,
            _ => 4 * LEAST,
        };
        let budget = wanted.min(max_tokens / 2);
        if budget < LEAST {
            return Self::cannot();
        }
        Self {
            thinking: Some(json!({"type": "enabled", "budget_tokens": budget})),
            ..Self::default()
        }
    }
}

fn forces_a_tool(request: &ChatRequest) -> bool {
    !request.tools.is_empty()
        && matches!(
            request.tool_choice,
            ToolChoice::Required | ToolChoice::Tool(_)
        )
}

/// Does the reply follow upon tool results?
fn continues_a_turn(messages: &[Message]) -> bool {
    let mut last = messages.iter().rev();
    let last = last.find(|message| !matches!(message, Message::System { .. }));
    matches!(last, Some(Message::Tool { .. } | Message::Assistant { .. }))
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::CallId;

    use super::*;

    fn asking(effort: ReasoningEffort) -> ChatRequest {
        ChatRequest {
            reasoning_effort: Some(effort),
            ..ChatRequest::default()
        }
    }

    fn thinking(request: &ChatRequest, form: ThinkingForm, max_tokens: u32) -> Thinking {
        Thinking::of(request, form, max_tokens, &BTreeSet::new())
    }

    fn budget(request: &ChatRequest, max_tokens: u32) -> Option<u64> {
        let thinking = thinking(request, ThinkingForm::Budget, max_tokens);
        assert_eq!(thinking.left_out, thinking.thinking.is_none());
        thinking.thinking?.get("budget_tokens")?.as_u64()
    }

    #[test]
    fn a_budget_leaves_at_least_half_of_the_reply_to_what_is_said() {
        let (low, high) = (asking(ReasoningEffort::Low), asking(ReasoningEffort::High));
        assert_eq!(
            budget(&asking(ReasoningEffort::Medium), 64_000),
            Some(4_096)
        );
        assert_eq!(budget(&high, 64_000), Some(16_384));
        assert_eq!(budget(&high, 4_096), Some(2_048));
        assert_eq!(budget(&low, 2_048), Some(1_024));
        assert_eq!(budget(&low, 2_047), None);
    }

    #[test]
    fn behind_a_tool_result_no_budget_is_given() {
        let mut request = asking(ReasoningEffort::Low);
        request.messages = vec![Message::Tool {
            call_id: CallId::try_new("a").unwrap(),
            content: "{}".to_owned(),
        }];
        assert_eq!(budget(&request, 64_000), None);
        let newer = thinking(&request, ThinkingForm::Effort, 64_000);
        assert_eq!((newer.effort, newer.left_out), (Some("low"), false));
        assert_eq!(newer.thinking, Some(json!({"type": "adaptive"})));
    }

    #[test]
    fn as_little_as_possible_is_no_thought() {
        let request = asking(ReasoningEffort::Minimal);
        for form in [ThinkingForm::None, ThinkingForm::Budget] {
            assert_eq!(thinking(&request, form, 9_000), Thinking::default());
        }
        let newer = thinking(&request, ThinkingForm::Effort, 9_000);
        assert_eq!((newer.thinking, newer.effort), (None, Some("low")));
        let request = asking(ReasoningEffort::Low);
        assert!(thinking(&request, ThinkingForm::None, 9_000).left_out);
    }
}
