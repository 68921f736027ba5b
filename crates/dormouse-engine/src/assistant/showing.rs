//! The status of a running assistant, and when it wakes by itself.

use std::{sync::atomic::Ordering, time::Duration};

use dormouse_contracts::Timestamp;
use tokio::time::Instant;

use super::Assistant;
use crate::{
    compacting::WindowLevel,
    config::Switch,
    decide::{BudgetStatus, stop_notice_is_due},
    event::StopReason,
    gate::{Skip, next_reason},
    sleeping::{callers, next_mode},
    state::Turn,
    status::{Activity, SafetyCounters, Status},
};

/// How often an assistant that waits for a moment looks at the clock.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

fn waits_for_its_world(turn: &Turn) -> bool {
    let after = turn.wait().and_then(|wait| wait.after);
    after == Some(StopReason::WorldUnreachable)
}

impl Assistant {
    /// Why ticks do nothing at the moment. A tick with a reason does its work at once.
    fn skip(&self) -> Skip {
        match &self.progress.activity {
            Activity::Thinking | Activity::Acting => Skip::Collision,
            Activity::Waiting(at) | Activity::WorldUnreachable { until: at, .. } => {
                Skip::Waiting(*at)
            }
            Activity::OverBudget { until } => Skip::Waiting(*until),
            Activity::Paused(pause) => Skip::Paused(pause.until),
            Activity::Stopped(_) => Skip::EmergencyStop,
            Activity::Disabled => Skip::Disabled,
            Activity::Stalled { .. } => Skip::Waiting(self.ports.clock.now()),
            Activity::Asleep { until, .. } => Skip::Asleep(*until),
            Activity::Idle => Skip::Idle,
        }
    }

    pub(super) fn rest(&mut self, skip: Skip) {
        match skip {
            // The last sign was the end of the tick before, or the start of the program.
            Skip::Waiting(_) | Skip::Paused(_) => {
                let now = self.ports.clock.now();
                self.progress.silent_since.get_or_insert(now);
            }
            Skip::EmergencyStop
            | Skip::Disabled
            | Skip::Collision
            | Skip::Asleep(_)
            | Skip::Idle => {
                self.progress.silent_since = None;
            }
        }
        self.progress.activity = match skip {
            Skip::EmergencyStop => match self.state.stop.stopped() {
                Some(stopped) => Activity::Stopped(stopped.cause.clone()),
                None => Activity::Idle,
            },
            Skip::Disabled => Activity::Disabled,
            Skip::Asleep(until) => Activity::Asleep {
                until,
                is_working: false,
            },
            Skip::Waiting(until) => match self.state.turns.current() {
                Some(turn) if waits_for_its_world(turn) => {
                    let cause = turn.world.obstacle.clone();
                    Activity::WorldUnreachable { until, cause }
                }
                Some(turn) if turn.waits_for_a_budget() => Activity::OverBudget { until },
                _ => Activity::Waiting(until),
            },
            Skip::Paused(until) => {
                let now = self.ports.clock.now();
                let services = &self.state.configuration.services;
                let pause = self.state.services.pauses.of_all(services, now);
                pause.map_or(Activity::Waiting(until), Activity::Paused)
            }
            // Everything waits for the log until a write succeeds.
            Skip::Collision | Skip::Idle => match &self.progress.activity {
                stalled @ Activity::Stalled { .. } => stalled.clone(),
                _ => Activity::Idle,
            },
        };
    }

    pub(super) fn wake_at(&self) -> Option<Instant> {
        let until = match &self.progress.activity {
            Activity::Waiting(at)
            | Activity::OverBudget { until: at }
            | Activity::WorldUnreachable { until: at, .. } => Some(*at),
            Activity::Paused(pause) => Some(pause.until),
            Activity::Thinking | Activity::Acting | Activity::Idle | Activity::Asleep { .. } => {
                None
            }
            // The log is tried again at the next tick.
            Activity::Stalled { .. } => {
                return Some(Instant::now() + self.config.limits.tick_rate());
            }
            Activity::Disabled | Activity::Stopped(_) => return None,
        };
        let now = self.ports.clock.now();
        let due_at = match &self.progress.activity {
            Activity::Waiting(_) | Activity::OverBudget { .. } => self.state.next_due_after(now),
            Activity::Idle => next_reason(&self.state, Skip::Idle, now),
            Activity::Asleep { .. } => self.next_in_sleep(now),
            _ => None,
        };
        let slow_at = match self.slow_since() {
            None => self.progress.silent_since,
            Some(_) => None,
        };
        let slow_at = slow_at.map(|since| since.plus(self.config.slow_after));
        let at = until.into_iter().chain(slow_at).chain(due_at).min();
        let left = at.map(|at| at.since(now));
        // The clock may be set, and the timer does not notice that.
        let wait = left.map(|left| left.min(LOOK_AGAIN));
        let shown = self.shown_at().map(|at| at.since(self.ports.clock.now()));
        Some(Instant::now() + wait.into_iter().chain(shown).min()?)
    }

