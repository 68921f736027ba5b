//! `dormouse delegation`: tasks that assistants give to each other, and how they ended.

use clap::Subcommand;
use dormouse_contracts::{AssistantId, EffectKey, Seq};
use dormouse_engine::{DelegatedTask, TaskEnd, delegation_status};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    command::{CommandError, JsonFlag, Places, Printing, Whose, say, view_state},
    exit::Exit,
    grammar::counted,
    settings::effective,
};

/// Looking at tasks of assistants.
#[derive(Debug, Subcommand)]
pub(crate) enum Delegation {
    /// List the tasks that the assistant gave to others, and those that others gave to it, the oldest first
    List {
        #[command(flatten)]
        of: Whose,
        /// Also list those that ended: done, or failed and why
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print whether the assistant may give tasks away, how many at the same time, and how many are open
    Status {
        #[command(flatten)]
        of: Whose,
        #[command(flatten)]
        json: JsonFlag,
    },
}

/// A task as JSON.
#[derive(Serialize)]
struct TaskLine<'a> {
    r#type: &'static str,
    event: Seq,
    key: &'a EffectKey,
    direction: &'static str,
    assistant: Option<&'a AssistantId>,
    task: &'a str,
    trust: f32,
    depth: usize,
    tokens: u64,
    expires_at: String,
    status: &'static str,
    ended_at: Option<String>,
    error_code: Option<&'static str>,
}

/// Prints the tasks, or their status.
pub(crate) fn run(places: &Places, command: Delegation) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    match command {
        Delegation::List { of, all, json } => {
            let printing = json.printing();
            let (_, state) = view_state(places, &data, of.assistant, printing)?;
            let given = state.delegations.given().map(|given| {
                let whom = given.delegate.as_ref();
                let waits = match whom {
                    Some(_) => "handed over",
                    None => "waits for a delegate",
                };
                let task = (given.seq, &given.delegated.task);
                line(task, ("given", whom), given.ended, waits)
            });
            let taken = state.delegations.taken_tasks().map(|taken| {
                let task = (taken.seq, &taken.task);
                line(task, ("taken", taken.from()), taken.ended, "to be done")
            });
            let mut lines: Vec<_> = given.chain(taken).collect();
            let known = lines.len();
            lines.retain(|line| all || line.ended_at.is_none());
            lines.sort_by_key(|line| line.event);
            for line in &lines {
                printing.print(line, || text(line))?;
            }
            if lines.is_empty() && printing == Printing::Text {
                say(&match known {
                    0 => "no task".to_owned(),
                    _ => format!(
                        "no open task; `--all` lists {} too",
                        counted(known as u64, "ended one", "ended ones")
                    ),
                })?;
            }
        }
        Delegation::Status { of, json } => {
            let printing = json.printing();
            let (_, config, mut state) = effective(places, &data, &of, printing)?;
            // The present configuration is not in the log before the next start, so it is applied here.
            state.configuration.settings.execution = config.execution.config();
            let status = delegation_status(&state);
            let mut line = json!({"type": "delegation_status"});
            if let (Value::Object(line), Ok(Value::Object(fields))) =
                (&mut line, serde_json::to_value(&status))
            {
                line.extend(fields);
            }
            printing.print(&line, || match status.enabled {
                false => format!(
                    "may not delegate tasks: execution.sub_agents_enabled is false; has {} from others",
                    status.taken
                ),
                true => format!(
                    "delegated {} of at most {} tasks, to {}; has {} from others",
                    status.active,
                    status.budget,
                    status.tag.as_deref().unwrap_or("any assistant"),
                    status.taken
                ),
            })?;
        }
    }
    Ok(Exit::Success)
}

fn line<'a>(
    (event, task): (Seq, &'a DelegatedTask),
    (direction, assistant): (&'static str, Option<&'a AssistantId>),
    ended: Option<TaskEnd>,
    open: &'static str,
) -> TaskLine<'a> {
    let failure = ended.and_then(|end| end.failure);
    TaskLine {
        r#type: "delegation",
        event,
        key: &task.key,
        direction,
        assistant,
        task: &task.task.text,
        trust: task.task.trust.score(),
        depth: task.chain.len(),
        tokens: task.tokens,
        expires_at: task.expires_at.to_string(),
        status: match (ended, failure) {
            (None, _) => open,
            (Some(_), None) => "done",
            (Some(_), Some(_)) => "not done",
        },
        ended_at: ended.map(|end| end.at.to_string()),
        error_code: failure.map(|failure| failure.code()),
    }
}

fn text(line: &TaskLine<'_>) -> String {
    let who = line.assistant.map(|who| match line.direction {
        "given" => format!(", to {who}"),
        _ => format!(", from {who}"),
    });
    let code = line.error_code.map(|code| format!(" ({code})"));
    let when = match &line.ended_at {
        Some(at) => format!(" since {at}"),
        None => format!(" until {}", line.expires_at),
    };
    format!(
        "{} {}{}: {}{}{when} (trust {:.2}): {}",
        line.event,
        line.direction,
        who.unwrap_or_default(),
        line.status,
        code.unwrap_or_default(),
        line.trust,
        line.task,
    )
}
