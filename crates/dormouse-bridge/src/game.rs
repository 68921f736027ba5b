//! The interface that a game implements.

use std::{collections::BTreeSet, future::ready};

use dormouse_contracts::{
    Audience, Effect, EffectInquiry, EffectKey, EntityId, IdError, Landmarks, Outcome, Presence,
    Query, Receipt, Rejection, Speech, SpeechKind, ToolCategory, ToolName, ToolSpec, WorldError,
};
use serde_json::{Value, json};

use crate::report::Report;

/// What became of an act, and what others perceive of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Performed {
    /// Whether it was carried out.
    pub outcome: Outcome,
    /// Who perceives which report. The reports are delivered if, and only if, the outcome is stored.
    pub reports: Vec<(EntityId, Report)>,
}

impl Performed {
    /// An act that was carried out and is perceived by nobody.
    #[must_use]
    pub fn done(detail: Value) -> Self {
        Self {
            outcome: Outcome::Done(Receipt::new(detail)),
            reports: Vec::new(),
        }
    }

    /// An act that the game refuses, with the reason for the model to read.
    #[must_use]
    pub fn refused(reason: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Rejected(Rejection::new(reason)),
            reports: Vec::new(),
        }
    }

    /// Words of the actor that exactly these listeners perceive. The speaker does not count as a listener, so
    /// a game may name everybody in a room. Refused if a listener [may not](Effect::within) hear the words.
    #[must_use]
    pub fn said(
        effect: &Effect,
        report: &Report,
        listeners: impl IntoIterator<Item = EntityId>,
    ) -> Self {
        let speaker = report.sender.id().cloned();
        let mut listeners: BTreeSet<EntityId> = listeners.into_iter().collect();
        listeners.retain(|listener| Some(listener) != speaker.as_ref());
        let all: Audience = listeners.iter().cloned().collect();
        if effect.within.as_ref().is_some_and(|may| !may.covers(&all)) {
            let reason = "somebody would hear it who is not meant to";
            let rejection = Rejection {
                heard_by: Some(all),
                ..Rejection::new(reason)
            };
            return Self {
                outcome: Outcome::Rejected(rejection),
                reports: Vec::new(),
            };
        }
        let report = Report {
            audience: Audience::of(listeners.iter().cloned().chain(speaker)),
            ..report.clone()
        };
        let receipt = Receipt {
            heard_by: Audience::of(listeners.iter().cloned()),
            ..Receipt::new(json!({ "heard_by": listeners.len() }))
        };
        let reports = listeners.into_iter().map(|to| (to, report.clone()));
        Self {
            outcome: Outcome::Done(receipt),
            reports: reports.collect(),
        }
    }
}

/// A game in which assistants live, behind a [`Bridge`](crate::Bridge). It supplies what the bridge cannot do or know.
/// Every method except `perform` has a default.
pub trait Game: Send + Sync + 'static {
    /// Carries out an act of `actor`, the character of [the acting assistant](Effect::actor). It is called once for
    /// each act, and again only after [`became_of`](Self::became_of) answered that the act did not happen. It goes on
    /// if the caller stops waiting, and is cancelled if the bridge is dropped.
    ///
    /// # Errors
    ///
    /// [`WorldError`], whose kind says whether anything may have happened.
    fn perform(
        &self,
        actor: &EntityId,
        effect: &Effect,
    ) -> impl Future<Output = Result<Performed, WorldError>> + Send;

    /// What became of an act that was begun and whose outcome was not stored. The process was killed, or the game did
    /// not answer. By default the game cannot tell, and the act is never repeated. If acts change nothing
    /// except what others perceive, the game answers [`EffectInquiry::NeverSeen`]. A game that keeps the keys of acts
    /// looks for this key.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the game could not be asked.
    fn became_of(
        &self,
        _key: &EffectKey,
    ) -> impl Future<Output = Result<EffectInquiry, WorldError>> + Send {
        ready(Ok(EffectInquiry::CannotTell))
    }

    /// Answers a question of an assistant. By default there is nothing to see.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the game could not be asked.
    fn observe(
        &self,
        _query: &Query,
    ) -> impl Future<Output = Result<Result<Value, Rejection>, WorldError>> + Send {
        ready(Ok(Err(Rejection::new("there is nothing to see"))))
    }

    /// The names that settings can refer to in this game, so that a wrong name is reported. By default the game lists
    /// nothing.
    fn landmarks(&self) -> Landmarks {
        Landmarks::default()
    }

    /// Where somebody is, and who is there. By default the game does not know.
    fn presence(&self, _observer: &EntityId) -> impl Future<Output = Presence> + Send {
        ready(Presence::default())
    }

    /// Whether this character of an assistant may live in the game. By default, every character may.
    ///
    /// # Errors
    ///
    /// [`Rejection`], with the reason.
    fn admits(&self, _character: &EntityId) -> Result<(), Rejection> {
        Ok(())
    }
}

/// The tool `say`: speaking aloud, with the words in the argument `message`. It ends the assistant's turn.
///
/// # Errors
///
/// None in practice: its name is a valid one.
pub fn say_tool() -> Result<ToolSpec, IdError> {
    let parameters = json!({
        "type": "object",
        "properties": { "message": { "type": "string", "minLength": 1, "maxLength": 4_000 } },
        "required": ["message"],
        "additionalProperties": false,
    });
    let name = ToolName::try_new("say")?;
    Ok(ToolSpec {
        category: ToolCategory::Terminal,
        speech: Some(Speech {
            kind: SpeechKind::Aloud,
            words: "message".to_owned(),
            to: None,
        }),
        ..ToolSpec::effect(name, "Say something aloud to everyone here.", parameters)
    })
}
