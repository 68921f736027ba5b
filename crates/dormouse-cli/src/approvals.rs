//! `dormouse approvals`, `approve` and `deny`: dangerous acts that a person confirms or refuses.

use clap::Args;
use dormouse_contracts::{AssistantId, Clock, Seq};
use dormouse_engine::{Approval, ApprovalAnswer, ApprovalAnswered, ApprovalError, Event, State};
use dormouse_host::SystemClock;
use serde::Serialize;
use serde_json::Value;

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, Places, Whose, block_on, operator,
        remark, say, view_state, whole,
    },
    exit::Exit,
};

/// Lists the acts that wait.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListApprovals {
    #[command(flatten)]
    of: Whose,
    #[command(flatten)]
    json: JsonFlag,
}

/// Confirms or refuses an act.
#[derive(Clone, Debug, Args)]
pub(crate) struct AnswerApproval {
    /// The number of the act, as `dormouse approvals` prints it
    #[arg(value_name = "NUMBER", value_parser = whole::<u64>(1..=u64::MAX))]
    number: u64,
    #[command(flatten)]
    of: Whose,
    /// Who answers, for the log [default: your user name]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Why, for the log and for the assistant
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Print what would be done, without answering
    #[arg(long)]
    dry_run: bool,
}

/// An act that waits, as JSON.
#[derive(Serialize)]
struct ApprovalLine<'a> {
    r#type: &'static str,
    assistant: &'a AssistantId,
    number: u64,
    tool: &'a str,
    arguments: Value,
    asked_at: String,
    expires_at: String,
    digest: &'a str,
    allowed_by: Option<&'a str>,
}

/// Shows the acts that wait for confirmation, and those that are confirmed but not done yet.
pub(crate) fn list(places: &Places, command: ListApprovals) -> Result<Exit, CommandError> {
    let printing = command.json.printing();
    let data = crate::data::locate(places.data.as_deref())?;
    let (key, state) = view_state(places, &data, command.of.assistant, printing)?;
    let mut is_empty = true;
    for approval in state.approvals.open(SystemClock.now()) {
        is_empty = false;
        printing.print(&line(&key, approval), || text(approval))?;
    }
    if is_empty {
        remark(&format!("no act of {key} waits to be confirmed"));
    }
    Ok(Exit::Success)
}

fn line<'a>(assistant: &'a AssistantId, approval: &'a Approval) -> ApprovalLine<'a> {
    let request = &approval.request;
    ApprovalLine {
        r#type: "approval",
        assistant,
        number: approval.seq.0,
        tool: request.tool.as_str(),
        arguments: Value::Object(request.arguments.clone()),
        asked_at: approval.at.to_string(),
        expires_at: request.expires_at.to_string(),
        digest: &request.digest,
        allowed_by: approval.allowed_by.as_deref(),
    }
}

fn text(approval: &Approval) -> String {
    let (number, act, until) = (approval.seq, approval.act(), approval.request.expires_at);
    let digest: String = approval.request.digest.chars().take(12).collect();
    match &approval.allowed_by {
        None => format!("{number}  {act}  (until {until}; {digest})"),
        Some(by) => {
            format!("{number}  {act}  (confirmed by {by}, to be done until {until}; {digest})")
        }
    }
}

/// Confirms or refuses an act, as an event that says who did it.
pub(crate) fn answer(
    places: &Places,
    command: AnswerApproval,
    answer: ApprovalAnswer,
) -> Result<Exit, CommandError> {
    let by = operator(command.by)?;
    let data = crate::data::locate(places.data.as_deref())?;
    let log = AssistantLog::open(places, &data, command.of.assistant)?;
    let AssistantLog { key, state, .. } = &log;
    let number = Seq(command.number);
    let act_of = |state: &State| {
        let mut waiting = state.approvals.waiting(SystemClock.now());
        let approval = waiting.find(|approval| approval.seq == number);
        let act = approval.map(|approval| approval.act());
        act.ok_or(ApprovalError::NotWaiting(number))
    };
    let act = act_of(state)?;
    let (will, done) = match answer {
        ApprovalAnswer::Allowed => ("may then do this once", "confirmed"),
        ApprovalAnswer::Denied => ("may then not do this", "refused"),
    };
    if command.dry_run {
        say(&format!("{key} {will}: {act}. Nothing was answered"))?;
        return Ok(Exit::Success);
    }
    let answered = ApprovalAnswered {
        approval: number,
        answer,
        by: by.clone(),
        reason: command.reason.filter(|reason| !reason.trim().is_empty()),
    };
    let when = match log.resident() {
        Some(resident) => {
            block_on(resident.handle().answer_approval(answered))??;
            "now"
        }
        None => {
            log.append_decided(|state| {
                act_of(state)?;
                Ok::<_, ApprovalError>(vec![Event::ApprovalAnswered(answered.clone())])
            })??;
            "at the next start"
        }
    };
    say(&format!("{done} by {by}: {act}. {key} hears of it {when}"))?;
    Ok(Exit::Success)
}

impl CommandFailure for ApprovalError {
    fn exit(&self) -> Exit {
        match self {
            Self::NotWaiting(_) => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}
