//! The work of a night, while nothing else is under way.

use std::sync::Arc;

use dormouse_contracts::{BoxFuture, Timestamp};

use super::{Assistant, Busy};
use crate::{
    sleeping::{ends_turn, next_change, next_mode, work_at},
    status::Activity,
    work::{self, NightTask},
};

impl Assistant {
    /// The next piece of work of a night, if it is time for one.
    pub(super) fn night_work(&mut self) -> Option<BoxFuture<'static, bool>> {
        let now = self.ports.clock.now();
        if !self.may_work_at_night(now) {
            return None;
        }
        let (night, step) = work_at(&self.state, now)?;
        let handle = self.own_handle()?;
        let task = NightTask {
            night,
            step,
            names: self.own_names(),
            timeout: self.config.model_timeout,
            panics: Arc::clone(&self.progress.panics),
        };
        Some(Box::pin(work::work_at_night(
            self.ports.clone(),
            handle,
            task,
        )))
    }

    /// Whether work of a night may be done: nothing else is under way, and the log can be written.
    fn may_work_at_night(&self, now: Timestamp) -> bool {
        let is_asleep = matches!(self.progress.activity, Activity::Asleep { .. });
        let is_put_off = self.put_off_until(now).is_some();
        is_asleep
            && self.state.sleep.is_asleep()
            && self.progress.unwritten.is_empty()
            && !is_put_off
    }

    /// Until when work waits whose result could not be written, if it waits. A moment further away than the longest
    /// wait means that the clock was set back.
    fn put_off_until(&self, now: Timestamp) -> Option<Timestamp> {
        let rate = self.state.configuration.settings.sleep.tick_rate();
        let after = self.progress.night_after;
        after.filter(|at| now < *at && at.since(now) <= rate)
    }

    /// Whether the assistant still sleeps in the night that is worked on.
    pub(super) fn goes_on_sleeping(&self) -> bool {
        self.state.sleep.is_asleep() && !self.state.stop.is_on()
    }

    /// Whether a model call under way belongs to a turn of its sleep that is over, because somebody calls or woke it.
    pub(super) fn is_called_awake(&self) -> bool {
        let is_asking =
            self.progress.activity == Activity::Thinking && self.progress.busy == Busy::Asking;
        let turn = self.state.turns.current().filter(|_| is_asking);
        turn.is_some_and(|turn| ends_turn(&self.state, turn, self.ports.clock.now()))
    }

    /// Shows whether a piece of work is under way.
    pub(super) fn works_at_night(&mut self, works: bool) {
        if let Activity::Asleep { is_working, .. } = &mut self.progress.activity {
            *is_working = works;
        }
    }

    /// Handles the end of a piece of work. If its result could not be written, it is repeated later.
    pub(super) fn night_worked(&mut self, is_in_log: bool) {
        let rate = self.state.configuration.settings.sleep.tick_rate();
        let now = self.ports.clock.now();
        self.progress.night_after = (!is_in_log).then(|| now.plus(rate));
    }

    /// When something happens in its sleep, if nothing else happens until then.
    pub(super) fn next_in_sleep(&self, now: Timestamp) -> Option<Timestamp> {
        let is_working = matches!(
            self.progress.activity,
            Activity::Asleep {
                is_working: true,
                ..
            }
        );
        match self.put_off_until(now) {
            _ if is_working => next_mode(&self.state, now),
            Some(at) => next_mode(&self.state, now).into_iter().chain([at]).min(),
            None => next_change(&self.state, now),
        }
    }
}
