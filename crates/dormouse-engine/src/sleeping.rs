//! When an assistant falls asleep, when it wakes, and what it does meanwhile.
//!
//! Pure. An assistant falls asleep by its schedule, by its own decision, or because somebody says so. It wakes at the
//! end of its night, when somebody wakes it, or when a message needs an answer. While it is compacting, a message waits
//! for the next commit
//! point, but no longer than [`LONGEST_DEFERRAL`].

mod probes;
mod steps;
mod work;

use std::time::Duration;

use dormouse_contracts::{Author, Timestamp};
use dormouse_text::is_blank;

pub use steps::{SLEEP_STEPS, SleepPhase, SleepStep};
pub use work::NightWorker;

use crate::{
    config::{LONGEST_SLEEP_HOURS, SleepSettings, Switch},
    event::{
        FellAsleep, GoalNote, NightProbed, NightStepped, ProbeResult, ProbeStage, StepOutcome,
        WakeCause, WokeUp,
    },
    gate::Reason,
    state::{State, Trigger, Turn},
};

/// How long a message waits at most until it wakes an assistant that is compacting.
pub const LONGEST_DEFERRAL: Duration = Duration::from_secs(60);
/// The longest reason for sleeping, in characters.
pub const SLEEP_REASON_LIMIT: usize = 200;
/// Longer than any sleep. A longer remaining time means that the clock was set back.
const LONGEST_SLEEP: Duration = Duration::from_secs(3_600 * (LONGEST_SLEEP_HOURS as u64 + 1));

/// Why an assistant cannot fall asleep or be woken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SleepError {
    /// The assistant is already asleep.
    #[error("already in sleep mode, until {0}")]
    AlreadyAsleep(Timestamp),
    /// The assistant is already awake.
    #[error("it is awake already")]
    Awake,
    /// It has done too little since it woke.
    #[error(
        "not yet: only {done} tools were used since waking; expected at least {least} (sleep.least_activity)"
    )]
    TooSoon {
        /// How many tools it used.
        done: u64,
        /// How many it has to use.
        least: u32,
    },
    /// Somebody waits for an answer.
    #[error("not now: {0} more waits to be dealt with; sleep when nothing waits")]
    SomebodyWaits(usize),
    /// The emergency stop is on.
    #[error("the assistant is stopped; a stopped assistant has no nights. Clear the stop first")]
    Stopped,
    /// The assistant is switched off.
    #[error("the assistant is switched off (assistant.enabled); it has no nights")]
    Disabled,
    /// The given end is in the past or too far in the future.
    #[error("until is {0}; expected a moment within the next {LONGEST_SLEEP_HOURS} hours")]
    Until(Timestamp),
    /// The reason is blank or too long.
    #[error("the reason is blank or too long; expected 1 to {SLEEP_REASON_LIMIT} characters")]
    Reason,
}

/// A request that the assistant sleep.
#[derive(Clone, Debug, PartialEq)]
pub struct SleepWish {
    /// Who asks.
    pub author: Author,
    /// Until when. If absent: until the end of the scheduled night, or for the length of a night.
    pub until: Option<Timestamp>,
    /// The reason.
    pub reason: Option<GoalNote>,
}

impl SleepWish {
    /// The request with which it fell asleep.
    pub(crate) fn of(asleep: &FellAsleep) -> Self {
        Self {
            author: asleep.author.clone(),
            until: Some(asleep.until),
            reason: asleep.reason.clone(),
        }
    }
}

