//! Checks whether the assistants in the log can run: whether they belong to the present world, and are not stopped.

use std::time::Duration;

use dormouse_contracts::{AssistantId, Clock};
use dormouse_engine::{
    ConfiguredModel, State, StepEnd, forget_requests, prompt_findings, restore, unreferred,
};
use dormouse_host::{DataFolder, SystemClock, check_world};
use dormouse_providers::token_counter_for;
use dormouse_sandbox::{Sandbox, landmarks};
use dormouse_store::RedbLog;
use dormouse_text::escape_id;

use super::Finding;
use crate::{
    command::{CommandError, block_on, clear_command, continuity_exit, retry_command},
    config::{Config, find, privacy},
    describe,
    exit::{Exit, Report},
    forget::describe_request,
    grammar::counted,
};

/// For how long a refusal is worth a look.
const REFUSED_LATELY: Duration = Duration::from_secs(24 * 3_600);

/// The findings about every assistant in the log; empty if all is well.
pub(super) fn findings(
    data: &DataFolder,
    log: &RedbLog,
    sandbox: Option<&Sandbox>,
    config: Option<&Config>,
) -> Vec<Finding> {
    let known = match log.assistants() {
        Ok(known) => known,
        Err(error) => return vec![Finding::Wrong(Report(&error).to_string(), Exit::Damaged)],
    };
    let mut findings = Vec::new();
    for (key, _) in known {
        match restored(log, &key) {
            Ok(state) => {
                findings.extend(sandbox.and_then(|sandbox| at_home(sandbox, &key, &state)));
                findings.extend(stopped(data, &key, &state));
                findings.extend(paused(data, &key, &state));
                findings.extend(refused(&key, &state));
                findings.extend(asleep(&key, &state));
                findings.extend(asked_to_forget(data, log, &key));
                findings.extend(config.and_then(|config| due(data, log, config, &key)));
                findings.extend(prompts(&key, &state));
                findings.extend(config.iter().flat_map(|config| set(config, &key, &state)));
            }
            Err(error) => findings.push(Finding::Wrong(Report(&error).to_string(), error.exit())),
        }
    }
    findings
}

/// What seems to be wrong with the prompts of an assistant that has woken before.
fn prompts(key: &AssistantId, state: &State) -> Vec<Finding> {
    let counter_for = |model: &ConfiguredModel| token_counter_for(&model.provider, &model.name);
    // Other checks report what is wrong with a log.
    let found = prompt_findings(key, state, counter_for).unwrap_or_default();
    let found = found.into_iter();
    found
        .map(|text| Finding::Doubtful(format!("{key}: {text}")))
        .collect()
}

fn restored(log: &RedbLog, key: &AssistantId) -> Result<State, CommandError> {
    Ok(block_on(restore(log, key))??)
}

fn at_home(sandbox: &Sandbox, key: &AssistantId, state: &State) -> Option<Finding> {
    match block_on(check_world(sandbox, key, state)) {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(Finding::Wrong(
            Report(&error).to_string(),
            continuity_exit(&error),
        )),
        Err(error) => Some(Finding::Wrong(Report(&error).to_string(), error.exit())),
    }
}

/// Whether it is asleep, and what its last night left undone.
fn asleep(key: &AssistantId, state: &State) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let (Some(until), Some(phase)) = (state.sleep.scheduled_wake_time(), state.sleep.phase()) {
        let until = describe::second(until);
        findings.push(Finding::Doubtful(format!(
            "{key} is asleep ({phase}) at most until {until}; `dormouse wake` wakes it"
        )));
    }
    let steps = state
        .sleep
        .last_night()
        .into_iter()
        .flat_map(|night| &night.steps);
    let skipped = steps.filter(|step| step.end == Some(StepEnd::Skipped));
    findings.extend(skipped.map(|step| {
        let why = step
            .failure
            .as_ref()
            .map_or_else(String::new, |why| format!(": {why}"));
        Finding::Doubtful(format!(
            "{key} skipped {} in its last night{why}",
            step.step
        ))
    }));
    findings
}

/// What it did not answer, or not even keep, because somebody asked too much.
fn refused(key: &AssistantId, state: &State) -> Option<Finding> {
    let admission = &state.admission;
    let last = admission.last.as_ref()?;
    let sender = last.sender.as_ref().map_or_else(
        || "an unnamed sender".to_owned(),
        |id| escape_id(id.as_str()).to_string(),
    );
    let text = format!(
        "{key} overheard {} instead of answering, and only counted {}; the last one was from {sender} at {} (settings of [admission])",
        counted(admission.overheard, "message", "messages"),
        counted(admission.dropped, "line", "lines"),
        describe::second(last.at),
    );
    let is_recent = SystemClock.now().since(last.at) < REFUSED_LATELY;
    Some(match is_recent {
        true => Finding::Doubtful(text),
        false => Finding::Fine(text),
    })
}

