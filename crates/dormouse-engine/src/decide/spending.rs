//! Whether the budgets allow the next call of the model, and what is done if they do not.

use std::time::Duration;

use dormouse_contracts::{Timestamp, Usd};

use super::{action::Action, delayed, view::View};
use crate::{
    config::{BudgetLimits, ExecutionPattern, Settings, SpendingBudgets, UnknownPrice},
    event::{
        BudgetSpan, CallReserved, DelayCause, Event, LowBudget, ReservedAhead, ReservedBy,
        StopReason, TickEnded,
    },
    prompt::PromptSize,
    state::{Amount, Reservation, SpendingLedger, State, TakenTask, Turn},
};

/// The most tokens of a reply if the operator limits what is spent, and not how long a reply may be.
const LONGEST_REPLY: u32 = 4_096;
/// A call is not worth making if no reply of this length fits into the budget.
const SHORTEST_REPLY: u32 = 1_000;
/// What is reserved ahead is at most one part in so many of what is left of a budget.
const AHEAD_SHARE: u64 = 10;
/// Tokens for the line about a budget that is low.
const LOW_LINE: u32 = 64;
/// After this time a budget is looked at again that does not become free by itself.
const LOOK_AGAIN: Duration = Duration::from_secs(24 * 3_600);

/// Whether something has to be reserved before the model is asked.
pub(super) fn is_to_be_reserved(view: View<'_>) -> bool {
    view.config().budgets.is_limited() && view.state.ledger.of_turn().is_none()
}

/// Reserves what a request with a prompt of this size may take, or says that a budget does not allow it.
pub(super) fn reserve(view: View<'_>, turn: &Turn, prompt: PromptSize) -> Action {
    let (settings, ledger) = (view.config(), &view.state.ledger);
    let window = settings.limits.max_context_tokens();
    let room = window.saturating_sub(prompt.tokens);
    let wish = CallWish {
        by: ReservedBy::Turn,
        prompt_tokens: prompt.tokens.saturating_add(LOW_LINE),
        reply_tokens: longest_reply(settings, prompt.max_tokens).min(room.max(1)),
    };
    // What is reserved ahead is for this call, too.
    let free = ledger.without_ahead();
    match wish.reserved(settings, &free, view.now) {
        Ok(mut reserved) => {
            let amount = Reservation::amount_of(&reserved);
            reserved.from_ahead = ledger.covers_ahead(amount, view.now);
            if !reserved.from_ahead {
                let calls = calls_to_come(view, turn);
                reserved.ahead = ahead(&reserved, calls, settings, &free, view.now);
            }
            Event::CallReserved(reserved).into()
        }
        Err(until) => refused(view, turn, until),
    }
}

/// How many calls of the model the tick may make after the next one.
fn calls_to_come(view: View<'_>, turn: &Turn) -> u32 {
    match view.bounds.mode {
        ExecutionPattern::ReactLoop => {
            let made = turn.steps_this_tick.saturating_add(1);
            view.bounds.max_iterations.saturating_sub(made)
        }
        ExecutionPattern::SingleAction => 0,
    }
}

/// What is reserved for so many further calls like this one, as far as that is a small part of what every budget has left after it.
/// After a kill it counts as spent, as nobody knows how many of them were made.
fn ahead(
    first: &CallReserved,
    calls: u32,
    settings: &Settings,
    ledger: &SpendingLedger,
    now: Timestamp,
) -> Option<ReservedAhead> {
    let one = Reservation::amount_of(first);
    let share = |kind: BudgetKind| {
        let left = each(&settings.budgets, ledger, now).filter(|it| it.kind == kind);
        let left = left.map(|it| it.left().saturating_sub(kind.of(one)) / AHEAD_SHARE);
        let wanted = kind.of(one).saturating_mul(calls.into());
        let granted = left.fold(wanted, u64::min);
        (granted >= kind.of(one)).then_some(granted)
    };
    let (tokens, cost) = (share(BudgetKind::Tokens)?, share(BudgetKind::Money)?);
    (calls > 0).then_some(ReservedAhead {
        tokens,
        cost: first.cost.map(|_| Usd::from_picos(cost)),
    })
}

/// The most tokens of a reply that is requested with this bound, if there is a budget.
pub(crate) fn longest_reply(settings: &Settings, requested: Option<u32>) -> u32 {
    requested.or(settings.max_tokens).unwrap_or(LONGEST_REPLY)
}

