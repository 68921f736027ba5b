//! Events and states of an assistant in words, each on one line.

use dormouse_classify::Rule;
use dormouse_contracts::{
    Audience, ModelName, Outcome, ProviderId, Purpose, Sender, SourceKind, StoredEvent, Timestamp,
    Usd, invariant,
};
use dormouse_engine::{
    Activity, ApprovalAnswer, AssessmentOutcome, BudgetKind, BudgetSpan, BudgetStatus, Compacted,
    Configured, ConsolidationEndCause, ConsultationFailure, DelayCause, Event, FactsBefore,
    GoalMoment, GoalNote, GoalUpdated, ModelFailed, MovedTrust, NameDoubt, OfferCause, Pause,
    Perceived, ProjectUpdated, Pursuit, Refusal, RosterChange, SafetyCounters, Selected, Skipped,
    State, Status, StopCause, SummaryFailure, TaskAssessed, TickEnded, ToolFailures, ToolsOffered,
    UnansweredCause, Verdict, WindowLevel,
};
use dormouse_memory::RecordId;
use dormouse_providers::ModelSwitch;
use dormouse_text::{escape_id, shortened};

use crate::{
    commitment,
    grammar::{attributed, counted},
};

/// A sentence for a switch to another model.
pub(crate) fn switch(switch: &ModelSwitch) -> String {
    let of = |(provider, model): &(ProviderId, ModelName)| match provider.as_str() == model.as_str()
    {
        true => provider.to_string(),
        false => format!("{provider}:{model}"),
    };
    let (from, to, cause) = (of(&switch.from), of(&switch.to), switch.cause);
    let what = match switch.purpose {
        Purpose::Answer => String::new(),
        other => format!(" ({other})"),
    };
    if switch.is_return() {
        format!("{to} {cause} and answers again in place of {from}{what}.")
    } else {
        format!("{to} answers in place of {from}, which {cause}{what}.")
    }
}

mod delegation;
mod journal;
pub(crate) mod sleep;
#[cfg(test)]
mod tests;

/// How much of a text is printed.
const EXCERPT: usize = 160;

/// An event in words. If this program cannot read an event, it prints the event unchanged.
pub(crate) fn event(stored: &StoredEvent) -> String {
    let what = match Event::decode(stored) {
        Ok(event) => decoded(&event),
        Err(error) => format!(
            "{error}: {}",
            excerpt(&String::from_utf8_lossy(&stored.payload))
        ),
    };
    format!(
        "{:>6}  {}  {:<24} {what}",
        stored.seq, stored.at, stored.kind
    )
}

/// Why a rule that depends on earlier messages decided.
fn reason(rule: Rule) -> &'static str {
    match rule == Rule::ExchangeLimit {
        true => " (enough exchanges with other assistants until a person says something)",
        false => "",
    }
}

/// Why a message is not answered although the rules call for an answer.
fn refusal(refused: Option<Refusal>) -> &'static str {
    match refused {
        Some(Refusal::Waiting) => " (not answered: too many messages of its sender wait)",
        Some(Refusal::CoolDown) => " (not answered: its sender had many answers lately)",
        Some(Refusal::Flood) => " (not answered: its sender says too much)",
        // `reason` already says so.
        Some(Refusal::Exchanges) | None => "",
        Some(_) => " (not answered)",
    }
}

/// The trust of a message, and why it differs from that of its source.
fn trust(perceived: &Perceived) -> String {
    let Some(MovedTrust { source, by }) = perceived.moved else {
        return perceived.trust.to_string();
    };
    format!(
        "{} ({source}, moved by {} with a trust of {})",
        perceived.trust,
        counted(by.interactions, "earlier message", "earlier messages"),
        by.trust
    )
}

/// The selection of what was forgotten, without its words.
fn selected(selected: &Selected) -> String {
    match selected {
        Selected::Person { ids } if ids.is_empty() => {
            "what is stored about a name without an id".to_owned()
        }
        Selected::Person { ids } => {
            let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
            format!(
                "what {} said, and what is stored about them",
                ids.join(", ")
            )
        }
        Selected::Record { record, messages } if messages.is_empty() => format!("record {record}"),
        Selected::Record { record, messages } => {
            let messages: Vec<_> = messages.iter().map(ToString::to_string).collect();
            format!(
                "record {record} and what it was made from ({})",
                messages.join(", ")
            )
        }
        Selected::Span { from, until } => {
            let from = from.map_or_else(|| "the beginning".to_owned(), |at| at.to_string());
            let until = until.map_or_else(|| "the end".to_owned(), |at| at.to_string());
            format!("from {from} to {until}")
        }
        Selected::Secrets => "secrets".to_owned(),
        Selected::Unreferred { before } => {
            format!("what was said before {before}, if nothing refers to it")
        }
        Selected::Carried => "words that tasks of other assistants brought here".to_owned(),
        _ => "a text".to_owned(),
    }
}

