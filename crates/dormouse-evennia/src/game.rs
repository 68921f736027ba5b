//! The game behind a bridge: carries out acts, answers questions, and knows what became of an act.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use dormouse_bridge::{Game, Performed, Report};
use dormouse_contracts::{
    AssistantId, Audience, Clock, Effect, EffectInquiry, EffectKey, EntityId, Landmarks, Outcome,
    Presence, Query, Receipt, Rejection, Sender, SourceKind, WorldError, WorldErrorKind,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use crate::{
    call::{Call, CallRefusal, Plan, arguments},
    client::Order,
    event::words,
    frame::{ActDone, ActState},
    people::People,
    room::{Detail, RoomState},
    session::{Answer, Ask},
};

/// A game, behind a bridge: all of its residents, and their connections.
pub struct EvenniaGame {
    pub(crate) residents: BTreeMap<EntityId, Link>,
    pub(crate) people: Arc<Mutex<People>>,
    /// The commands that the operator allows, beyond the tools.
    pub(crate) allowed: Vec<String>,
    /// What the keys of acts begin with in the game: it differs from that of any other data folder.
    pub(crate) acts: String,
    pub(crate) clock: Arc<dyn Clock>,
    /// The connections.
    pub(crate) tasks: Mutex<JoinSet<()>>,
}

impl fmt::Debug for EvenniaGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvenniaGame")
            .field("residents", &self.residents)
            .finish_non_exhaustive()
    }
}

/// The connection of one resident.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Absent if nobody lives behind it.
    pub(crate) assistant: Option<AssistantId>,
    pub(crate) orders: mpsc::Sender<Order>,
}

/// How many times an act is tried, with a new look at who is around before each, until it is given up.
const LOOKS: u32 = 3;

/// Why the game was not asked.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum NotAsked {
    #[error("the connection to the game is closed")]
    Closed,
    #[error("the game cannot be reached at the moment")]
    NotReached,
    #[error("the game did not say what became of it")]
    Unknown,
}

fn not_reached(why: NotAsked) -> WorldError {
    WorldError::new(WorldErrorKind::NotReached, Some(why.into()))
}

fn unanswered() -> WorldError {
    WorldError::new(WorldErrorKind::Unanswered, Some(NotAsked::Unknown.into()))
}

impl Link {
    async fn ask(&self, ask: Ask) -> Result<Answer, NotAsked> {
        let (reply, answer) = oneshot::channel();
        let order = Order::Ask(ask, reply);
        self.orders
            .send(order)
            .await
            .map_err(|_closed| NotAsked::Closed)?;
        answer.await.map_err(|_closed| NotAsked::Closed)
    }