/// The sender is notified once. Then the turn waits, which is not an error.
fn refused(view: View<'_>, turn: &Turn, until: Timestamp) -> Action {
    if !turn.is_delayed_by(DelayCause::Budget)
        && let Some(notice) = delayed::ask(view, turn, DelayCause::Budget)
    {
        return notice.into();
    }
    // A tick that made calls goes on in the next one.
    let next_tick = view.now.plus(view.config().limits.tick_rate());
    let resume_at = Some(until.max(next_tick));
    Event::TickEnded(TickEnded::new(StopReason::BudgetSpent, resume_at)).into()
}

/// A call that somebody wants to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallWish {
    pub(crate) by: ReservedBy,
    pub(crate) prompt_tokens: u32,
    /// The most tokens of the reply, if the budgets allow as many.
    pub(crate) reply_tokens: u32,
}

impl CallWish {
    /// What is reserved for the call: the prompt, and as much of the reply as every budget has room for.
    ///
    /// # Errors
    ///
    /// The moment from which on the budgets may allow it, as far as time alone makes them.
    pub(crate) fn reserved(
        self,
        settings: &Settings,
        ledger: &SpendingLedger,
        now: Timestamp,
    ) -> Result<CallReserved, Timestamp> {
        let budgets = &settings.budgets;
        let never = now.plus(LOOK_AGAIN);
        let price = budgets.price.unwrap_or_default();
        let has_limit = budgets.picodollars.each().next().is_some();
        if has_limit && budgets.price.is_none() && budgets.unknown_price == UnknownPrice::Refused {
            return Err(never);
        }
        let shortest = self.reply_tokens.min(SHORTEST_REPLY);
        let tokens = |reply: u32| u64::from(self.prompt_tokens).saturating_add(reply.into());
        let least = Amount {
            tokens: tokens(shortest),
            cost: price.cost(self.prompt_tokens, shortest),
        };
        if let Some(until) = free_from(budgets, ledger, least, now) {
            return Err(until.min(never));
        }
        let left = Left::of(budgets, ledger, now);
        let of_tokens = left.tokens.saturating_sub(self.prompt_tokens.into());
        let prompt_cost = price.cost(self.prompt_tokens, 0).picos();
        let of_money = price.reply_for(left.picodollars.saturating_sub(prompt_cost));
        let reply_tokens = self
            .reply_tokens
            .min(u32::try_from(of_tokens).unwrap_or(u32::MAX))
            .min(of_money);
        Ok(CallReserved {
            by: self.by,
            tokens: tokens(reply_tokens),
            cost: budgets
                .price
                .map(|price| price.cost(self.prompt_tokens, reply_tokens)),
            reply_tokens,
            low: low(budgets, ledger, now),
            ahead: None,
            from_ahead: false,
        })
    }
}

/// Why a server of tools may not ask the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverBudget {
    /// A budget of the assistant does not allow it before this time.
    #[error("the budgets of the assistant do not allow it until {0}")]
    Assistant(Timestamp),
    /// The task of another assistant has too few tokens left.
    #[error(
        "{left} tokens are left of what the task may take that the assistant works on, and the request needs {needed}"
    )]
    Task {
        /// How many tokens the task may still take.
        left: u64,
        /// How many the request needs at least.
        needed: u64,
    },
    /// The task of another assistant has ended: what it took was already reported.
    #[error("the task that the assistant works on has ended, so nothing more may be spent on it")]
    TaskEnded,
}

/// What a request counts that a server of tools makes of the model, while the assistant calls it; `None` if neither a budget nor a
/// task of another assistant limits it.
///
/// # Errors
///
/// [`OverBudget`].
pub fn reserve_for_server(
    state: &State,
    prompt_tokens: u32,
    reply_tokens: u32,
    now: Timestamp,
) -> Result<Option<CallReserved>, OverBudget> {
    let settings = &state.configuration.settings;
    let task = state.delegations.current_task(&state.turns);
    if task.is_none() && !settings.budgets.is_limited() {
        return Ok(None);
    }
    let reply_tokens = match task {
        Some(task) => reply_within(task, prompt_tokens, reply_tokens)?,
        None => reply_tokens,
    };
    let wish = CallWish {
        by: ReservedBy::Server,
        prompt_tokens,
        reply_tokens,
    };
    let reserved = wish.reserved(settings, &state.ledger, now);
    reserved.map(Some).map_err(OverBudget::Assistant)
}

/// As much of a reply as the task has room for after the prompt.
fn reply_within(
    task: &TakenTask,
    prompt_tokens: u32,
    reply_tokens: u32,
) -> Result<u32, OverBudget> {
    if !task.is_open() {
        return Err(OverBudget::TaskEnded);
    }
    let left = task.tokens_left();
    let needed = u64::from(prompt_tokens).saturating_add(reply_tokens.min(SHORTEST_REPLY).into());
    if left < needed {
        return Err(OverBudget::Task { left, needed });
    }
    let room = u32::try_from(left.saturating_sub(prompt_tokens.into())).unwrap_or(u32::MAX);
    Ok(reply_tokens.min(room))
}