    /// The next moment at which something in the status changes by time alone: a budget has more room, or an approval is too late.
    fn shown_at(&self) -> Option<Timestamp> {
        let now = self.ports.clock.now();
        let approvals = self.state.approvals.waiting(now);
        let expire = approvals.map(|approval| approval.request.expires_at);
        let budgets = BudgetStatus::each(&self.state, now).into_iter();
        let free = budgets.filter_map(|budget| self.state.ledger.falls_at(budget.span, now));
        expire.chain(free).min()
    }

    /// Whether model or world failed so often in a row that waiting makes no sense.
    pub(super) fn is_out(&self) -> bool {
        let unreached = self.state.turns.current();
        let unreached = unreached.map_or(0, |turn| turn.world.failures);
        let failures = self.state.services.recent.silences.max(unreached);
        // During an attempt it is still open: model and world may be back, or another model may be called.
        let is_waiting = matches!(
            self.progress.activity,
            Activity::Waiting(_) | Activity::WorldUnreachable { .. } | Activity::Paused(_)
        );
        is_waiting && failures >= self.config.limits.max_consecutive_errors()
    }

    /// Whether it is about to announce in its world that it is stopped. While the log cannot be written, it does not
    /// announce that.
    fn is_announcing(&self) -> bool {
        let is_stalled = matches!(self.progress.activity, Activity::Stalled { .. });
        let now = self.ports.clock.now();
        self.state.stop.is_on() && !is_stalled && stop_notice_is_due(self.view(now))
    }

    /// The time since which people who wait have seen no sign of the assistant, if that is longer than `slow_after`.
    pub(super) fn slow_since(&self) -> Option<Timestamp> {
        let now = self.ports.clock.now();
        let is_slow = |since: &Timestamp| now.since(*since) >= self.config.slow_after;
        self.progress.silent_since.filter(is_slow)
    }

    pub(super) fn publish(&self) {
        let state = &self.state;
        let activity = match (state.stop.stopped(), self.config.switch) {
            (Some(stopped), _) => Activity::Stopped(stopped.cause.clone()),
            (None, Switch::Disabled) => Activity::Disabled,
            (None, Switch::Enabled) => self.progress.activity.clone(),
        };
        // A due moment counts as waiting, like a message, even before its turn begins.
        let due = usize::from(state.due(self.ports.clock.now()).is_some());
        let waiting = match state.sleep.is_asleep() {
            // While it sleeps, only these can wake it. Everything else waits until it wakes.
            true => callers(state).count(),
            false => state.turns.len() + due,
        };
        let unwritten = usize::from(!self.progress.unwritten.is_empty());
        self.beats.skip_for(self.skip());
        let status = Status {
            activity,
            slow_since: self.slow_since(),
            waiting_since: state.turns.since(),
            waiting: waiting.max(unwritten),
            approvals: state.approvals.waiting(self.ports.clock.now()).count(),
            unanswered: state.counts.unanswered,
            overheard: state.admission.overheard,
            dropped: (state.admission.dropped).saturating_add(self.progress.dropped.lines()),
            exchanges: (self.config.limits)
                .ends_exchanges(state.cross_talk)
                .then_some(state.cross_talk.answered()),
            is_out: self.is_out(),
            is_announcing: self.is_announcing(),
            safety: SafetyCounters::of(state),
            panics: self.progress.panics.load(Ordering::Relaxed),
            seq: self.written(),
            ticks: state.counts.ticks,
            skipped: self.beats.skipped(),
            prompt_tokens: state.counts.prompt_tokens,
            max_context_tokens: self.config.limits.max_context_tokens(),
            window_level: WindowLevel::of(
                state.counts.prompt_tokens,
                self.config.limits.max_context_tokens(),
            ),
            compactions: state.compactions.count,
            last_compaction: state.compactions.last_at,
            summaries_skipped: state.compactions.skipped,
            spent: state.spent,
            budgets: BudgetStatus::each(state, self.ports.clock.now()),
            memories: state.counts.remembered,
            tools_not_attempted: (state.tool_circuits.open(self.ports.clock.now()))
                .map(|(tool, _)| tool.to_owned())
                .collect(),
            sleep_phase: state.sleep.phase(),
            activity_since_wake: state.sleep.activity_since_wake,
            falls_asleep_at: (!state.sleep.is_asleep())
                .then(|| next_mode(state, self.ports.clock.now()))
                .flatten(),
        };
        self.status.send_if_modified(|current| {
            // Ticks that did nothing do not wake the watchers.
            current.skipped = status.skipped;
            let changed = *current != status;
            *current = status;
            changed
        });
    }
}