fn decoded(event: &Event) -> String {
    match event {
        Event::Configured(it) => configured(it),
        Event::Woke(_) => "while somebody waits".to_owned(),
        Event::Perceived(it) => {
            let attested = &it.perception.attested;
            format!(
                "{} by rule {}{}{}, trust {}: {} from {}{}: {}",
                it.classification.verdict,
                it.classification.rule,
                reason(it.classification.rule),
                refusal(it.refused),
                trust(it),
                source_name(&attested.source),
                attested.sender.name(),
                id_of(&attested.sender, &it.doubts),
                excerpt(it.perception.words.as_claimed())
            )
        }
        Event::LinesDropped(it) => {
            let lines = counted(it.lines, "line", "lines");
            let entity = it.entity.as_ref();
            let by = entity.map_or_else(
                || "unnamed senders".to_owned(),
                |id| escape_id(id.as_str()).to_string(),
            );
            format!("{lines} from {by} only counted: too many in a minute")
        }
        Event::TickStarted(it) => {
            let context = it.context.row().name;
            format!("tick {} ({context}) on event {}", it.tick, it.trigger)
        }
        Event::TaskAssessed(it) => task_assessed(it),
        Event::ToolsOffered(it) => tools_offered(it),
        Event::Replied(it) => {
            let calls: Vec<_> = it.calls.iter().map(|call| call.name.as_str()).collect();
            let said = if calls.is_empty() {
                "text".to_owned()
            } else {
                calls.join(", ")
            };
            format!(
                "{} in {}, prompt of {} tokens: {said}",
                it.model,
                rounded(it.duration_ms),
                it.prompt_tokens
            )
        }
        Event::ParseFailed(it) => excerpt(&it.note),
        Event::ModelFailed(it) => {
            let context_limit = it.context_limit.map(|context_limit| {
                let tokens = context_limit.tokens;
                format!(": tried again with at most {tokens} tokens")
            });
            let reason = it.reason.as_ref().map(|reason| format!(": {reason}"));
            let pause =
                paused(it).map(|pause| format!(": not called again {}", self::pause(&pause)));
            format!(
                "{}{} after {} in {}{}{}",
                it.kind,
                reason.unwrap_or_default(),
                counted(it.attempts, "attempt", "attempts"),
                rounded(it.duration_ms),
                context_limit.unwrap_or_default(),
                pause.unwrap_or_default()
            )
        }
        Event::ToolAnswered(it) => {
            format!(
                "{} {}: {}",
                it.tool,
                ending(it.verdict),
                excerpt(&it.content)
            )
        }
        Event::Remembered(it) => format!(
            "from {}, trust {}: {}",
            attributed(&it.from),
            it.trust,
            excerpt(&it.text)
        ),
        Event::Forgotten(it) => {
            let reason = match it.reason.is_empty() {
                true => String::new(),
                false => format!(" ({})", it.reason),
            };
            let events = counted(it.events, "event", "events");
            format!(
                "{events} lost words, by {}{reason}: {}",
                it.by,
                selected(&it.selected)
            )
        }
        Event::Recollected(it) => match it.failure {
            Some(failure) => format!("nothing: {}", failure.reason()),
            None => {
                let found = counted(it.items.len() as u64, "memory", "memories");
                let withheld = it.withheld.iter();
                let withheld = withheld.map(|one| withheld_record(one.record, &one.audience));
                [found]
                    .into_iter()
                    .chain(withheld)
                    .collect::<Vec<_>>()
                    .join("; ")
            }
        },
        Event::EntityChanged(it) => {
            let change = invariant!(serde_json::to_string(&it.change), "a change is JSON");
            format!("by {} ({}): {}", it.author, it.reason, excerpt(&change))
        }
        Event::MemoryChanged(it) => {
            let change = invariant!(serde_json::to_string(&it.change), "a change is JSON");
            format!("by {} ({}): {}", it.author, it.reason, excerpt(&change))
        }
        Event::Consulted(it) => format!(
            "{} for {}: {}",
            it.model,
            it.about.purpose(),
            excerpt(&it.reply.content)
        ),
        Event::ConsultationFailed(it) => {
            let cause = match it.cause {
                ConsultationFailure::Refused(kind) => format!("refused: {kind}"),
                ConsultationFailure::Unanswered(kind) => format!("no reply: {kind}"),
                _ => "the reply cannot be read".to_owned(),
            };
            format!("{}: {cause}", it.about.purpose())
        }
        Event::ConsolidationBegan(it) => format!("by {}", it.author),
        Event::Compacted(it) => compacted(it),
        Event::HistorySummarized(it) => format!(
            "{} for events {} to {}: {}",
            it.model,
            it.span.from,
            it.span.to,
            excerpt(&it.text)
        ),
        Event::SummaryFailed(it) => format!(
            "of what begins with event {}: {}",
            it.from,
            match it.cause {
                SummaryFailure::Model(kind) => kind.to_string(),
                SummaryFailure::Empty => "the reply holds no words".to_owned(),
                _ => "nothing of it is kept in prompts".to_owned(),
            }
        ),
        Event::ConsolidationEnded(it) => match it.cause {
            ConsolidationEndCause::Done => "done".to_owned(),
            ConsolidationEndCause::MaxRequests => "as many requests as allowed".to_owned(),
            ConsolidationEndCause::Stopped => "the emergency stop is on".to_owned(),
            ConsolidationEndCause::BudgetSpent => "the budget is spent for now".to_owned(),
            ConsolidationEndCause::ModelFailed(kind) => format!("the model failed: {kind}"),
            _ => String::new(),
        },
        Event::EffectIntended(it) => {
            let arguments = invariant!(serde_json::to_string(&it.arguments), "arguments are JSON");
            format!("{} {}", it.tool, excerpt(&arguments))
        }
        Event::EffectSettled(it) => outcome(&it.outcome),
        Event::WorldFailed(it) => world_failure(it.reason.as_deref()),
        Event::Unanswered(it) => format!(
            "the message of {} (event {}): {}{}",
            it.from,
            it.trigger,
            unanswered(it.cause),
            if it.calls.is_empty() {
                ""
            } else {
                "; the sender is informed"
            }
        ),
        Event::Delayed(it) => {
            let what = match it.cause {
                DelayCause::Outage => "informed that the model gives no answers",
                DelayCause::Budget => "informed that the budget is spent for now",
                _ => "asked to wait",
            };
            format!("the sender of event {} is {what}", it.trigger)
        }
        Event::TickEnded(it) => tick_ended(it),
        Event::EmergencyStopTriggered(it) => stop_reason(&it.cause, it.reason.as_deref()),
        Event::StopNoticeIntended(it) => {
            let arguments = invariant!(serde_json::to_string(&it.arguments), "arguments are JSON");
            format!("{} {}", it.tool, excerpt(&arguments))
        }
        Event::StopNoticeSettled(it) => outcome(&it.outcome),
        Event::HistoryReset(it) => format!("by {}", it.reset_by),
        Event::EmergencyStopCleared(it) => format!("by {}", it.cleared_by),
        Event::ApprovalRequested(it) => {
            let arguments = invariant!(serde_json::to_string(&it.arguments), "arguments are JSON");
            format!(
                "{} {}, until {}",
                it.tool,
                excerpt(&arguments),
                it.expires_at
            )
        }
        Event::ApprovalAnswered(it) => {
            let answer = match it.answer {
                ApprovalAnswer::Allowed => "confirmed",
                ApprovalAnswer::Denied => "refused",
            };
            let reason = it.reason.as_deref().map(excerpt);
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{answer} event {} by {}{reason}", it.approval, it.by)
        }
        Event::CallReserved(it) => {
            let cost = it.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
            let tokens = counted(it.tokens, "token", "tokens");
            format!("{tokens}{cost}, at most")
        }
        Event::RetryRequested(it) => format!("by {}", it.requested_by),
        Event::SettingChanged(it) => {
            let value = |value: &Option<serde_json::Value>| match value {
                Some(value) => value.to_string(),
                None => "as configured".to_owned(),
            };
            let (old, new) = (value(&it.old), value(&it.new));
            format!("{}: {old} -> {new}, by {}", it.setting, it.by)
        }
        Event::RosterChanged(it) => format!("{}, by {}", roster(&it.change), it.author),
        Event::GoalCreated(it) => {
            let goal = excerpt(&it.description.text);
            format!("goal {}, by {}: {goal}", it.id, it.author)
        }
        Event::GoalUpdated(it) => format!("goal {}{}, by {}", it.id, goal_change(it), it.author),
        Event::GoalCompleted(it) => {
            let outcome = it.outcome.as_ref().map(|outcome| excerpt(&outcome.text));
            let outcome = outcome.unwrap_or_else(|| "all its parts are done".to_owned());
            format!("goal {}, by {}: {outcome}", it.id, it.author)
        }
        Event::GoalPursued(it) => {
            let what = match it.pursuit {
                Pursuit::Progress => "brought further",
                Pursuit::Nothing => "nothing came of it",
                Pursuit::Failed => "given up after errors",
            };
            let next = it.next_at.map(|at| format!("; next at {at}"));
            let blocked = it.blocked.map(|blocked| format!("; {blocked}"));
            let rest = next.or(blocked).unwrap_or_default();
            format!("goal {}: {what}{rest}", it.id)
        }
        Event::CommitmentEnded(it) => format!(
            "{}: event {}, for {}",
            commitment::status(it.outcome),
            it.commitment,
            it.entity
        ),
        Event::TaskDelegated(_)
        | Event::DelegateChosen(_)
        | Event::TaskReceived(_)
        | Event::TaskAnswered(_)
        | Event::TaskCancelled(_)
        | Event::DelegationEnded(_) => delegation::of(event),
        Event::ProjectCreated(it) => {
            let summary = excerpt(&it.summary.text);
            format!("{}, {}, by {}: {summary}", it.id, it.status, it.author)
        }
        Event::ProjectUpdated(it) => format!("{}{}, by {}", it.id, project_change(it), it.author),
        Event::ProjectSwapped(it) => {
            let from = it.from.map(|from| format!("{from} -> "));
            let from = from.unwrap_or_default();
            let why = it.reasoning.as_ref().or(it.update.as_ref());
            let why = why.map(|why| format!(": {}", excerpt(&why.text)));
            format!(
                "{from}{}, by {}{}",
                it.to,
                it.author,
                why.unwrap_or_default()
            )
        }
        Event::SelfNoted(it) => {
            let words = excerpt(&it.note.text);
            format!("{} {}, by {}: {words}", it.kind, it.id, it.author)
        }
        Event::SelfNoteDropped(it) => format!("note {}, by {}", it.id, it.author),
        Event::JournalChanged(it) => journal::of(it),
        Event::ReflectionRequested(it) => format!("by {}: {}", it.author, it.reason),
        Event::ReflectionRecorded(it) => journal::looked_back(it),
        Event::FellAsleep(_)
        | Event::NightStepped(_)
        | Event::NightProbed(_)
        | Event::WokeUp(_) => sleep::of(event),
    }
}

