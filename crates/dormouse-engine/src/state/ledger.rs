//! What was spent on models lately, for the budgets.

mod window;

use std::time::Duration;

use dormouse_contracts::{EffectKey, ModelErrorKind, Timestamp, Usage, Usd};
use serde::{Deserialize, Serialize};

use crate::{
    config::{SpendingBudgets, TokenPrice},
    event::{
        BudgetSpan, CallReserved, DelegationEnded, Event, ReservedAhead, ReservedBy, TaskDelegated,
    },
};
pub use window::SpendingWindow;

/// Tokens, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// The cost. A model without a known price counts as free.
    pub cost: Usd,
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.plus(other.cost),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: Usd::from_picos(self.cost.picos().saturating_sub(other.cost.picos())),
        }
    }
}

impl From<ReservedAhead> for Amount {
    fn from(ahead: ReservedAhead) -> Self {
        Self {
            tokens: ahead.tokens,
            cost: ahead.cost.unwrap_or(Usd::ZERO),
        }
    }
}

/// The reservation for a call under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// When it was reserved.
    pub at: Timestamp,
    /// What was reserved.
    pub reserved: CallReserved,
}

impl Reservation {
    fn amount(&self) -> Amount {
        Self::amount_of(&self.reserved)
    }

    /// How much is reserved for a call.
    pub(crate) fn amount_of(reserved: &CallReserved) -> Amount {
        Amount {
            tokens: reserved.tokens,
            cost: reserved.cost.unwrap_or(Usd::ZERO),
        }
    }
}

/// What was spent on models. A reservation counts as spent until it is settled, and for ever if it never is.
///
/// A tick can reserve more than its next call takes, in advance for later calls. The reservation is already on disk
/// when those begin, so only the first call of a tick waits for the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendingLedger {
    tick: Amount,
    life: Amount,
    hour: SpendingWindow,
    day: SpendingWindow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of_turn: Option<Reservation>,
    /// When something was reserved in advance, and what calls have not used of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ahead: Option<(Timestamp, Amount)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of_consolidation: Option<Reservation>,
    /// The reservations for unfinished tasks given to other assistants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    of_tasks: Vec<(EffectKey, Timestamp, Amount)>,
}

impl Default for SpendingLedger {
    fn default() -> Self {
        let hours = |hours: u64| SpendingWindow::of(Duration::from_secs(hours * 3_600));
        Self {
            tick: Amount::default(),
            life: Amount::default(),
            hour: hours(1),
            day: hours(24),
            of_turn: None,
            ahead: None,
            of_consolidation: None,
            of_tasks: Vec::new(),
        }
    }
}

impl SpendingLedger {
    pub(super) fn apply(&mut self, at: Timestamp, event: &Event, budgets: &SpendingBudgets) {
        match event {
            Event::TickStarted(_) => {
                self.tick = Amount::default();
                self.of_turn = None;
                self.ahead = None;
            }
            Event::CallReserved(reserved) => self.reserve(at, reserved),
            Event::Replied(it) => {
                let (prompt, reply) = (it.prompt_tokens, it.tokens);
                let amount = spent(it.reply.usage, prompt, reply, budgets.price);
                self.settle(at, ReservedBy::Turn, amount);
            }
            Event::Consulted(it) => {
                let (prompt, reply) = (it.prompt_tokens, it.tokens);
                let amount = spent(it.reply.usage, prompt, reply, budgets.price);
                self.settle(at, ReservedBy::Consolidation, amount);
            }
            Event::HistorySummarized(it) => {
                let (prompt, reply) = (it.prompt_tokens, it.tokens);
                let amount = spent(it.reply.usage, prompt, reply, budgets.price);
                match self.of_consolidation {
                    Some(_) => self.settle(at, ReservedBy::Consolidation, amount),
                    // A turn made the request.
                    None => self.spend(at, amount, ReservedBy::Turn),
                }
            }
            Event::SummaryFailed(failed) => self.unsettled(at, failed.cause.of_model()),
            Event::ModelFailed(failed) if !failed.kind.may_be_charged() => {
                self.settle(at, ReservedBy::Turn, Amount::default());
            }
            // No reply will arrive, but the provider may have charged for the call.
            Event::ModelFailed(_) => self.of_turn = None,
            Event::TickEnded(_) | Event::EmergencyStopTriggered(_) => {
                self.of_turn = None;
                self.give_back_ahead();
            }
            // The previous process may have used its advance reservation for calls that are not in the log, so it
            // counts as spent.
            Event::Configured(_) | Event::Woke(_) => {
                self.of_turn = None;
                self.ahead = None;
            }
            Event::ConsultationFailed(failed) => self.unsettled(at, failed.cause.of_model()),
            Event::ConsolidationEnded(_) => self.of_consolidation = None,
            Event::TaskDelegated(delegated) => self.reserve_task(at, delegated),
            Event::DelegationEnded(ended) => self.settle_task(at, ended),
            _ => {}
        }
    }