impl State {
    /// The event with which the assistant falls asleep at `now` at somebody's request.
    ///
    /// # Errors
    ///
    /// [`SleepError`] if it is asleep, may not sleep, somebody waits for it, or the end is out of range.
    pub fn fall_asleep(&self, now: Timestamp, wish: SleepWish) -> Result<FellAsleep, SleepError> {
        if let Some(night) = self.sleep.tonight() {
            return Err(SleepError::AlreadyAsleep(night.until));
        }
        if self.stop.is_on() {
            return Err(SleepError::Stopped);
        }
        if self.configuration.settings.switch == Switch::Disabled {
            return Err(SleepError::Disabled);
        }
        let settings = &self.configuration.settings.sleep;
        let is_own = matches!(wish.author, Author::Tool(_));
        let done = self.sleep.activity_since_wake;
        if is_own && done < u64::from(settings.least_activity) {
            let least = settings.least_activity;
            return Err(SleepError::TooSoon { done, least });
        }
        // The turn in which the assistant decides to sleep ends with that decision, so it does not count as waiting.
        let waiting = self.turns.len().saturating_sub(usize::from(is_own));
        if waiting > 0 {
            return Err(SleepError::SomebodyWaits(waiting));
        }
        if !wish.reason.as_ref().is_none_or(is_reason) {
            return Err(SleepError::Reason);
        }
        if let Some(until) = wish.until
            && (until <= now || until.since(now) >= LONGEST_SLEEP)
        {
            return Err(SleepError::Until(until));
        }
        Ok(FellAsleep {
            night: self.sleep.next_night(),
            author: wish.author,
            until: wish.until.unwrap_or_else(|| usual_end(settings, now)),
            reason: wish.reason,
        })
    }

    /// The event with which somebody wakes the assistant.
    ///
    /// # Errors
    ///
    /// [`SleepError::Awake`].
    pub fn wake_up(&self, cause: WakeCause) -> Result<WokeUp, SleepError> {
        let night = self.sleep.tonight().ok_or(SleepError::Awake)?.number;
        Ok(WokeUp {
            night,
            cause,
            reason: None,
        })
    }

    /// Like [`wake_up`](Self::wake_up), with a reason.
    ///
    /// # Errors
    ///
    /// [`SleepError`] if it is awake, or the reason is blank or too long.
    pub(crate) fn wake_up_because(
        &self,
        cause: WakeCause,
        reason: GoalNote,
    ) -> Result<WokeUp, SleepError> {
        let woken = self.wake_up(cause)?;
        match is_reason(&reason) {
            true => Ok(WokeUp {
                reason: Some(reason),
                ..woken
            }),
            false => Err(SleepError::Reason),
        }
    }
}

fn is_reason(reason: &GoalNote) -> bool {
    !is_blank(&reason.text) && reason.text.chars().count() <= SLEEP_REASON_LIMIT
}

/// When an assistant that falls asleep at `now` wakes if no end was given: at the end of the scheduled night, if its
/// sleep reaches into that.
fn usual_end(settings: &SleepSettings, now: Timestamp) -> Timestamp {
    let end = now.plus(settings.duration());
    let longest = now.plus(Duration::from_secs(3_600 * u64::from(LONGEST_SLEEP_HOURS)));
    let night_at = |at: Timestamp| settings.window(at).filter(|window| window.contains(at));
    let night = night_at(now).or_else(|| night_at(end));
    night.map_or(end, |night| night.until.min(longest))
}

/// The event with which an idle assistant falls asleep at `now` by its schedule, if it does.
pub(crate) fn falls_asleep(state: &State, now: Timestamp) -> Option<FellAsleep> {
    let window = state.configuration.settings.sleep.window(now)?;
    let is_time = window.contains(now) && next_scheduled(state, now)? <= now;
    let again = resumed(state, now);
    let night = again.unwrap_or_else(|| state.sleep.next_night());
    is_time.then_some(FellAsleep {
        night,
        author: Author::Sleep(night),
        until: window.until,
        reason: None,
    })
}

/// The night that a message interrupted and that continues, if it is not over.
fn resumed(state: &State, now: Timestamp) -> Option<u64> {
    let night = state.sleep.last_night()?;
    let (_, cause) = night.woke.as_ref()?;
    (matches!(cause, WakeCause::Message(_)) && now < night.until).then_some(night.number)
}

