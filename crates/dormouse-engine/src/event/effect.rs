//! Outward acts.

use dormouse_contracts::{
    Arguments, Audience, CallId, EffectKey, Outcome, Seq, Speech, SpeechKind, ToolCategory,
    ToolName, Trust,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// An outward act was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectIntended {
    /// Its idempotency key.
    pub key: EffectKey,
    /// Which call asked for it.
    pub call: CallId,
    /// Which tool of the world.
    pub tool: ToolName,
    /// What calling it does to the loop.
    pub category: ToolCategory,
    /// Its arguments, checked.
    pub arguments: Arguments,
    /// The approval under which it is done, which is used up by that; absent if it needed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Seq>,
    /// How it speaks.
    #[serde(default, skip_serializing_if = "ActSpeech::is_unrecorded")]
    pub speech: ActSpeech,
    /// The trust of what it says, if it says anything: the lowest trust of everything that this may have come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// How far its result is believed, if its tool declares that ([`ToolSpec::result_trust`]).
    ///
    /// [`ToolSpec::result_trust`]: dormouse_contracts::ToolSpec::result_trust
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_trust: Option<Trust>,
    /// Who may learn what it says, other than the assistant: those to whom it is said and who perceived everything that
    /// it may have come from. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Who may hear its words, other than the assistant, as the world checks it ([`Effect::within`]). Absent if anybody may.
    ///
    /// [`Effect::within`]: dormouse_contracts::Effect::within
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Audience>,
}

/// How an outward act speaks, as its tool declared it when the act was decided. What it says is remembered as said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActSpeech {
    /// An older program did not record it. What is in the argument `message` counts as said.
    #[default]
    Unrecorded,
    /// It says nothing.
    Nothing,
    /// It says what is in one of its arguments.
    Speaks(Speech),
}

/// The words of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpokenWords<'a> {
    pub(crate) kind: SpeechKind,
    /// At least one character that is not white space.
    pub(crate) words: &'a str,
    /// The listener or the channel, if the act names one.
    pub(crate) to: Option<&'a str>,
}

impl SpokenWords<'_> {
    /// Whether one listener hears it, and nobody else.
    pub(crate) fn is_private(&self) -> bool {
        matches!(self.kind, SpeechKind::Whisper | SpeechKind::Page)
    }
}

impl ActSpeech {
    /// The arguments of acts by which older programs knew what was said, and to whom.
    const WORDS: &str = "message";
    const LISTENER: &str = "to";
    const CHANNEL: &str = "channel";

    pub(crate) fn of(declared: Option<&Speech>) -> Self {
        declared.cloned().map_or(Self::Nothing, Self::Speaks)
    }

    fn is_unrecorded(&self) -> bool {
        *self == Self::Unrecorded
    }

    /// What the act says, if it says anything.
    pub(crate) fn said<'a>(&self, arguments: &'a Arguments) -> Option<SpokenWords<'a>> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let (kind, words, to) = match self {
            Self::Nothing => return None,
            Self::Speaks(speech) => {
                let to = speech.to.as_deref().and_then(text);
                (speech.kind, text(&speech.words), to)
            }
            Self::Unrecorded => {
                let (channel, listener) = (text(Self::CHANNEL), text(Self::LISTENER));
                let kind = match (channel, listener) {
                    (Some(_), _) => SpeechKind::Channel,
                    (None, Some(_)) => SpeechKind::Whisper,
                    (None, None) => SpeechKind::Aloud,
                };
                (kind, text(Self::WORDS), channel.or(listener))
            }
        };
        let words = words.filter(|words| !words.trim().is_empty())?;
        Some(SpokenWords { kind, words, to })
    }

    /// The argument with the name of somebody, if an act like this has one.
    pub(crate) fn listener_argument(&self) -> &str {
        match self {
            Self::Speaks(Speech { to: Some(to), .. }) => to,
            Self::Speaks(_) | Self::Nothing | Self::Unrecorded => Self::LISTENER,
        }
    }
}

/// The outcome of an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectSettled {
    /// Which act.
    pub key: EffectKey,
    /// What became of it.
    pub outcome: Outcome,
    /// The result as JSON text, word for word as the model sees it.
    pub content: String,
    /// How many tokens that takes.
    pub tokens: u32,
}

/// The world could not be reached, or could not be asked what became of an act. Nothing was refused: the call stays
/// open, and is made again when its turn goes on. This does not count as an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldFailed {
    /// Which call.
    pub call: CallId,
    /// Why, for people, as far as it is known; at most 500 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the world could be reached, but did not answer this act.
    #[serde(default)]
    pub silent: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(speech: &ActSpeech, arguments: Value) -> Option<(SpeechKind, String, Option<String>)> {
        let arguments: Arguments = serde_json::from_value(arguments).unwrap();
        let said = speech.said(&arguments)?;
        Some((said.kind, said.words.to_owned(), said.to.map(str::to_owned)))
    }

    #[test]
    fn an_act_of_an_older_program_says_what_is_in_its_message() {
        let said = |arguments| said(&ActSpeech::Unrecorded, arguments);
        let words = |kind, to: Option<&str>| Some((kind, "hi".to_owned(), to.map(str::to_owned)));
        assert_eq!(
            said(json!({"message": "hi"})),
            words(SpeechKind::Aloud, None)
        );
        let whispered = json!({"message": "hi", "to": "Bob"});
        assert_eq!(said(whispered), words(SpeechKind::Whisper, Some("Bob")));
        let on_channel = json!({"message": "hi", "channel": "public"});
        assert_eq!(said(on_channel), words(SpeechKind::Channel, Some("public")));
        assert_eq!(said(json!({"message": " "})), None);
        assert_eq!(said(json!({"action": "smiles"})), None);
    }

    #[test]
    fn an_act_says_what_its_tool_declares_and_nothing_else() {
        let letter = json!({"message": "to nobody", "verse": "hi", "whom": "Bob"});
        let page = ActSpeech::Speaks(Speech {
            kind: SpeechKind::Page,
            words: "verse".to_owned(),
            to: Some("whom".to_owned()),
        });
        let expected = (SpeechKind::Page, "hi".to_owned(), Some("Bob".to_owned()));
        assert_eq!(said(&page, letter.clone()), Some(expected));
        assert_eq!(page.listener_argument(), "whom");
        assert_eq!(said(&ActSpeech::Nothing, letter), None);
        let json = serde_json::to_value(&page).unwrap();
        assert_eq!(serde_json::from_value::<ActSpeech>(json).unwrap(), page);
    }
}
