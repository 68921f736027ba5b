//! A resident as the pages show it: its state, whether it is awake, and what it needs somebody for.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, ReadEvents, Seq, Timestamp};
use dormouse_engine::{
    Activity, BudgetKind, BudgetSpan, BudgetStatus, GoalStatus, OperatingMode, SafetyCounters,
    State, Status, StopCause,
};
use dormouse_host::{
    Summary,
    roster::{LookedUp, Wrong},
};

use serde::Deserialize;

use super::words::{counted, grouped};
use crate::{
    guard::Caller,
    looking_back::prepare,
    problem::{Problem, ProblemCode},
    service::{Service, Shared},
    tokens::Right,
};

/// When a budget counts as low if the configuration does not say.
const LOW_PERCENT: u32 = 10;

/// A resident.
pub(super) struct Seen {
    pub(super) key: AssistantId,
    pub(super) name: String,
    /// Its state now, or as it was after the event that is looked at.
    pub(super) state: Arc<State>,
    /// The event of the past that is looked at. Everything but the state is as it is now.
    pub(super) past: Option<Moment>,
    /// The last event of its log.
    pub(super) end: Seq,
    /// Whether its emergency stop is on.
    pub(super) is_stopped: bool,
    /// Whether somebody put it away for good.
    pub(super) is_archived: bool,
    /// What it is doing: a word for its colour, and words for people.
    pub(super) doing: (&'static str, String),
    /// The game that it lives in, and how it is connected to it.
    pub(super) game: Option<String>,
    /// What is under way, if it is awake.
    pub(super) live: Option<Box<Status>>,
    /// What it needs somebody for, the most urgent first.
    pub(super) needs: Vec<Need>,
}

/// A moment of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// The last event that had happened.
    pub(super) seq: Seq,
    /// When it had happened.
    pub(super) at: Timestamp,
}

/// Which moment a page shows.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct When {
    /// After this event; now if absent.
    pub(super) at: Option<u64>,
}

/// Something that somebody has to see to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) kind: NeedKind,
    /// What, in a sentence. It may hold words of others.
    pub(super) text: String,
}

/// What a resident needs somebody for, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NeedKind {
    /// Its emergency stop is on.
    Stopped,
    /// An act waits for somebody who confirms it; its number.
    Approval(Seq),
    /// The assistant failed, or its world fails.
    Error,
    /// A goal cannot be pursued until somebody opens it; its number.
    Blocked(u32),
    /// Little of a budget is left.
    Budget,
    /// Somebody switched it off.
    Off,
}

impl NeedKind {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Approval(_) => "approval",
            Self::Error => "error",
            Self::Blocked(_) => "blocked",
            Self::Budget => "budget low",
            Self::Off => "switched off",
        }
    }
}

impl Seen {
    /// Looks at a resident, if the caller may. Nobody is woken.
    pub(super) async fn of(
        service: &Shared,
        caller: &Caller,
        key: &AssistantId,
    ) -> Result<Self, Problem> {
        caller.may(Right::Read, key)?;
        let residents = service.host.residents().await;
        let summary = residents.iter().find(|it| it.key == *key);
        Self::with(service, key, summary).await
    }

    /// The same with the state of the moment that is asked for. The log is folded up to there.
    pub(super) async fn at(
        service: &Shared,
        caller: &Caller,
        key: &AssistantId,
        when: When,
    ) -> Result<Self, Problem> {
        let mut seen = Box::pin(Self::of(service, caller, key)).await?;
        let end = seen.end.0;
        prepare(service, key, seen.end);
        let Some(at) = when.at.filter(|at| *at != end) else {
            return Ok(seen);
        };
        let unknown = || {
            let why = format!("there is no event {at}; the log ends at event {end}");
            ProblemCode::UnknownItem.because(why)
        };
        let before = at.checked_sub(1).filter(|_| at < end).ok_or_else(unknown)?;
        let host = &service.host;
        let event = host
            .log()
            .read(key, Seq(before), 1)
            .await?
            .into_iter()
            .next();
        let event = event.ok_or_else(unknown)?;
        seen.state = host.state_at(key, event.seq).await?;
        seen.past = Some(Moment {
            seq: event.seq,
            at: event.at,
        });
        seen.live = None;
        Ok(seen)
    }