/// When an idle assistant falls asleep by its schedule, if it has one; `now` or earlier if it does so now.
fn next_scheduled(state: &State, now: Timestamp) -> Option<Timestamp> {
    let settings = &state.configuration.settings.sleep;
    let window = settings.window(now)?;
    let next = || settings.window(window.until).map(|window| window.from);
    let woke = state
        .sleep
        .last_night()
        .and_then(|night| night.woke.as_ref());
    match woke.filter(|(at, _)| window.contains(*at)) {
        None => Some(window.from),
        // It falls asleep again once nobody has said anything for a while.
        Some((at, WakeCause::Message(_))) => {
            let last = state.heartbeat.began.map_or(*at, |began| began.max(*at));
            let quiet = last.plus(Duration::from_secs(settings.quiet_seconds.into()));
            match quiet < window.until {
                true => Some(quiet),
                false => next(),
            }
        }
        // Somebody, or it itself, decided that this night is over.
        Some(_) => next(),
    }
}

/// Why an assistant that is asleep wakes at `now`, if it does.
pub(crate) fn wakes(state: &State, now: Timestamp) -> Option<WokeUp> {
    let night = state.sleep.tonight()?;
    let woken = |cause| {
        Some(WokeUp {
            night: night.number,
            cause,
            reason: None,
        })
    };
    if night.until <= now || night.until.since(now) > LONGEST_SLEEP {
        return woken(WakeCause::Time);
    }
    let caller = callers(state).next()?;
    let is_heard = wakes_at(state, caller, now) <= now;
    is_heard.then(|| woken(WakeCause::Message(caller.seq())))?
}

/// The messages that need an answer while the assistant sleeps.
pub(crate) fn callers(state: &State) -> impl Iterator<Item = &Trigger> {
    let open = state.turns.open().map(|turn: &Turn| &turn.trigger);
    let waiting = open.chain(state.turns.waiting());
    waiting.filter(|trigger| trigger.message().is_some())
}

/// When a message wakes a sleeping assistant at the latest, if no commit point comes earlier.
fn wakes_at(state: &State, caller: &Trigger, now: Timestamp) -> Timestamp {
    let is_compacting = state.sleep.phase() == Some(SleepPhase::Compacting);
    // Between two work steps, no work can be lost.
    let is_working = next_tick(state, now).is_some_and(|at| at <= now);
    let at = caller.since().plus(LONGEST_DEFERRAL);
    let is_set_back = at.since(now) > LONGEST_DEFERRAL;
    let is_deferred = is_compacting
        && is_working
        && !state.sleep.has_committed_since(caller.seq())
        && !is_set_back;
    match is_deferred {
        true => at,
        false => now,
    }
}

/// When the next work step of the night begins.
fn next_tick(state: &State, now: Timestamp) -> Option<Timestamp> {
    let rate = state.configuration.settings.sleep.tick_rate();
    state.sleep.tonight()?.next_tick(rate, now)
}

/// The work step that is due at `now`, and the number of the night.
pub(crate) fn work_at(state: &State, now: Timestamp) -> Option<(u64, SleepStep)> {
    let night = state.sleep.tonight()?;
    let is_due = next_tick(state, now).is_some_and(|at| at <= now);
    is_due.then(|| night.next_step().map(|step| (night.number, step)))?
}

/// The open turn in its sleep, if any.
fn open_turn(state: &State) -> Option<&Turn> {
    let current = state.turns.current();
    current.filter(|turn| turn.trigger.is_sleep())
}

/// Whether a turn in its sleep ends at `now` before the model is asked again: the assistant is awake, or is about to wake.
pub(crate) fn ends_turn(state: &State, turn: &Turn, now: Timestamp) -> bool {
    turn.trigger.is_sleep() && (!state.sleep.is_asleep() || wakes(state, now).is_some())
}

