//! The tools: each is one function of the API. Which ones are offered is decided by the rights of the token.

use std::sync::{Arc, LazyLock};

use axum::{Json, extract::State};
use dormouse_mcp::{
    CallProgress, OfferedTool, SurfaceAnswer, SurfaceError, ToolEffect, read_arguments,
};
use dormouse_memory::RecordId;
use dormouse_text::{escape_hidden, escape_hidden_json, one_line};
use serde::Serialize;
use serde_json::Value;
use tokio::{select, sync::mpsc};

use super::{
    Visit,
    arguments::{Goals, Journal, Listen, Outcome, Recall, Stop, Talk, Whom, Why},
};
use crate::{
    api::{
        emergency::{self, TriggerStop},
        goals::{self, ListGoals},
        heard::{self, ListUtterances, Spoken},
        interact::{self, Message, MessageOutcome},
        journal::{self, FindEntries},
        memory::{self, SearchMemory},
        status,
    },
    extract::{Asked, ItemId, JsonBody, Key},
    problem::{Problem, ProblemCode},
    tokens::Right,
};

/// All tools, each with the right that it needs. Their schemas are made once, and not for each request.
static ALL: LazyLock<[(Right, OfferedTool); 10]> = LazyLock::new(all);

fn all() -> [(Right, OfferedTool); 10] {
    use ToolEffect::{Adds, Reads, Removes};
    [
        (
            Right::Talk,
            OfferedTool::new::<Talk>(
                "talk",
                "Say something to an assistant and get its answer. It hears you under the name of your token, and remembers it. If the outcome is \"waiting\", ask later with `outcome` and the number `message`.",
                Adds,
            ),
        ),
        (
            Right::Talk,
            OfferedTool::new::<Outcome>(
                "outcome",
                "Get the answer to a message that was still waiting.",
                Reads,
            ),
        ),
        (
            Right::Talk,
            OfferedTool::new::<Listen>(
                "listen",
                "List what an assistant said lately, as far as you can hear it, even if nobody asked. With `wait_seconds` the call waits for the next words.",
                Reads,
            ),
        ),
        (
            Right::Read,
            OfferedTool::new::<Recall>(
                "recall",
                "Search what an assistant remembers, best first. Each line begins with the id of a memory.",
                Reads,
            ),
        ),
        (
            Right::Read,
            OfferedTool::new::<Why>(
                "why",
                "Explain one memory: its sources, and every change to it with its reason.",
                Reads,
            ),
        ),
        (
            Right::Read,
            OfferedTool::new::<Journal>(
                "journal",
                "List or search the journal of an assistant.",
                Reads,
            ),
        ),
        (
            Right::Read,
            OfferedTool::new::<Goals>("goals", "List the goals of an assistant.", Reads),
        ),
        (
            Right::Read,
            OfferedTool::new::<Whom>(
                "status",
                "Show how an assistant is: what it does, its errors, budgets and waiting messages.",
                Reads,
            ),
        ),
        (
            Right::Operate,
            OfferedTool::new::<Stop>(
                "stop",
                "Emergency stop: end an assistant's work at once. Messages are kept until `resume`.",
                Removes,
            ),
        ),
        (
            Right::Operate,
            OfferedTool::new::<Whom>("resume", "Clear the emergency stop of an assistant.", Adds),
        ),
    ]
}

/// The tools that the token allows.
pub(super) fn offered(visit: &Visit) -> Vec<OfferedTool> {
    let allowed = ALL.iter().filter(|(right, _)| visit.has(*right));
    allowed.map(|(_, tool)| tool.clone()).collect()
}