    /// The same with what is known of who is awake.
    pub(super) async fn with(
        service: &Service,
        key: &AssistantId,
        summary: Option<&Summary>,
    ) -> Result<Self, Problem> {
        let LookedUp {
            state, name, wrong, ..
        } = service.host.look_up(key).await?;
        let state = Arc::new(state);
        let live = service.host.if_awake(key).await;
        let live = live.map(|handle| Box::new(handle.status()));
        let needs = needs(&state, live.as_deref(), &wrong, service.now());
        let mut seen = Self {
            key: key.clone(),
            name,
            end: state.seq,
            past: None,
            is_stopped: state.stop.is_on(),
            is_archived: state.roster.archived.is_some(),
            doing: Default::default(),
            state,
            game: service.host.world().game().map(|game| game.to_text(key)),
            live,
            needs,
        };
        seen.doing = seen.activity(summary.and_then(|it| it.due));
        Ok(seen)
    }

    /// The query that a link to another page about the resident needs to show the same moment.
    pub(super) fn query(&self) -> String {
        let at = |moment: Moment| format!("?at={}", moment.seq);
        self.past.map(at).unwrap_or_default()
    }

    /// The time of what is shown.
    pub(super) fn now(&self, now: Timestamp) -> Timestamp {
        self.past.map_or(now, |moment| moment.at)
    }

    /// Whether the caller may change it on this page. The past cannot be changed.
    pub(super) fn may_be_changed(&self, caller: &Caller, right: Right) -> bool {
        self.past.is_none() && caller.may(right, &self.key).is_ok()
    }

    /// How many messages wait for it.
    pub(super) fn waiting(&self) -> usize {
        let live = self.live.as_ref();
        live.map_or(self.state.turns.len(), |live| live.waiting)
    }

    /// Whether it sleeps.
    pub(super) fn is_asleep(&self) -> bool {
        self.state.sleep.mode == OperatingMode::Asleep
    }

    /// Whether it may take ticks.
    pub(super) fn is_on(&self) -> bool {
        !self.needs.iter().any(|need| need.kind == NeedKind::Off)
    }

    fn activity(&self, due: Option<Timestamp>) -> (&'static str, String) {
        if self.is_archived {
            return ("rest", "archived".to_owned());
        }
        if self.is_stopped {
            return ("stopped", "stopped".to_owned());
        }
        match self.live.as_ref().map(|live| &live.activity) {
            Some(Activity::Thinking) => ("busy", "thinking".to_owned()),
            Some(Activity::Acting) => ("busy", "acting".to_owned()),
            Some(Activity::Waiting(until)) => {
                ("waits", format!("waiting until {}", second(*until)))
            }
            Some(Activity::WorldUnreachable { until, .. }) => (
                "waits",
                format!("waiting for its world until {}", second(*until)),
            ),
            Some(Activity::OverBudget { until }) => (
                "waits",
                format!("waiting for its budget until {}", second(*until)),
            ),
            Some(Activity::Paused(pause)) => (
                "waits",
                format!("its model pauses until {}", second(pause.until)),
            ),
            Some(Activity::Stalled { .. }) => ("waits", "its log cannot be written".to_owned()),
            Some(Activity::Disabled) => ("rest", "switched off".to_owned()),
            _ if self.is_asleep() => {
                let until = self.state.sleep.scheduled_wake_time();
                let until = until.map(|until| format!(" until {}", second(until)));
                ("asleep", format!("asleep{}", until.unwrap_or_default()))
            }
            _ if !self.is_on() => ("rest", "switched off".to_owned()),
            Some(_) => ("awake", "awake".to_owned()),
            None => match due {
                Some(due) => ("rest", format!("at rest until {}", second(due))),
                None => ("rest", "at rest".to_owned()),
            },
        }
    }
}