/// The least that is left of all budgets of a kind.
struct Left {
    tokens: u64,
    picodollars: u64,
}

impl Left {
    fn of(budgets: &SpendingBudgets, ledger: &SpendingLedger, now: Timestamp) -> Self {
        let least = |kind| {
            let left = each(budgets, ledger, now).filter(|it| it.kind == kind);
            left.map(|it| it.left()).min().unwrap_or(u64::MAX)
        };
        Self {
            tokens: least(BudgetKind::Tokens),
            picodollars: least(BudgetKind::Money),
        }
    }
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetKind {
    /// Tokens of prompts and replies.
    Tokens,
    /// Money, in millionths of a millionth of a dollar.
    Money,
}

impl BudgetKind {
    fn of(self, amount: Amount) -> u64 {
        match self {
            Self::Tokens => amount.tokens,
            Self::Money => amount.cost.picos(),
        }
    }
}

/// A budget, and how much of it counts as spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetStatus {
    /// What it counts.
    pub kind: BudgetKind,
    /// The span of time that it is for.
    pub span: BudgetSpan,
    /// The most that may be spent in it.
    pub limit: u64,
    /// What counts as spent.
    pub spent: u64,
}

impl BudgetStatus {
    /// How much may still be spent.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.spent)
    }

    /// How many tokens may still be spent, if each costs at most `price`, in millionths of a millionth of a dollar.
    pub(crate) fn tokens_left(&self, price: u64) -> u64 {
        match self.kind {
            BudgetKind::Tokens => self.left(),
            BudgetKind::Money => self.left().checked_div(price).unwrap_or(u64::MAX),
        }
    }

    /// How much may still be spent, in percent of all, rounded down.
    #[must_use]
    pub fn percent_left(&self) -> u32 {
        let percent = u128::from(self.left()) * 100 / u128::from(self.limit.max(1));
        u32::try_from(percent).unwrap_or(100)
    }
}

/// Every budget that there is, at this time.
pub(crate) fn each<'a>(
    budgets: &'a SpendingBudgets,
    ledger: &'a SpendingLedger,
    now: Timestamp,
) -> impl Iterator<Item = BudgetStatus> + 'a {
    let of = move |kind: BudgetKind, limits: BudgetLimits| {
        limits.each().map(move |(span, limit)| BudgetStatus {
            kind,
            span,
            limit,
            spent: kind.of(ledger.spent(span, now)),
        })
    };
    let tokens = of(BudgetKind::Tokens, budgets.tokens);
    tokens.chain(of(BudgetKind::Money, budgets.picodollars))
}

/// The moment from which on every budget has room for so much; `None` if each has now.
fn free_from(
    budgets: &SpendingBudgets,
    ledger: &SpendingLedger,
    least: Amount,
    now: Timestamp,
) -> Option<Timestamp> {
    let without_room = each(budgets, ledger, now).filter(|it| it.left() < it.kind.of(least));
    let free = without_room.map(|it| {
        let most = it.limit.checked_sub(it.kind.of(least));
        let falls = most.and_then(|most| {
            let count = |amount| it.kind.of(amount);
            match it.span {
                // The next tick begins with nothing spent.
                BudgetSpan::Tick => Some(now),
                span => ledger.falls_to(span, most, now, count),
            }
        });
        falls.unwrap_or(now.plus(LOOK_AGAIN))
    });
    free.max()
}

/// The budget with the least left, if the prompt is to say so.
fn low(budgets: &SpendingBudgets, ledger: &SpendingLedger, now: Timestamp) -> Option<LowBudget> {
    let least = each(budgets, ledger, now).min_by_key(BudgetStatus::percent_left)?;
    let percent = least.percent_left();
    (percent < budgets.low_percent).then_some(LowBudget {
        span: least.span,
        percent,
    })
}

/// The line of the prompt about a budget that is low.
pub(crate) fn low_line(reserved: &CallReserved) -> Option<String> {
    let LowBudget { span, percent } = reserved.low?;
    let span = match span {
        BudgetSpan::Tick => "this tick",
        BudgetSpan::Hour => "an hour",
        BudgetSpan::Day => "a day",
        BudgetSpan::Life => "your life",
    };
    Some(format!(
        "(Of what you may spend on thinking in {span}, {percent} % is left. Be brief.)"
    ))
}
