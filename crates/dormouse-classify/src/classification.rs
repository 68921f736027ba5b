//! The result of a classification: a verdict, and the rule that decided it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the assistant does with a message. Serialised and displayed in lower case (`"trigger"`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageVerdict {
    /// The message asks for an answer: queue it as an event, and wake the assistant if it is asleep.
    Trigger,
    /// The message is worth knowing: keep it for the next prompt, and do not answer.
    Context,
    /// The message is the output of a command that the assistant ran: it belongs to that command's result.
    Capture,
    /// The message does not concern the assistant: drop it.
    Ignore,
}

impl MessageVerdict {
    /// The serialised name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Context => "context",
            Self::Capture => "capture",
            Self::Ignore => "ignore",
        }
    }
}

impl fmt::Display for MessageVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The rule that decided, in the order the rules are tried. Serialised and displayed as its number (`"1a"`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// 0: interaction is disabled. IGNORE.
    #[serde(rename = "0")]
    InteractionDisabled,
    /// 1a: the assistant's own message, marked as such. IGNORE; otherwise the assistant would answer itself.
    #[serde(rename = "1a")]
    OwnMessage,
    /// 1b: the assistant's own output, produced by an action (effect) that it requested. CAPTURE.
    #[serde(rename = "1b")]
    OwnCapture,
    /// 1c: any other output of the assistant. CONTEXT.
    #[serde(rename = "1c")]
    OwnOutput,
    /// 2: the message is addressed to the assistant, by @mention or by the server's routing. TRIGGER.
    #[serde(rename = "2")]
    Addressing,
    /// 3: a whisper or a page. TRIGGER.
    #[serde(rename = "3")]
    DirectMessage,
    /// 4: the sender is another assistant. CONTEXT; otherwise two assistants would answer each other without end.
    #[serde(rename = "4")]
    CrossTalk,
    /// 4a: another assistant addresses, whispers or pages, and the limit of answers to such messages since a person
    /// last said something is reached. CONTEXT. This depends on earlier messages, so [`classify`](crate::classify)
    /// never applies this rule.
    #[serde(rename = "4a")]
    ExchangeLimit,
    /// 5: the operator permits this sender to trigger the assistant from any source. TRIGGER.
    #[serde(rename = "5")]
    TriggerPermission,
    /// 6: the operator set a verdict for this channel, or for speech in rooms. That verdict.
    #[serde(rename = "6")]
    Configured,
    /// 7: nothing else matched. IGNORE.
    #[serde(rename = "7")]
    Fallback,
}

impl Rule {
    /// Every rule, in the order they are tried.
    pub const ALL: [Self; 11] = [
        Self::InteractionDisabled,
        Self::OwnMessage,
        Self::OwnCapture,
        Self::OwnOutput,
        Self::Addressing,
        Self::DirectMessage,
        Self::CrossTalk,
        Self::ExchangeLimit,
        Self::TriggerPermission,
        Self::Configured,
        Self::Fallback,
    ];

    /// The serialised number.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InteractionDisabled => "0",
            Self::OwnMessage => "1a",
            Self::OwnCapture => "1b",
            Self::OwnOutput => "1c",
            Self::Addressing => "2",
            Self::DirectMessage => "3",
            Self::CrossTalk => "4",
            Self::ExchangeLimit => "4a",
            Self::TriggerPermission => "5",
            Self::Configured => "6",
            Self::Fallback => "7",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A verdict and the rule that decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Classification {
    /// What the assistant does with the message.
    pub verdict: MessageVerdict,
    /// The first rule that matched.
    pub rule: Rule,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_displayed_and_serialised_by_its_number() {
        let numbers = ["0", "1a", "1b", "1c", "2", "3", "4", "4a", "5", "6", "7"];
        for (rule, number) in Rule::ALL.into_iter().zip(numbers) {
            assert_eq!(rule.to_string(), number);
            let json = format!("\"{number}\"");
            assert_eq!(serde_json::to_string(&rule).unwrap(), json);
            assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), rule);
        }
        assert!(Rule::ALL.is_sorted());
        assert!(serde_json::from_str::<Rule>("\"1\"").is_err());
    }

    #[test]
    fn a_verdict_is_displayed_as_it_is_serialised() {
        for verdict in [
            MessageVerdict::Trigger,
            MessageVerdict::Context,
            MessageVerdict::Capture,
            MessageVerdict::Ignore,
        ] {
            let json = format!("\"{verdict}\"");
            assert_eq!(serde_json::to_string(&verdict).unwrap(), json);
        }
    }

    #[test]
    fn a_classification_is_written_to_logs_in_two_words() {
        let classification = Classification {
            verdict: MessageVerdict::Ignore,
            rule: Rule::OwnMessage,
        };
        let json = r#"{"verdict":"ignore","rule":"1a"}"#;
        assert_eq!(serde_json::to_string(&classification).unwrap(), json);
        assert_eq!(
            serde_json::from_str::<Classification>(json).unwrap(),
            classification
        );
    }
}