/// As in `04:43:05 UTC`.
fn second(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} UTC", text.get(11..19).unwrap_or(&text))
}

/// What a resident needs somebody for.
fn needs(state: &State, live: Option<&Status>, wrong: &[Wrong], now: Timestamp) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut need = |kind, text: String| needs.push(Need { kind, text });
    if let Some(stopped) = state.stop.stopped() {
        let reason = stopped
            .reason
            .as_deref()
            .map(|reason| format!(": {reason}"));
        let reason = reason.unwrap_or_default();
        need(
            NeedKind::Stopped,
            format!("{}{reason}", cause(&stopped.cause)),
        );
    }
    for approval in state.approvals.waiting(now) {
        let text = format!("wants to do this: {}", approval.act());
        need(NeedKind::Approval(approval.seq), text);
    }
    for it in wrong {
        match it {
            Wrong::NotInWorld | Wrong::World(_) => need(NeedKind::Error, it.to_string()),
            Wrong::SwitchedOff => need(NeedKind::Off, "takes no turns; messages wait".to_owned()),
            // Either another line already says this, or nobody has to see to it.
            _ => {}
        }
    }
    if live.is_some_and(|live| live.is_out) {
        let text = "its model or its world failed again and again; both are still tried".to_owned();
        need(NeedKind::Error, text);
    }
    if let Some(since) = live.and_then(|live| live.slow_since) {
        let text = format!("somebody waits for an answer since {}", second(since));
        need(NeedKind::Error, text);
    }
    let safety = SafetyCounters::of(state);
    if safety.consecutive_errors > 0 {
        let text = format!(
            "{} in a row; it stops after {}",
            counted(safety.consecutive_errors, "error", "errors"),
            safety.max_consecutive_errors
        );
        need(NeedKind::Error, text);
    }
    for goal in state.goals.iter() {
        if let GoalStatus::Blocked(block) = &goal.status {
            let text = format!("goal {} ({}): {block}", goal.id, goal.description.text);
            need(NeedKind::Blocked(goal.id.0), text);
        }
    }
    let low = match state.configuration.settings.budgets.low_percent {
        0 => LOW_PERCENT,
        percent => percent,
    };
    for budget in BudgetStatus::each(state, now) {
        if budget.percent_left() <= low {
            need(NeedKind::Budget, left(&budget));
        }
    }
    needs.sort_by_key(|need| need.kind);
    needs
}

/// How much of a budget is left.
pub(super) fn left(budget: &BudgetStatus) -> String {
    let span = match budget.span {
        BudgetSpan::Tick => "a tick",
        BudgetSpan::Hour => "an hour",
        BudgetSpan::Day => "a day",
        BudgetSpan::Life => "its life",
    };
    let amount = |amount: u64| match budget.kind {
        BudgetKind::Tokens => counted(amount, "token", "tokens"),
        BudgetKind::Money => dormouse_contracts::Usd::from_picos(amount).to_string(),
    };
    let limit = match budget.kind {
        BudgetKind::Tokens => grouped(budget.limit),
        BudgetKind::Money => amount(budget.limit),
    };
    format!("{} of {limit} left for {span}", amount(budget.left()))
}

/// Why a resident is stopped.
pub(super) fn cause(cause: &StopCause) -> String {
    match cause {
        StopCause::ConsecutiveErrors(count) => {
            format!("{} in a row", counted(*count, "error", "errors"))
        }
        StopCause::FailureRate(tool) => format!("the tool {tool} failed in most of its last calls"),
        StopCause::Operator(who) => format!("by {who}"),
        StopCause::Credentials => {
            "the provider refused the key, or the account is empty".to_owned()
        }
        _ => "for a reason that this version does not know".to_owned(),
    }
}