/// Carries out a call.
pub(super) async fn call(
    visit: &Visit,
    tool: &str,
    arguments: Value,
    progress: &CallProgress,
) -> Result<SurfaceAnswer, SurfaceError> {
    let is_allowed = |(right, it): &(Right, OfferedTool)| it.name == tool && visit.has(*right);
    if !ALL.iter().any(is_allowed) {
        return Err(SurfaceError::no_tool(tool, &offered(visit)));
    }
    // Each function of the API checks the right for this very assistant.
    let state = || State(Arc::clone(&visit.service));
    let caller = || visit.caller.clone();
    match tool {
        "talk" => Box::pin(talk(visit, read_arguments(arguments)?, progress)).await,
        "outcome" => {
            let asked: Outcome = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            let found = interact::outcome(state(), caller(), key, ItemId(asked.message)).await?;
            Ok(spoken(&found.0)?)
        }
        "listen" => {
            let asked: Listen = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            let since = Asked(ListUtterances {
                after: asked.after,
                limit: None,
                wait_seconds: asked.wait_seconds,
            });
            let Json(page) = Box::pin(heard::list(state(), caller(), key, since)).await?;
            let lines: Vec<_> = page
                .said
                .iter()
                .map(|it| escape_hidden(&it.words))
                .collect();
            let text = match lines.is_empty() {
                true => format!("Nothing was said. Next: after = {}.", page.next),
                false => lines.join("\n"),
            };
            Ok(with_text(&page, text)?)
        }
        "recall" => {
            let asked: Recall = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            let search = Asked(SearchMemory {
                q: asked.query,
                limit: asked.limit,
            });
            let found = memory::find(&visit.service, &visit.caller, &key.0, search.0).await?;
            let lines = found.items.iter();
            let lines = lines.map(|it| format!("{} {}", it.record.id, one_line(&it.line())));
            let text = match found.items.is_empty() {
                true => "Nothing is remembered about this.".to_owned(),
                false => lines.collect::<Vec<_>>().join("\n"),
            };
            Ok(with_text(&memory::page(&found), text)?)
        }
        "why" => {
            let asked: Why = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            let id = ItemId(record(&asked.id)?);
            Ok(shown(memory::why(state(), caller(), key, id).await?)?)
        }
        "journal" => {
            let asked: Journal = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            let find = Asked(FindEntries {
                q: asked.query,
                tag: None,
                days: asked.days,
                limit: asked.limit,
            });
            Ok(shown(journal::list(state(), caller(), key, find).await?)?)
        }
        "goals" => {
            let asked: Goals = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            let which = Asked(ListGoals {
                closed: asked.closed,
            });
            Ok(shown(goals::list(state(), caller(), key, which).await?)?)
        }
        "status" => {
            let asked: Whom = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            Ok(shown(status::show(state(), caller(), key).await?)?)
        }
        "stop" => {
            let asked: Stop = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            let why = JsonBody(TriggerStop {
                reason: asked.reason,
            });
            Ok(shown(
                emergency::trigger(state(), caller(), key, why).await?,
            )?)
        }
        "resume" => {
            let asked: Whom = read_arguments(arguments)?;
            let key = Key(visit.assistant(asked.assistant)?);
            Ok(shown(emergency::clear(state(), caller(), key).await?)?)
        }
        _ => Err(SurfaceError::no_tool(tool, &offered(visit))),
    }
}

/// Says something. What the assistant answers is reported as it is said, because a turn can go on after its first words.
async fn talk(
    visit: &Visit,
    asked: Talk,
    progress: &CallProgress,
) -> Result<SurfaceAnswer, SurfaceError> {
    let key = visit.assistant(asked.assistant)?;
    let message = Message {
        words: asked.words,
        wait_seconds: asked.wait_seconds,
        key: asked.key,
    };
    let (said, mut reports) = mpsc::unbounded_channel();
    // The receiver lives as long as this call.
    let heard = |spoken: &Spoken| drop(said.send(escape_hidden(&spoken.words).into_owned()));
    let mut saying = Box::pin(interact::say(
        &visit.service,
        &visit.caller,
        &key,
        message,
        &heard,
    ));
    let outcome = loop {
        select! {
            biased;
            outcome = &mut saying => break outcome?,
            Some(words) = reports.recv() => progress.report(words).await,
        }
    };
    // The last words and the end of the turn may have come together.
    while let Ok(words) = reports.try_recv() {
        progress.report(words).await;
    }
    Ok(spoken(&outcome)?)
}

fn spoken(outcome: &MessageOutcome) -> Result<SurfaceAnswer, Problem> {
    let words: Vec<_> = outcome
        .answer
        .iter()
        .map(|it| escape_hidden(&it.words))
        .collect();
    let text = match words.is_empty() {
        true => match (outcome.outcome, outcome.message) {
            ("waiting", Some(message)) => {
                format!("No answer yet: ask with `outcome` and message = {message}.")
            }
            ("waiting", None) => {
                "Not received yet. It is kept, so do not say it again: `listen` returns the answer."
                    .to_owned()
            }
            (other, _) => format!("No answer: {other}."),
        },
        false => words.join("\n"),
    };
    with_text(outcome, text)
}

/// Parses the id of a memory in the same way as the API does in a path.
pub(super) fn record(id: &str) -> Result<RecordId, Problem> {
    let invalid = |_| ProblemCode::InvalidRequest.because(format!("{id:?} is not an id here"));
    id.parse().map_err(invalid)
}

fn shown<T: Serialize>(Json(shown): Json<T>) -> Result<SurfaceAnswer, Problem> {
    let value = serde_json::to_value(&shown)?;
    Ok(SurfaceAnswer {
        // The escapes of JSON keep hidden characters visible.
        text: escape_hidden_json(&value.to_string()).into_owned(),
        value,
    })
}

fn with_text(value: &impl Serialize, text: String) -> Result<SurfaceAnswer, Problem> {
    Ok(SurfaceAnswer {
        value: serde_json::to_value(value)?,
        text,
    })
}