    /// Who and what is around the resident.
    pub(crate) async fn state(&self) -> Result<RoomState, WorldError> {
        match self.ask(Ask::State).await {
            Ok(Answer::Seen(state)) => Ok(*state),
            Ok(_) => Err(not_reached(NotAsked::NotReached)),
            Err(why) => Err(not_reached(why)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inspect {
    #[serde(default)]
    detail_level: Detail,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl EvenniaGame {
    fn of_assistant(&self, assistant: &AssistantId) -> Option<&Link> {
        let mut links = self.residents.values();
        links.find(|link| link.assistant.as_ref() == Some(assistant))
    }

    /// What is done for an effect, or why it is refused.
    async fn plan(
        &self,
        link: &Link,
        effect: &Effect,
    ) -> Result<Result<(Call, Plan), Rejection>, WorldError> {
        let call = match Call::read(&effect.tool, &effect.arguments) {
            Ok(call) => call,
            Err(refusal) => return Ok(Err(refusal.into())),
        };
        let seen = link.state().await?;
        let planned = {
            let people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
            call.plan(&seen, &people, &self.allowed)
        };
        let plan = match planned {
            Ok(plan) => plan,
            Err(refusal) => return Ok(Err(refusal.into())),
        };
        let may_hear =
            |heard: &Audience| effect.within.as_ref().is_none_or(|may| may.covers(heard));
        Ok(match &plan.heard_by {
            Some(heard_by) if !may_hear(heard_by) => Err(Rejection {
                heard_by: Some(heard_by.clone()),
                ..Rejection::new("somebody would hear it who is not meant to")
            }),
            _ => Ok((call, plan)),
        })
    }

    /// The outcome of a command line that ran to its end, and what it printed.
    async fn outcome(
        &self,
        link: &Link,
        actor: &EntityId,
        effect: &Effect,
        (call, plan): (Call, Plan),
        done: ActDone,
    ) -> Performed {
        let printed = done.output.join("\n");
        if done.state == ActState::Failed {
            let why = done
                .error
                .unwrap_or_else(|| "the game did not carry it out".to_owned());
            return Performed::refused(why);
        }
        let mut detail = serde_json::Map::new();
        if call.moves_something() && !done.changed {
            // Such as a locked exit.
            return Performed::refused(printed);
        }
        if matches!(call, Call::Move { .. })
            && let Ok(RoomState {
                room: Some(room), ..
            }) = link.state().await
        {
            detail.insert("moved_to".to_owned(), room.key.into());
        }
        let speaks = plan.heard_by.is_some();
        let mut reports = Vec::new();
        if let Some(said) = call.words() {
            // What the game prints for the speaker repeats the words, which receipts do not keep, or says why nobody heard
            // them.
            if !done.output_cut && !repeats(&printed, said.as_claimed()) {
                if call.is_speech() && !printed.trim().is_empty() {
                    return Performed::refused(printed);
                }
                detail.insert("game".to_owned(), printed.into());
            }
        } else if let Some(words) = words(&printed) {
            let sender = Sender::Myself { marked: false };
            let mut report =
                Report::new(SourceKind::CommandOutput, sender, self.clock.now(), words);
            report.cause = Some(effect.key.clone());
            report.audience = Audience::of([actor.clone()]);
            reports.push((actor.clone(), report));
        }
        let receipt = Receipt {
            heard_by: plan.heard_by.filter(|_| speaks),
            ..Receipt::new(Value::Object(detail))
        };
        Performed {
            outcome: Outcome::Done(receipt),
            reports,
        }
    }
}

/// Whether a text has these words, apart from spaces and punctuation.
fn repeats(text: &str, words: &str) -> bool {
    let letters = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .collect::<String>()
    };
    letters(text).contains(&letters(words))
}

impl Game for EvenniaGame {
    async fn perform(&self, actor: &EntityId, effect: &Effect) -> Result<Performed, WorldError> {
        let Some(link) = self.residents.get(actor) else {
            return Ok(Performed::refused(
                "this assistant has no account in the game",
            ));
        };
        // If somebody came or left since the look, it is looked again.
        for _ in 0..LOOKS {
            let (call, plan) = match self.plan(link, effect).await? {
                Ok(planned) => planned,
                Err(rejection) => {
                    return Ok(Performed {
                        outcome: Outcome::Rejected(rejection),
                        reports: Vec::new(),
                    });
                }
            };
            let act = Ask::Act {
                key: format!("{}{}", self.acts, effect.key),
                line: plan.line.clone(),
                only: plan.only(effect.within.is_some()),
            };
            return match link.ask(act).await {
                Ok(Answer::Done(done)) => match done.state {
                    ActState::Done | ActState::Failed => {
                        Ok(self.outcome(link, actor, effect, (call, plan), done).await)
                    }
                    ActState::Begun | ActState::Never => Err(unanswered()),
                },
                Ok(Answer::Changed) => continue,
                Ok(Answer::Refused(why)) => Ok(Performed::refused(why)),
                Ok(Answer::NotReached | Answer::Seen(_)) => Err(not_reached(NotAsked::NotReached)),
                // The connection was closed by this program, which may have sent it before.
                Ok(Answer::Unknown) | Err(_) => Err(unanswered()),
            };
        }
        Ok(Performed::refused(
            "it is not certain who would hear it: others have the name, or come and go; nothing was said",
        ))
    }

    /// The game keeps the keys of acts, so it can tell unless it went down in the middle of one.
    async fn became_of(&self, key: &EffectKey) -> Result<EffectInquiry, WorldError> {
        let own = key.actor().and_then(|actor| self.of_assistant(&actor));
        let all: Vec<_> = match own {
            Some(own) => vec![own],
            None => self.residents.values().collect(),
        };
        for link in all {
            let key = format!("{}{key}", self.acts);
            let done = match link.ask(Ask::Receipt { key }).await {
                Ok(Answer::Done(done)) => done,
                Ok(_) => return Err(not_reached(NotAsked::NotReached)),
                Err(why) => return Err(not_reached(why)),
            };
            match done.state {
                ActState::Never => {}
                ActState::Begun => return Ok(EffectInquiry::CannotTell),
                // Without what it printed, which may be words that receipts do not keep.
                ActState::Done => return Ok(EffectInquiry::Done(Receipt::new(json!({})))),
                ActState::Failed => {
                    let why = done
                        .error
                        .unwrap_or_else(|| "the game did not carry it out".to_owned());
                    return Ok(EffectInquiry::Rejected(Rejection::new(why)));
                }
            }
        }
        Ok(EffectInquiry::NeverSeen)
    }

    /// Asks the game. While it cannot be reached, the place and the audience are unknown.
    async fn presence(&self, observer: &EntityId) -> Presence {
        let Some(link) = self.residents.get(observer) else {
            return Presence::default();
        };
        match link.state().await {
            Ok(seen) => Presence {
                place: seen.place(),
                audience: seen.listeners().map(|all| all.with(observer.clone())),
            },
            Err(_) => Presence::default(),
        }
    }

    /// It entered the game when the world was opened, if the settings name its account.
    fn admits(&self, character: &EntityId) -> Result<(), Rejection> {
        match self.residents.contains_key(character) {
            true => Ok(()),
            false => Err(Rejection::new(format!(
                "{character} has no account in the game; name one in evennia.residents"
            ))),
        }
    }

    async fn observe(&self, query: &Query) -> Result<Result<Value, Rejection>, WorldError> {
        let Some(link) = self.of_assistant(&query.actor) else {
            return Ok(Err(Rejection::new(
                "this assistant has no account in the game",
            )));
        };
        let detail = match query.tool.as_str() {
            "inspect_location" => {
                arguments::<Inspect>(&query.arguments).map(|it| Some(it.detail_level))
            }
            "who_is_here" => arguments::<Nothing>(&query.arguments).map(|_| None),
            _ => Err(CallRefusal::NoSuchTool(query.tool.clone())),
        };
        let detail = match detail {
            Ok(detail) => detail,
            Err(refusal) => return Ok(Err(refusal.into())),
        };
        let seen = link.state().await?;
        Ok(Ok(match detail {
            Some(detail) => seen.view(detail),
            None => json!({ "characters": seen.characters() }),
        }))
    }

    fn landmarks(&self) -> Landmarks {
        Landmarks {
            check_character: Some(check_character),
            ..Landmarks::default()
        }
    }
}

/// Checks the id of somebody in a game: names are not ids, because they can repeat and change.
fn check_character(id: &EntityId) -> Result<(), Rejection> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    match id.as_str().split_once(':') {
        Some(("account" | "object", number)) if is_number(number) => Ok(()),
        Some(("assistant", key)) if !key.is_empty() => Ok(()),
        _ => Err(Rejection::new(
            "in a game, somebody has the id \"account:NUMBER\", or \"object:NUMBER\" without an account; the command \
             `examine *NAME` of the game shows the number",
        )),
    }
}