/// The changes of a goal.
fn goal_change(it: &GoalUpdated) -> String {
    let status = it.status.as_ref().map(|status| status.to_text());
    let priority = it.priority.map(|priority| format!("priority {priority}"));
    let parent = it.parent_id.map(|parent| format!("part of {parent}"));
    let moment = it.moment.map(|moment| match moment {
        GoalMoment::Never => "due at no moment".to_owned(),
        GoalMoment::At(at) => format!("due at {at}"),
        GoalMoment::Repeating { first, every } => format!("due {every}, first at {first}"),
    });
    let note = it.note.as_ref().map(|note| excerpt(&note.text));
    let changes = [status, priority, parent, moment, note];
    let changes = changes.into_iter().flatten();
    changes.map(|change| format!(", {change}")).collect()
}

/// The changes of a project.
fn project_change(it: &ProjectUpdated) -> String {
    let status = it.status.map(|status| status.to_string());
    let words = |note: &Option<GoalNote>| note.as_ref().map(|note| excerpt(&note.text));
    let changes = [status, words(&it.summary), words(&it.context)];
    let changes = changes.into_iter().flatten();
    changes.map(|change| format!(", {change}")).collect()
}

/// What an operator decided about the assistant as a whole.
fn roster(change: &RosterChange) -> String {
    match change {
        RosterChange::Created(it) => match &it.clone_of {
            Some((from, _)) => format!("created as {}, a clone of {from}", it.name),
            None => format!("created as {}", it.name),
        },
        RosterChange::Tagged(tags) => {
            let tags: Vec<_> = tags.iter().map(|tag| tag.as_str()).collect();
            format!("tags: {}", tags.join(", "))
        }
        RosterChange::Archived => "archived".to_owned(),
        RosterChange::Restored => "restored".to_owned(),
        _ => "changed".to_owned(),
    }
}

