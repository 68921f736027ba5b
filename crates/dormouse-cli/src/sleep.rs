//! `dormouse sleep`, `wake` and `night`: let an assistant sleep, wake it, and show what it did in its nights.

use std::fmt::Write;

use clap::Args;
use dormouse_contracts::{AssistantId, Clock, Timestamp};
use dormouse_engine::{
    Consolidator, Event, GoalNote, Night, NightCounts, SleepError, SleepStep, SleepWish, StepEnd,
    StepProgress, WakeCause,
};
use dormouse_host::{
    DataFolder, SystemClock,
    upkeep::{self, WholeNightError},
};
use serde_json::json;

use crate::{
    command::{
        AssistantLog, CommandError, CommandFailure, JsonFlag, MemoryFile, Missing, Places,
        Printing, Whose, author, block_on, invocation, operator, say, view_state,
    },
    describe::{self, second},
    exit::Exit,
    grammar::counted,
    memory::{configured_only, consolidator, cost},
    provider::ProviderFlags,
};

/// Letting an assistant sleep.
#[derive(Debug, Args)]
pub(crate) struct SleepCommand {
    #[command(flatten)]
    of: Whose,
    /// When it wakes: a time with its time zone, such as 2026-11-23T06:00:00Z [default: as its schedule says]
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Waking an assistant.
#[derive(Debug, Args)]
pub(crate) struct WakeCommand {
    #[command(flatten)]
    of: Whose,
    /// Who wakes it, for the log [default: your user name]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// What an assistant did in its nights.
#[derive(Debug, Args)]
pub(crate) struct NightCommand {
    #[command(flatten)]
    of: Whose,
    /// Print one line for each stored night, the newest last
    #[arg(long, conflicts_with = "now")]
    list: bool,
    /// Run a night now: fall asleep, do all its work, and wake
    #[arg(long)]
    now: bool,
    #[command(flatten)]
    provider: ProviderFlags,
    #[command(flatten)]
    json: JsonFlag,
}

impl CommandFailure for SleepError {
    fn exit(&self) -> Exit {
        match self {
            Self::Stopped => Exit::Stopped,
            Self::Until(_) | Self::Reason => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}

/// Lets the assistant fall asleep, by an event that says who wanted it.
pub(crate) fn sleep(places: &Places, command: SleepCommand) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let log = AssistantLog::open(places, &data, command.of.assistant)?;
    let wish = SleepWish {
        author: author(),
        until: command.until,
        reason: command.reason.as_deref().map(GoalNote::by_operator),
    };
    match fall_asleep(&log, &wish)? {
        Err(SleepError::AlreadyAsleep(until)) => say(&asleep_already(&data, &log.key, until))?,
        asleep => {
            let until = second(asleep?);
            say(&format!(
                "{} sleeps until {until}, or until a message calls for an answer",
                log.key
            ))?;
        }
    }
    Ok(Exit::Success)
}

/// Lets the assistant fall asleep, and returns until when.
fn fall_asleep(
    log: &AssistantLog,
    wish: &SleepWish,
) -> Result<Result<Timestamp, SleepError>, CommandError> {
    let asleep = log.append_decided(|state| {
        let asleep = state.fall_asleep(SystemClock.now(), wish.clone())?;
        Ok::<_, SleepError>(vec![Event::FellAsleep(asleep)])
    })?;
    Ok(asleep.map(|decided| match &*decided.events {
        [Event::FellAsleep(asleep)] => asleep.until,
        _ => Timestamp::EPOCH,
    }))
}

/// The message that an assistant already sleeps, and how to wake it.
fn asleep_already(data: &DataFolder, key: &AssistantId, until: Timestamp) -> String {
    let wake = invocation("wake", data, key);
    format!(
        "{key} is in sleep mode already, until {}; nothing was changed. `{wake}` wakes it",
        second(until)
    )
}

/// Wakes the assistant, by an event that says who did it.
pub(crate) fn wake(places: &Places, command: WakeCommand) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let by = operator(command.by)?;
    let log = AssistantLog::open(places, &data, command.of.assistant)?;
    let woken = log.append_decided(|state| {
        let woken = state.wake_up(WakeCause::Operator(by.clone()))?;
        Ok::<_, SleepError>(vec![Event::WokeUp(woken)])
    })?;
    match woken {
        Err(SleepError::Awake) => {
            say(&format!(
                "{} is awake already; nothing was changed",
                log.key
            ))?;
            return Ok(Exit::Success);
        }
        woken => drop(woken?),
    }
    say(&format!("{} is awake", log.key))?;
    Ok(Exit::Success)
}

/// Prints the last night or all stored ones, or runs one.
pub(crate) fn night(places: &Places, command: NightCommand) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let printing = command.json.printing();
    if command.now {
        return now(places, &data, command);
    }
    let (key, state) = view_state(places, &data, command.of.assistant, printing)?;
    let nights = state.sleep.nights();
    let earlier = match command.list {
        true => 0,
        false => nights.len().saturating_sub(1),
    };
    let shown: Vec<_> = nights.skip(earlier).collect();
    for &night in &shown {
        let lines = || match command.list {
            true => vec![summary(night)],
            false => diary(night),
        };
        printing.print(&as_json(night), lines)?;
    }
    if shown.is_empty() && printing == Printing::Text {
        let now = invocation("night --now", &data, &key);
        say(&format!("no night yet; `{now}` has one"))?;
    }
    Ok(Exit::Success)
}

/// Runs a night without pauses between its pieces of work.
fn now(places: &Places, data: &DataFolder, command: NightCommand) -> Result<Exit, CommandError> {
    let file = MemoryFile::locate(places)?;
    let whose = configured_only(&file, command.of.assistant)?;
    let log = AssistantLog::open(places, data, Some(whose))?;
    let wish = SleepWish {
        author: author(),
        until: None,
        reason: None,
    };
    let (key, is_running) = (log.key.clone(), log.resident().is_some());
    if is_running {
        match fall_asleep(&log, &wish)? {
            Err(SleepError::AlreadyAsleep(until)) => say(&asleep_already(data, &key, until))?,
            asleep => {
                asleep?;
                let command = |command| invocation(command, data, &key);
                let (night, wake) = (command("night"), command("wake"));
                say(&format!(
                    "{key} sleeps; `{night}` shows what it does, and `{wake}` wakes it"
                ))?;
            }
        }
        return Ok(Exit::Success);
    }
    match fall_asleep(&log, &wish)? {
        // It goes on with the night that has begun.
        Err(SleepError::AlreadyAsleep(_)) => {}
        asleep => {
            asleep?;
        }
    }
    drop(log);
    let (by, accounts) = consolidator(&file, u64::MAX, &command.provider)?;
    let night = block_on(Box::pin(all_work(&file, &by)))??;
    let printing = command.json.printing();
    let mut line = as_json(&night);
    if let Some(fields) = line.as_object_mut() {
        fields.insert("cost".to_owned(), cost(&accounts).into());
    }
    let lines = || {
        let mut lines = diary(&night);
        lines.push(format!("cost: {}", cost(&accounts)));
        lines
    };
    printing.print(&line, lines)?;
    let is_skipped = |step: &StepProgress| step.end != Some(StepEnd::Done);
    Ok(match night.steps.iter().any(is_skipped) {
        true => Exit::Failure,
        false => Exit::Success,
    })
}

async fn all_work(file: &MemoryFile, by: &Consolidator) -> Result<Night, CommandError> {
    let mut memory = file.open_to_change(Missing::Fail).await?;
    match upkeep::whole_night(by, &mut memory).await {
        Ok(night) => Ok(night),
        Err(WholeNightError::Replay(error)) => Err(error.into()),
        Err(WholeNightError::Sleep(error)) => Err(error.into()),
        Err(WholeNightError::Change(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}

impl CommandFailure for WholeNightError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// A night in a line.
fn summary(night: &Night) -> String {
    let done = night
        .steps
        .iter()
        .filter(|step| step.end == Some(StepEnd::Done));
    format!(
        "night {} at {}: {}, {}",
        night.number,
        second(night.began),
        counted(
            done.count() as u64,
            "piece of work done",
            "pieces of work done"
        ),
        counts(&night.came_of_it),
    )
}

/// The diary of a night.
fn diary(night: &Night) -> Vec<String> {
    let reason = night.reason.as_ref();
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", reason.text));
    let mut lines = vec![format!(
        "night {}, asleep at {}, by {}{reason}",
        night.number,
        second(night.began),
        night.author,
    )];
    lines.extend(night.steps.iter().map(step));
    if night.turns > 0 {
        let turns = counted(u64::from(night.turns), "turn", "turns");
        lines.push(format!("  {turns} in its sleep"));
    }
    lines.push(counts(&night.came_of_it));
    lines.push(match &night.woke {
        Some((at, cause)) => format!(
            "awake at {}: {}",
            second(*at),
            describe::sleep::woken_by(cause)
        ),
        None => format!("asleep, at most until {}", second(night.until)),
    });
    lines
}

fn step(progress: &StepProgress) -> String {
    let mut line = format!("  {}: ", progress.step);
    line += &match progress.end {
        Some(StepEnd::Done) => "done".to_owned(),
        Some(StepEnd::Skipped) => "skipped for this night".to_owned(),
        Some(StepEnd::OverBudget) => {
            "left for another night, because the budget is spent".to_owned()
        }
        Some(StepEnd::TakenBack(result)) => describe::sleep::taken_back(&result),
        None => "goes on".to_owned(),
    };
    if let Some(failure) = &progress.failure {
        let times = counted(u64::from(progress.failures), "time", "times");
        let _written = write!(line, " (failed {times}: {failure})");
    }
    line
}

fn counts(counts: &NightCounts) -> String {
    let NightCounts {
        consolidated,
        linked,
        people,
        rescored,
        concluded,
        pruned,
        taken_back,
        compacted,
        requests,
        prompt_tokens,
        completion_tokens,
    } = *counts;
    let parts = [
        counted(consolidated, "fact made", "facts made"),
        counted(linked, "link made", "links made"),
        counted(people, "profile consolidated", "profiles consolidated"),
        counted(rescored, "entry rescored", "entries rescored"),
        counted(concluded, "conclusion drawn", "conclusions drawn"),
        counted(pruned, "entry pruned", "entries pruned"),
        counted(compacted, "compaction", "compactions"),
        counted(taken_back, "change taken back", "changes taken back"),
        format!(
            "{} with {prompt_tokens} tokens in and {completion_tokens} out",
            counted(requests, "model call", "model calls")
        ),
    ];
    parts.join(", ")
}

fn as_json(night: &Night) -> serde_json::Value {
    let Night {
        number,
        began,
        until,
        author,
        reason,
        steps,
        came_of_it,
        woke,
        turns,
        ..
    } = night;
    let step = |it: &StepProgress| {
        let step: SleepStep = it.step;
        json!({"step": step, "phase": step.phase(), "ticks": it.ticks, "failures": it.failures, "end": it.end})
    };
    json!({
        "type": "night",
        "night": number,
        "began": began.to_string(),
        "until": until.to_string(),
        "author": author,
        "reason": reason.as_ref().map(|reason| &reason.text),
        "steps": steps.iter().map(step).collect::<Vec<_>>(),
        "came_of_it": came_of_it,
        "turns": turns,
        "woke_at": woke.as_ref().map(|(at, _)| at.to_string()),
        "woke_by": woke.as_ref().map(|(_, cause)| cause),
    })
}