    fn reserve(&mut self, at: Timestamp, reserved: &CallReserved) {
        let by = reserved.by;
        if by == ReservedBy::Server {
            // It belongs to the tick that called the server. Nothing settles it, because its reply is in no event.
            self.spend(at, Reservation::amount_of(reserved), ReservedBy::Turn);
            return;
        }
        let reservation = Reservation {
            at,
            reserved: reserved.clone(),
        };
        let amount = reservation.amount();
        match &mut self.ahead {
            Some((_, left)) if reserved.from_ahead => *left = left.minus(amount),
            _ => {
                if by == ReservedBy::Turn {
                    self.give_back_ahead();
                }
                self.spend(at, amount, by);
            }
        }
        if let Some(ahead) = reserved.ahead {
            let amount = Amount::from(ahead);
            self.spend(at, amount, by);
            self.ahead = Some((at, amount));
        }
        *self.slot(by) = Some(reservation);
    }

    /// Gives back the unused part of the advance reservation.
    fn give_back_ahead(&mut self) {
        if let Some((since, left)) = self.ahead.take() {
            self.tick = self.tick.minus(left);
            self.take_back(since, left);
        }
    }

    fn take_back(&mut self, since: Timestamp, amount: Amount) {
        self.life = self.life.minus(amount);
        self.hour.take_back(since, amount);
        self.day.take_back(since, amount);
    }

    /// The ledger without its advance reservation.
    pub(crate) fn without_ahead(&self) -> Self {
        let mut without = self.clone();
        without.give_back_ahead();
        without
    }

    /// Whether the advance reservation covers a call at `now` that takes this amount. A reservation leaves the window
    /// at a time that depends on when it was made, so it covers only calls that would leave at the same time.
    pub(crate) fn covers_ahead(&self, amount: Amount, now: Timestamp) -> bool {
        self.ahead.is_some_and(|(since, left)| {
            let fits = amount.tokens <= left.tokens && amount.cost <= left.cost;
            let windows = [&self.hour, &self.day];
            fits && windows.iter().all(|window| window.are_together(since, now))
        })
    }

    fn reserve_task(&mut self, at: Timestamp, delegated: &TaskDelegated) {
        let amount = Amount {
            tokens: delegated.task.tokens,
            cost: delegated.cost.unwrap_or(Usd::ZERO),
        };
        self.spend(at, amount, ReservedBy::Turn);
        let key = delegated.task.key.clone();
        self.of_tasks.push((key, at, amount));
    }

    /// Replaces the reservation of a task by its actual cost, if known.
    fn settle_task(&mut self, at: Timestamp, ended: &DelegationEnded) {
        let mut tasks = self.of_tasks.iter();
        let Some(place) = tasks.position(|(key, ..)| *key == ended.key) else {
            return;
        };
        let (_, since, reserved) = self.of_tasks.remove(place);
        let Some(took) = ended.took else { return };
        self.take_back(since, reserved);
        // The tick that made the reservation is over.
        let (tokens, cost) = (took.tokens, took.cost);
        self.spend_in_spans(at, Amount { tokens, cost });
    }