/// The assessment of a task.
fn task_assessed(it: &TaskAssessed) -> String {
    let assessment = &it.assessment;
    let by = match it.asked.as_ref().map(|call| &call.outcome) {
        None => "by rules".to_owned(),
        Some(AssessmentOutcome::Replied {
            model, complexity, ..
        }) => match complexity {
            Some(_) => format!("by {model}"),
            None => format!("by rules, since the reply of {model} cannot be read"),
        },
        Some(AssessmentOutcome::Failed(kind)) => format!("by rules, since the call failed: {kind}"),
    };
    let steps = assessment.iterations.map_or_else(String::new, |steps| {
        format!(", {} at most", counted(steps, "step", "steps"))
    });
    format!("complexity {}{steps}, {by}", assessment.complexity)
}

/// The choice of tools that prompts offer.
fn tools_offered(it: &ToolsOffered) -> String {
    let why = match it.cause {
        OfferCause::Turn => "for this turn",
        OfferCause::Search => "after a search",
        OfferCause::Call => "because the model called a tool that was not shown",
        _ => "for another reason",
    };
    format!(
        "{} chosen {why}, {} left out; definitions take {}",
        counted(it.tools.len() as u64, "tool", "tools"),
        it.left_out,
        counted(it.tokens, "token", "tokens"),
    )
}