/// The turn in its sleep that begins or continues at `now`, or the one that is still open after it woke.
pub(crate) fn turn_at(state: &State, now: Timestamp) -> Option<Reason> {
    if let Some(turn) = open_turn(state).filter(|_| !state.sleep.is_asleep()) {
        return Some(Reason::OpenTurn(turn.trigger_seq()));
    }
    if wakes(state, now).is_some() {
        return None;
    }
    let (at, reason) = next_turn(state, now)?;
    // No failure makes a turn wait that long, so the clock was set back.
    (at <= now || at.since(now) > LONGEST_SLEEP).then_some(reason)
}

/// When the next turn in its sleep begins or continues, if it is asleep.
fn next_turn(state: &State, now: Timestamp) -> Option<(Timestamp, Reason)> {
    state.sleep.tonight()?;
    let (at, reason) = match open_turn(state) {
        Some(turn) => {
            let at = turn.wait().map_or(now, |wait| wait.until);
            (at, Reason::OpenTurn(turn.trigger_seq()))
        }
        None => {
            let settings = &state.configuration.settings.sleep;
            let (at, trigger) = state.sleep.next_turn(settings, now)?;
            (at, Reason::Waiting(trigger))
        }
    };
    let services = &state.configuration.services;
    let pause = state.services.pauses.of_all(services, now);
    Some((pause.map_or(at, |pause| at.max(pause.until)), reason))
}

/// When an idle assistant falls asleep, or a sleeping one wakes, if nothing happens before.
pub(crate) fn next_mode(state: &State, now: Timestamp) -> Option<Timestamp> {
    let Some(night) = state.sleep.tonight() else {
        return next_scheduled(state, now);
    };
    let woken = callers(state)
        .next()
        .map(|caller| wakes_at(state, caller, now));
    woken.into_iter().chain([night.until]).min()
}

/// Like [`next_mode`], or earlier if a sleeping assistant has work to do before.
pub(crate) fn next_change(state: &State, now: Timestamp) -> Option<Timestamp> {
    let mode = next_mode(state, now).into_iter();
    let turn = next_turn(state, now).map(|(at, _)| at);
    mode.chain(next_tick(state, now)).chain(turn).min()
}

/// Whether a recorded work step is the one that was due.
pub(crate) fn is_next(state: &State, night: u64, step: SleepStep) -> bool {
    let tonight = state.sleep.tonight();
    tonight.is_some_and(|it| it.number == night && it.next_step() == Some(step))
}

/// Whether a recorded work step was due, and its outcome follows from the recorded answers.
pub(crate) fn follows(state: &State, recorded: &NightStepped) -> bool {
    let piece = state.sleep.probed_piece(recorded.step);
    let is_decided = match (piece.map(probes::verdict), &recorded.outcome) {
        (Some(Some(StepOutcome::TakenBack(result))), StepOutcome::TakenBack(recorded)) => {
            // Whether a change can be taken back depends on later changes in the memory, so it comes from the log.
            let kept = recorded.kept;
            *recorded == ProbeResult { kept, ..result }
        }
        (Some(Some(_)), StepOutcome::Failed(why)) if why.breaks_off() => true,
        (Some(Some(verdict)), recorded) => verdict == *recorded,
        (Some(None), recorded) => matches!(recorded, StepOutcome::Failed(_)),
        // Older logs do not record the answers.
        (None, _) => true,
    };
    is_decided && is_next(state, recorded.night, recorded.step)
}

/// Whether recorded answers belong to the work step that was due.
pub(crate) fn may_be_probed(state: &State, recorded: &NightProbed) -> bool {
    let piece = state.sleep.probed_piece(recorded.step);
    let fits = match &recorded.stage {
        ProbeStage::Before(_) => piece.is_none_or(|piece| !piece.has_changed),
        ProbeStage::After { .. } => piece.is_some_and(|piece| piece.after.is_none()),
    };
    fits && is_next(state, recorded.night, recorded.step)
}
