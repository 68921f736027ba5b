//! The status of an assistant: from its log, and if it is awake, from its work under way. A request wakes no assistant.

use axum::{Json, extract::State};
use dormouse_contracts::AssistantId;
use dormouse_engine::{
    Activity, BudgetKind, BudgetStatus, ContextSignals, OperatingMode, SafetyCounters, Status,
    WindowLevel,
};
use dormouse_host::FolderWorld;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{assistants::wrong, json};
use crate::{
    extract::Key,
    guard::Caller,
    problem::Problem,
    service::{Service, Shared},
    tokens::Right,
};

/// The status of an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusView {
    /// Its key.
    key: String,
    /// The last event of its log.
    event: u64,
    /// Whether its emergency stop is on.
    emergency_stop: bool,
    /// How many errors occurred without a success between them.
    consecutive_errors: u32,
    /// How many of them trigger the emergency stop.
    max_consecutive_errors: u32,
    /// How often it was stopped, in its whole life.
    stops: u64,
    /// Tools whose last calls failed.
    failures: Vec<FailedTool>,
    /// `awake` or `asleep`: whether it has turns.
    operating_mode: &'static str,
    /// The phase of its sleep: `compacting` or `dreaming`.
    sleep_phase: Option<String>,
    /// How many tools it used since it woke from its last sleep.
    activity_since_wake: u64,
    /// How many messages and other triggers wait for a turn, including the one under way.
    waiting: u64,
    /// How many acts wait for the confirmation of a person.
    approvals: u64,
    /// How many messages ended without an answer.
    unanswered: u64,
    /// How many messages were overheard instead of answered because their senders asked too much.
    overheard: u64,
    /// How many lines were only counted because their senders said too much.
    dropped: u64,
    /// How many ticks had a reason to call a model.
    ticks: u64,
    /// How many memories it stored on purpose.
    memories: u64,
    /// How often the history in its prompts was shortened.
    compactions: u64,
    /// How full its context window was with its last prompt.
    context: ContextFill,
    /// What its model calls used in its whole life.
    spent: LifeSpent,
    /// Its budgets.
    budgets: Vec<BudgetView>,
    /// What decides how far the next tick may go.
    signals: SignalsView,
    /// Where it lives.
    world: WorldView,
    /// Its work under way; absent if it is not awake.
    live: Option<LiveView>,
}

/// Where an assistant lives.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WorldView {
    /// `sandbox`, `http` or `game`.
    kind: &'static str,
    /// The address of the game, and how the assistant is connected to it, for people. Only callers with the right `operate` see
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<String>,
}

/// A tool that failed lately.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FailedTool {
    tool: String,
    /// How many of the last calls failed.
    failed: u64,
    /// How many calls that were.
    calls: u64,
}

/// How full a context window is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ContextFill {
    /// Tokens of the last prompt.
    prompt_tokens: u32,
    /// Tokens of the window.
    max_context_tokens: u32,
    /// `ok`, `warning`, `danger` or `critical`.
    #[schema(value_type = String)]
    level: WindowLevel,
}

/// What the model calls of a whole life used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LifeSpent {
    replies: u64,
    failures: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
}

/// A budget.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BudgetView {
    /// `tokens`, or `money` in millionths of a millionth of a dollar.
    counts: &'static str,
    /// The span of time: `tick`, `hour`, `day` or `life`.
    #[schema(value_type = String)]
    span: Value,
    limit: u64,
    spent: u64,
}

/// What decides how far the next tick may go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignalsView {
    /// How much of the window the last prompt took, in percent.
    token_pressure: u32,
    recent_errors: u32,
    /// Whether a goal or a promise is due.
    goal_urgency: bool,
}

/// What is under way in an assistant that is awake.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LiveView {
    /// What it is doing, as one word.
    activity: &'static str,
    /// Until when it waits, if it waits.
    until: Option<String>,
    /// Since when the oldest message waits.
    waiting_since: Option<String>,
    /// Since when those who wait have heard nothing from it, if that is long.
    slow_since: Option<String>,
    /// Whether its model or world failed so often that waiting makes no sense.
    is_out: bool,
    /// Ticks that did nothing, by reason, since it was woken.
    skipped: SkippedTicks,
    /// Calls that panicked, since it was woken.
    panics: u64,
    /// Tools that are not called for now, because they failed.
    tools_not_attempted: Vec<String>,
    /// When it falls asleep by its schedule.
    falls_asleep_at: Option<String>,
}

/// Ticks that did nothing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SkippedTicks {
    emergency_stop: u64,
    disabled: u64,
    collision: u64,
    waiting: u64,
    asleep: u64,
    idle: u64,
}

/// What is wrong with an assistant, and with what it depends on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthView {
    /// Whether nothing is wrong.
    is_well: bool,
    /// What is wrong with the assistant, as codes from a fixed set.
    wrong: Vec<&'static str>,
    /// Its services: the models of all assistants, and its memory, tools and world if it is awake. Their state follows
    /// from their last calls; no service is called.
    services: Vec<ServiceView>,
}

/// A service that an assistant depends on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServiceView {
    is_well: bool,
    /// Its name and state, for people. It may contain an address or a file, so only callers with the right `operate`
    /// see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Show the status of an assistant.