fn configured(it: &Configured) -> String {
    let parts = [
        ("program", it.program.is_some()),
        ("persona", it.persona.is_some()),
        ("settings", it.settings.is_some()),
        ("model", it.model.is_some()),
        ("services", it.services.is_some()),
        ("tools", it.tools.is_some() || !it.specs.is_empty()),
    ];
    let changed = parts.into_iter().filter(|(_, changed)| *changed);
    let changed: Vec<_> = changed.map(|(part, _)| part).collect();
    let model = it.model.as_ref();
    let model = model.map(
        |model| match model.name.as_str() == model.provider.as_str() {
            true => format!("; the model is {}", model.name),
            false => format!("; the model is {} of {}", model.name, model.provider),
        },
    );
    format!(
        "{} changed{}",
        changed.join(", "),
        model.unwrap_or_default()
    )
}

/// Why a message ends without an answer.
pub(crate) fn unanswered(cause: UnansweredCause) -> String {
    match cause {
        UnansweredCause::Refused => "the provider refused every prompt that contains it".to_owned(),
        UnansweredCause::WindowTooSmall(tokens) => format!(
            "the model's context window is too small: it takes no prompt of {tokens} tokens, and none with this message can be \
             shorter"
        ),
        UnansweredCause::Failures(count) => {
            format!("it led to {} in a row", counted(count, "error", "errors"))
        }
        UnansweredCause::NoReply(seconds) => {
            let lasted = match u64::from(seconds) {
                ..120 => counted(seconds, "second", "seconds"),
                _ => counted(seconds / 60, "minute", "minutes"),
            };
            format!(
                "its model's server gave no reply to it for {lasted}, and nothing else was asked meanwhile"
            )
        }
        UnansweredCause::EndlessTurn(ticks) => {
            let ticks = counted(ticks, "tick", "ticks");
            format!("it took {ticks} without coming to an end")
        }
        UnansweredCause::NoMoreSteps => {
            "the model used up its steps without giving an answer".to_owned()
        }
        UnansweredCause::NoMoreRoom => {
            "the model filled its context window without giving an answer".to_owned()
        }
        UnansweredCause::Silence => "the model chose to say nothing".to_owned(),
        UnansweredCause::Unknown => {
            "nobody knows whether its answer was heard, and it is not repeated".to_owned()
        }
        UnansweredCause::BrokenOff => "the world took only the beginning of the answer".to_owned(),
        UnansweredCause::RepeatedCall => {
            "the model made the same call with the same result again and again".to_owned()
        }
        UnansweredCause::NotHeard => {
            "something was said, but the one who asked did not hear it".to_owned()
        }
        UnansweredCause::NotAdmitted(Refusal::Exchanges) => {
            "enough messages of other assistants were answered until a person says something"
                .to_owned()
        }
        UnansweredCause::NotAdmitted(_) => "its sender asks more than can be answered".to_owned(),
        UnansweredCause::NoSpeech => {
            "no tool can answer in the way in which it was said".to_owned()
        }
        _ => "for a reason that this version does not know".to_owned(),
    }
}