fn stopped(data: &DataFolder, key: &AssistantId, state: &State) -> Option<Finding> {
    let stopped = state.stop.stopped()?;
    let text = format!(
        "{key} is stopped since {}: {}; {}. `{}` lets it go on",
        stopped.at,
        describe::stop_cause(&stopped.cause),
        waiting(state),
        clear_command(data, key),
    );
    Some(Finding::Wrong(text, Exit::Stopped))
}

fn paused(data: &DataFolder, key: &AssistantId, state: &State) -> Vec<Finding> {
    let pauses = state.services.pauses.at(SystemClock.now());
    let told = pauses.map(|pause| {
        Finding::Doubtful(format!(
            "{key}'s model is not called {}; {}. `{}` ends the pause",
            describe::pause(&pause),
            waiting(state),
            retry_command(data, key),
        ))
    });
    told.collect()
}

/// People who asked the assistant to forget them. An operator decides.
fn asked_to_forget(data: &DataFolder, log: &RedbLog, key: &AssistantId) -> Vec<Finding> {
    // A log that cannot be read is reported by another check.
    let requests = block_on(forget_requests(log, key)).map(Result::unwrap_or_default);
    let requests = requests.unwrap_or_default().into_iter();
    requests
        .map(|request| Finding::Doubtful(describe_request(data, key, &request)))
        .collect()
}

/// Messages that are kept for longer than the configuration says.
fn due(data: &DataFolder, log: &RedbLog, config: &Config, key: &AssistantId) -> Option<Finding> {
    let before = config.memory.utterances_kept_since(SystemClock.now())?;
    let due = match block_on(unreferred(log, key, before)) {
        Ok(Ok(due)) => due.len() as u64,
        // A log that cannot be read is reported by another check.
        Ok(Err(_)) | Err(_) => 0,
    };
    (due > 0).then(|| {
        Finding::Doubtful(format!(
            "{} to {key} from before {before} {} due to be forgotten: `dormouse forget --retention {}`",
            counted(due, "message", "messages"),
            if due == 1 { "is" } else { "are" },
            crate::data::flag(data)
        ))
    })
}

/// What operators changed for this assistant, which of these changes are no longer valid, and whether it is switched
/// off.
fn set(config: &Config, key: &AssistantId, state: &State) -> Vec<Finding> {
    let (effective, ignored) = config.read_for(key, state);
    let mut findings: Vec<_> = ignored
        .iter()
        .map(|warning| Finding::Doubtful(format!("{key}: {warning}")))
        .collect();
    let changed: Vec<_> = state
        .changed_settings
        .iter()
        .map(|(name, _)| name)
        .collect();
    if !changed.is_empty() {
        findings.push(Finding::Fine(format!(
            "{} of {key} changed by `dormouse config set`: {}",
            counted(changed.len() as u64, "setting", "settings"),
            changed.join(", ")
        )));
        let landmarks = landmarks();
        // Without changes, the ids in the file are checked once for all assistants.
        let of_it = effective.warnings(&landmarks).into_iter();
        let of_the_file = config.warnings(&landmarks);
        findings.extend(
            of_it
                .filter(|warning| !of_the_file.contains(warning))
                .map(|warning| Finding::Doubtful(format!("{key}: {warning}"))),
        );
        let shown = privacy(&effective.memory, &landmarks);
        if shown != privacy(&config.memory, &landmarks) {
            findings.push(Finding::Fine(format!("{key}: {shown}")));
        }
    }
    findings.extend(switched_off(&effective, key, state));
    findings
}

fn switched_off(config: &Config, key: &AssistantId, state: &State) -> Option<Finding> {
    if config.assistant.enabled {
        return None;
    }
    let given = find("assistant.enabled")
        .ok()
        .and_then(|setting| config.given(setting));
    let from = given.map_or_else(
        || "the default".to_owned(),
        |given| given.origin.to_string(),
    );
    Some(Finding::Doubtful(format!(
        "{key} is switched off (assistant.enabled = false, from {from}); {}",
        waiting(state)
    )))
}

fn waiting(state: &State) -> String {
    counted(
        describe::waiting(state) as u64,
        "message waits",
        "messages wait",
    )
}