///
/// It is not woken.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/status/", tag = "assistants",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = StatusView)))]
pub(crate) async fn show(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<StatusView>, Problem> {
    caller.may(Right::Read, &key)?;
    let state = service.state(&key).await?;
    let live = service.host.if_awake(&key).await;
    let live = live.map(|handle| handle.status());
    let now = service.now();
    let safety = SafetyCounters::of(&state);
    let failures = safety.failures.into_iter().map(|it| FailedTool {
        tool: it.tool,
        failed: it.failed as u64,
        calls: it.calls as u64,
    });
    let budgets = BudgetStatus::each(&state, now)
        .into_iter()
        .map(|it| BudgetView {
            counts: match it.kind {
                BudgetKind::Tokens => "tokens",
                BudgetKind::Money => "money",
            },
            span: json(&it.span),
            limit: it.limit,
            spent: it.spent,
        });
    let prompt_tokens = state.counts.prompt_tokens;
    let max_context_tokens = state.configuration.settings.limits.max_context_tokens();
    Ok(Json(StatusView {
        key: key.to_string(),
        event: state.seq.0,
        emergency_stop: state.stop.is_on(),
        consecutive_errors: safety.consecutive_errors,
        max_consecutive_errors: safety.max_consecutive_errors,
        stops: safety.stops,
        failures: failures.collect(),
        operating_mode: match state.sleep.mode {
            OperatingMode::Awake => "awake",
            OperatingMode::Asleep => "asleep",
        },
        sleep_phase: state.sleep.phase().map(|phase| phase.to_string()),
        activity_since_wake: state.sleep.activity_since_wake,
        waiting: live.as_ref().map_or(state.turns.len(), |live| live.waiting) as u64,
        approvals: state.approvals.waiting(now).count() as u64,
        unanswered: state.counts.unanswered,
        overheard: state.admission.overheard,
        dropped: live
            .as_ref()
            .map_or(state.admission.dropped, |live| live.dropped),
        ticks: state.counts.ticks,
        memories: state.counts.remembered,
        compactions: state.compactions.count,
        context: ContextFill {
            prompt_tokens,
            max_context_tokens,
            level: WindowLevel::of(prompt_tokens, max_context_tokens),
        },
        spent: LifeSpent {
            replies: state.spent.replies,
            failures: state.spent.failures,
            prompt_tokens: state.spent.prompt_tokens,
            completion_tokens: state.spent.completion_tokens,
        },
        budgets: budgets.collect(),
        signals: ContextSignals::of(&state, now).into(),
        world: world(&service, &caller, &key),
        live: live.map(live_view),
    }))
}

fn world(service: &Service, caller: &Caller, key: &AssistantId) -> WorldView {
    let world = service.host.world();
    let may_operate = caller.may(Right::Operate, key).is_ok();
    WorldView {
        kind: match world {
            FolderWorld::Sandbox(_) => "sandbox",
            FolderWorld::Http(_) => "http",
            FolderWorld::Game(_) => "game",
        },
        game: world
            .game()
            .filter(|_| may_operate)
            .map(|game| game.to_text(key)),
    }
}

/// Show what is wrong with an assistant.
///
/// It is not woken, and no service is called.
#[utoipa::path(get, path = "/api/ai/assistants/{key}/health/", tag = "assistants",
    params(("key" = String, Path, description = "Its key")),
    responses((status = OK, body = HealthView)))]
pub(crate) async fn health(
    State(service): State<Shared>,
    caller: Caller,
    Key(key): Key,
) -> Result<Json<HealthView>, Problem> {
    caller.may(Right::Read, &key)?;
    let it = service.host.look_up(&key).await?;
    let its = service.host.service_health(Some(&key)).await.into_iter();
    let may_operate = caller.may(Right::Operate, &key).is_ok();
    let services: Vec<_> = its
        .map(|it| ServiceView {
            is_well: it.is_well,
            text: may_operate.then_some(it.text),
        })
        .collect();
    let wrong: Vec<_> = it.wrong.iter().map(wrong).collect();
    Ok(Json(HealthView {
        is_well: wrong.is_empty() && services.iter().all(|it| it.is_well),
        wrong,
        services,
    }))
}

impl From<ContextSignals> for SignalsView {
    fn from(signals: ContextSignals) -> Self {
        Self {
            token_pressure: signals.token_pressure,
            recent_errors: signals.recent_errors,
            goal_urgency: signals.goal_urgency,
        }
    }
}

fn live_view(status: Status) -> LiveView {
    let (activity, until) = activity(&status.activity);
    let skipped = status.skipped;
    LiveView {
        activity,
        until,
        waiting_since: status.waiting_since.map(|at| at.to_string()),
        slow_since: status.slow_since.map(|at| at.to_string()),
        is_out: status.is_out,
        skipped: SkippedTicks {
            emergency_stop: skipped.emergency_stop,
            disabled: skipped.disabled,
            collision: skipped.collision,
            waiting: skipped.waiting,
            asleep: skipped.asleep,
            idle: skipped.idle,
        },
        panics: status.panics,
        tools_not_attempted: status.tools_not_attempted,
        falls_asleep_at: status.falls_asleep_at.map(|at| at.to_string()),
    }
}

/// Its activity as one word, and until when. External causes are left out, because they may name files.
fn activity(activity: &Activity) -> (&'static str, Option<String>) {
    match activity {
        Activity::Idle => ("idle", None),
        Activity::Thinking => ("thinking", None),
        Activity::Acting => ("acting", None),
        Activity::Waiting(until) => ("waiting", Some(until.to_string())),
        Activity::WorldUnreachable { until, .. } => ("world_unreachable", Some(until.to_string())),
        Activity::OverBudget { until } => ("over_budget", Some(until.to_string())),
        Activity::Paused(_) => ("paused", None),
        Activity::Stalled { .. } => ("stalled", None),
        Activity::Asleep { until, .. } => ("asleep", Some(until.to_string())),
        Activity::Disabled => ("disabled", None),
        Activity::Stopped(_) => ("stopped", None),
        _ => ("other", None),
    }
}