/// A record that was left out of a prompt, and why, for the operator.
pub(crate) fn withheld_record(record: RecordId, audience: &Audience) -> String {
    format!("#{record} left out, because it is known to {audience}")
}

/// A sentence that says that the world could not be reached, and why.
pub(crate) fn world_failure(reason: Option<&str>) -> String {
    let reason = reason.map(|reason| format!(": {}", excerpt(reason)));
    format!(
        "the world could not be reached{}",
        reason.unwrap_or_default()
    )
}

/// The pause that followed a failed call, if there was one.
pub(crate) fn paused(failed: &ModelFailed) -> Option<Pause> {
    let (by, until) = (failed.service.clone()?, failed.paused_until?);
    Some(Pause { by, until })
}

/// A pause in words: `until 04:43 UTC (requested by openai:…)`.
pub(crate) fn pause(pause: &Pause) -> String {
    format!("until {} (requested by {})", minute(pause.until), pause.by)
}

/// As in `04:43 UTC`.
fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} UTC", text.get(11..16).unwrap_or(&text))
}

/// As in `04:43:05 UTC`.
pub(crate) fn second(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} UTC", text.get(11..19).unwrap_or(&text))
}

/// A duration in the largest unit that fits: `120 ms`, `1.5 s`, `2 min 5 s`.
fn rounded(milliseconds: f64) -> String {
    if milliseconds < 0.5 {
        return "under 1 ms".to_owned();
    }
    // A value that rounds up to the next unit is written in that unit.
    if milliseconds < 999.5 {
        return format!("{milliseconds:.0} ms");
    }
    let seconds = milliseconds / 1_000.0;
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let seconds = seconds.round();
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0} min {:.0} s", seconds - 60.0 * minutes)
}

/// The outcome of an act.
fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(_) => "done".to_owned(),
        Outcome::Rejected(rejection) => format!("rejected: {}", excerpt(&rejection.reason)),
        Outcome::Unknown => "unknown whether it happened".to_owned(),
    }
}

/// Why an assistant was stopped, with the reason that somebody gave.
pub(crate) fn stop_reason(cause: &StopCause, reason: Option<&str>) -> String {
    let cause = stop_cause(cause);
    match reason {
        Some(reason) => format!("{cause}: {}", excerpt(reason)),
        None => cause,
    }
}

/// Why an assistant was stopped.
pub(crate) fn stop_cause(cause: &StopCause) -> String {
    match cause {
        StopCause::ConsecutiveErrors(count) => {
            format!("{} in a row", counted(*count, "error", "errors"))
        }
        StopCause::FailureRate(tool) => format!("the tool {tool} failed in most of its last calls"),
        StopCause::Operator(who) => format!("stopped by {who}"),
        StopCause::Credentials => {
            "the provider refused the credentials: check the key, then clear the stop".to_owned()
        }
        _ => "a reason that this version does not know".to_owned(),
    }
}

/// How much of the history prompts no longer show.
fn compacted(it: &Compacted) -> String {
    let dropped: usize = it.dropped.iter().map(|span| span.turns.len()).sum();
    let facts = match it.extraction {
        None => String::new(),
        Some(FactsBefore::Added(facts) | FactsBefore::Partly(facts)) => {
            format!("; {} made before", counted(facts, "fact", "facts"))
        }
        Some(_) => "; no facts could be extracted before".to_owned(),
    };
    format!(
        "shortened from {} to {} of {} tokens: the results of {} are one line each, {} left out{facts}",
        it.before,
        it.after,
        it.window,
        counted(it.masked.len() as u64, "turn", "turns"),
        counted(dropped as u64, "turn is", "turns are"),
    )
}