    fn slot(&mut self, by: ReservedBy) -> &mut Option<Reservation> {
        match by {
            ReservedBy::Turn | ReservedBy::Server => &mut self.of_turn,
            ReservedBy::Consolidation => &mut self.of_consolidation,
        }
    }

    fn spend(&mut self, at: Timestamp, amount: Amount, by: ReservedBy) {
        if by == ReservedBy::Turn {
            self.tick = self.tick.plus(amount);
        }
        self.spend_in_spans(at, amount);
    }

    fn spend_in_spans(&mut self, at: Timestamp, amount: Amount) {
        self.life = self.life.plus(amount);
        self.hour.add(at, amount);
        self.day.add(at, amount);
    }

    /// Replaces a reservation by what was spent.
    fn settle(&mut self, at: Timestamp, by: ReservedBy, amount: Amount) {
        if let Some(reservation) = self.slot(by).take() {
            let reserved = reservation.amount();
            if by == ReservedBy::Turn {
                self.tick = self.tick.minus(reserved);
            }
            self.take_back(reservation.at, reserved);
        }
        self.spend(at, amount, by);
    }

    /// Gives back the reservation of a failed request outside a turn, unless the provider may have charged for it.
    fn unsettled(&mut self, at: Timestamp, failure: Option<ModelErrorKind>) {
        match failure {
            Some(kind) if !kind.may_be_charged() => {
                self.settle(at, ReservedBy::Consolidation, Amount::default());
            }
            _ => self.of_consolidation = None,
        }
    }

    /// What a turn has reserved for its next call or the call under way.
    #[must_use]
    pub fn of_turn(&self) -> Option<&CallReserved> {
        self.of_turn.as_ref().map(|it| &it.reserved)
    }

    /// What counts as spent at `now` within this span.
    #[must_use]
    pub fn spent(&self, span: BudgetSpan, now: Timestamp) -> Amount {
        match span {
            BudgetSpan::Tick => self.tick,
            BudgetSpan::Life => self.life,
            BudgetSpan::Hour => self.hour.sum(now),
            BudgetSpan::Day => self.day.sum(now),
        }
    }

    /// When the next part of the spending leaves this span; `None` if nothing leaves it by time alone.
    pub(crate) fn falls_at(&self, span: BudgetSpan, now: Timestamp) -> Option<Timestamp> {
        match span {
            BudgetSpan::Tick | BudgetSpan::Life => None,
            BudgetSpan::Hour => self.hour.falls_at(now),
            BudgetSpan::Day => self.day.falls_at(now),
        }
    }

    /// When at most `most` counts as spent within this span, measured by `count`; `None` if time alone does not lead
    /// there.
    pub(crate) fn falls_to(
        &self,
        span: BudgetSpan,
        most: u64,
        now: Timestamp,
        count: impl Fn(Amount) -> u64,
    ) -> Option<Timestamp> {
        match span {
            BudgetSpan::Tick | BudgetSpan::Life => None,
            BudgetSpan::Hour => self.hour.falls_to(most, now, count),
            BudgetSpan::Day => self.day.falls_to(most, now, count),
        }
    }
}

/// The cost of a reply: tokens as the provider reports them, or as the engine counted them. A price that the provider
/// reports takes precedence.
pub(super) fn spent(
    usage: Option<Usage>,
    prompt: u32,
    reply: u32,
    price: Option<TokenPrice>,
) -> Amount {
    let prompt = usage.map_or(prompt, |usage| usage.prompt_tokens);
    let reply = usage.map_or(reply, |usage| usage.completion_tokens);
    let reported = usage.and_then(|usage| usage.cost);
    let priced = || price.map_or(Usd::ZERO, |price| price.cost(prompt, reply));
    Amount {
        tokens: u64::from(prompt).saturating_add(reply.into()),
        cost: reported.unwrap_or_else(priced),
    }
}