/// What an assistant is doing, in a word or two.
pub(crate) fn activity(activity: &Activity) -> String {
    match activity {
        Activity::Idle => "awake".to_owned(),
        Activity::Thinking => "thinking".to_owned(),
        Activity::Acting => "acting".to_owned(),
        Activity::Waiting(at) => format!("waiting until {}", second(*at)),
        Activity::WorldUnreachable { until, .. } => {
            format!("waiting for its world until {}", second(*until))
        }
        Activity::OverBudget { until } => {
            format!("waiting for its budget until {}", second(*until))
        }
        Activity::Paused(it) => format!("waiting {}", pause(it)),
        Activity::Stalled { cause } => format!("waiting until its log can be written: {cause}"),
        Activity::Asleep { until, .. } => format!("asleep until {}", second(*until)),
        Activity::Disabled => "switched off".to_owned(),
        Activity::Stopped(_) => "stopped".to_owned(),
        _ => "busy".to_owned(),
    }
}

/// Since when messages wait, and what the assistant waits for; `None` if a call is under way.
pub(crate) fn held(name: &str, status: &Status) -> Option<String> {
    let is_held = matches!(
        status.activity,
        Activity::Waiting(_)
            | Activity::OverBudget { .. }
            | Activity::WorldUnreachable { .. }
            | Activity::Paused(_)
    );
    let since = status.waiting_since.filter(|_| is_held)?;
    Some(format!(
        "No answer since {}: {name} is {}. Messages are kept.",
        second(since),
        activity(&status.activity)
    ))
}

/// How many messages wait for an answer, the one being worked on included.
pub(crate) fn waiting(state: &State) -> usize {
    state.turns.len()
}

/// The status on one line, with the number of memories if it is known.
pub(crate) fn status(status: &Status, memories: Option<u64>) -> String {
    let mut doing = activity(&status.activity);
    if let Activity::Stopped(cause) = &status.activity {
        doing = format!("stopped ({})", stop_cause(cause));
    }
    if let Activity::WorldUnreachable { cause, .. } = &status.activity {
        doing = format!("{doing} ({})", world_failure(cause.as_deref()));
    }
    let memories = memories.map(|count| format!("; {}", counted(count, "memory", "memories")));
    let mut text = format!(
        "{doing}; {} of {} tokens in its last prompt{}; {}; {}{}; {} answered and {} failed, {} tokens in and \
         {} out",
        status.prompt_tokens,
        status.max_context_tokens,
        match status.window_level {
            WindowLevel::Ok => String::new(),
            level => format!(" ({})", level.as_str()),
        },
        counted(status.waiting as u64, "message waits", "messages wait"),
        counted(status.seq.0, "event", "events"),
        memories.unwrap_or_default(),
        counted(status.spent.replies, "model call", "model calls"),
        status.spent.failures,
        status.spent.prompt_tokens,
        status.spent.completion_tokens,
    );
    if let Some(at) = status.last_compaction {
        let times = counted(status.compactions, "time", "times");
        text += &format!(
            "; earlier turns left out of prompts {times}, last at {}",
            second(at)
        );
    }
    if status.summaries_skipped > 0 {
        let spans = counted(status.summaries_skipped, "summary was", "summaries were");
        text += &format!("; {spans} given up after three failures");
    }
    if status.unanswered > 0 {
        let messages = counted(status.unanswered, "message", "messages");
        text += &format!("; {messages} ended without an answer");
    }
    if status.panics > 0 {
        text += &format!("; {} panicked", counted(status.panics, "call", "calls"));
    }
    if status.approvals > 0 {
        let acts = counted(status.approvals as u64, "act waits", "acts wait");
        text += &format!("; {acts} to be confirmed (`dormouse approvals`)");
    }
    text += &safety(&status.safety);
    for tool in &status.tools_not_attempted {
        text += &format!("; {tool} did not answer and is not called for now");
    }
    text += &sleep::status(status);
    text += &ticks(status);
    for budget in &status.budgets {
        text += &format!("; {} left {}", left_of(budget), span_of(budget));
    }
    if status.overheard > 0 {
        let messages = counted(status.overheard, "message", "messages");
        text += &format!("; {messages} overheard instead of answered");
    }
    if status.dropped > 0 {
        let lines = counted(status.dropped, "line", "lines");
        text += &format!("; {lines} only counted, because their senders said too much");
    }
    if let Some(answered) = status.exchanges {
        let messages = counted(u64::from(answered), "message", "messages");
        text += &format!(
            "; answers no other assistant until a person says something ({messages} of theirs answered since; \
             limits.max_exchanges)"
        );
    }
    text
}

/// How many ticks there were since the program began, and why some of them did nothing.
fn ticks(status: &Status) -> String {
    let Skipped {
        emergency_stop,
        disabled,
        collision,
        waiting,
        asleep,
        idle,
    } = status.skipped;
    let reasons = [
        (idle, "with nothing to do"),
        (asleep, "asleep"),
        (waiting, "waiting"),
        (collision, "during another tick"),
        (disabled, "while it was switched off"),
        (emergency_stop, "while it was stopped"),
    ];
    let skipped = reasons.into_iter().filter(|(count, _)| *count > 0);
    let skipped: Vec<_> = skipped
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    match skipped.is_empty() {
        true => String::new(),
        false => format!(
            "; {} in its life; skipped since it woke: {}",
            counted(status.ticks, "tick", "ticks"),
            skipped.join(", ")
        ),
    }
}

/// How much is left of a budget.
pub(crate) fn left_of(budget: &BudgetStatus) -> String {
    let of = |amount: u64| match budget.kind {
        BudgetKind::Tokens => counted(amount, "token", "tokens"),
        BudgetKind::Money => Usd::from_picos(amount).to_string(),
    };
    format!("{} of {}", of(budget.left()), of(budget.limit))
}

/// The span of time that a budget is for.
pub(crate) fn span_of(budget: &BudgetStatus) -> &'static str {
    match budget.span {
        BudgetSpan::Tick => "in a tick",
        BudgetSpan::Hour => "in an hour",
        BudgetSpan::Day => "in a day",
        BudgetSpan::Life => "in its life",
    }
}

/// How often it was stopped and what may stop it, as a suffix; empty if all is well.
pub(crate) fn safety(counters: &SafetyCounters) -> String {
    let mut text = String::new();
    if counters.stops > 0 {
        text += &format!("; stopped {}", counted(counters.stops, "time", "times"));
    }
    if counters.consecutive_errors > 0 {
        text += &format!(
            "; {} of {} errors in a row",
            counters.consecutive_errors, counters.max_consecutive_errors
        );
    }
    for ToolFailures {
        tool,
        failed,
        calls,
    } in &counters.failures
    {
        let calls = counted(*calls as u64, "call", "calls");
        text += &format!("; {tool} failed in {failed} of its last {calls}");
    }
    text
}

/// The name of a source, without its channel.
pub(crate) fn source_name(source: &SourceKind) -> &'static str {
    match source {
        SourceKind::Whisper => "whisper",
        SourceKind::Page => "page",
        SourceKind::Addressed => "addressed",
        SourceKind::Channel(_) => "channel",
        SourceKind::Say => "say",
        SourceKind::Pose => "pose",
        SourceKind::Movement => "movement",
        SourceKind::Emit => "emit",
        SourceKind::CommandOutput => "command_output",
        _ => "other",
    }
}

/// Why a tick ended, its number, how long it lasted and what it did.
fn tick_ended(ended: &TickEnded) -> String {
    let later = ended.resume_at.map(|at| format!("; goes on at {at}"));
    let tick = ended.tick.map(|tick| format!("; tick {tick}"));
    let lasted = ended.duration_ms.map(|lasted| format!(", {lasted:.1} ms"));
    let action = ended.action.as_ref().map(|tool| format!(", {tool}"));
    let rest: String = [later, tick, lasted, action]
        .into_iter()
        .flatten()
        .collect();
    format!("{}{rest}", ended.reason.code())
}

pub(crate) fn ending(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "succeeded",
        Verdict::Failure => "failed",
        Verdict::Skipped => "was skipped",
        Verdict::Deferred => "was deferred",
    }
}

/// The id of a sender, because names can look alike.
fn id_of(sender: &Sender, doubts: &[NameDoubt]) -> String {
    let doubts: String = doubts.iter().map(|doubt| format!("; {doubt}")).collect();
    let id = sender.id().map(|id| escape_id(id.as_str()));
    id.map(|id| format!(" ({id}{doubts})")).unwrap_or_default()
}

/// The beginning of a text, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    shortened(&text.replace(['\n', '\r'], " "), EXCERPT).into_owned()
}
