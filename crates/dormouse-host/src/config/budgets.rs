//! `[budgets]`: what may be spent on models.

use dormouse_contracts::Usd;
use dormouse_engine::{BudgetLimits, SpendingBudgets, TokenPrice, UnknownPrice};

use super::{
    numbers::{DollarBudget, Percent, TokenCount},
    section::section,
    words,
};
use crate::host::ProcessLimits;

section! {
    /// `[budgets]`: what may be spent on models.
    #[schemars(extend("x-when" = "next_tick"))]
    pub struct BudgetsSection {
        /// Tokens of prompts and replies that an assistant may take in one tick
        #[schemars(with = "TokenCount", extend("x-unset" = "no limit", "x-example" = 50_000))]
        tokens_per_tick: Option<TokenCount> = None,
        /// Tokens that it may take in any 60 minutes
        #[schemars(with = "TokenCount", extend("x-unset" = "no limit", "x-example" = 500_000))]
        tokens_per_hour: Option<TokenCount> = None,
        /// Tokens that it may take in any 24 hours
        #[schemars(with = "TokenCount", extend("x-unset" = "no limit", "x-example" = 2_000_000))]
        tokens_per_day: Option<TokenCount> = None,
        /// Tokens that it may take in its whole life
        #[schemars(with = "TokenCount", extend("x-unset" = "no limit", "x-example" = 100_000_000))]
        tokens_per_assistant: Option<TokenCount> = None,
        /// Tokens that all assistants together may take while the program runs
        #[schemars(with = "TokenCount", extend("x-unset" = "no limit", "x-example" = 10_000_000, "x-when" = "start"))]
        tokens_per_process: Option<TokenCount> = None,
        /// Dollars that an assistant may spend in one tick
        #[schemars(with = "DollarBudget", extend("x-unset" = "no limit", "x-example" = 0.1))]
        dollars_per_tick: Option<DollarBudget> = None,
        /// Dollars that it may spend in any 60 minutes
        #[schemars(with = "DollarBudget", extend("x-unset" = "no limit", "x-example" = 0.5))]
        dollars_per_hour: Option<DollarBudget> = None,
        /// Dollars that it may spend in any 24 hours
        #[schemars(with = "DollarBudget", extend("x-unset" = "no limit", "x-example" = 2.5))]
        dollars_per_day: Option<DollarBudget> = None,
        /// Dollars that it may spend in its whole life
        #[schemars(with = "DollarBudget", extend("x-unset" = "no limit", "x-example" = 100.0))]
        dollars_per_assistant: Option<DollarBudget> = None,
        /// Dollars that all assistants together may spend while the program runs
        #[schemars(with = "DollarBudget", extend("x-unset" = "no limit", "x-example" = 20.0, "x-when" = "start"))]
        dollars_per_process: Option<DollarBudget> = None,
        /// Whether a model without a known price may be called if a budget is in dollars. If it is called, it counts as free of charge
        #[schemars(schema_with = "words::unknown_price", extend("default" = "refused"))]
        unknown_price: UnknownPrice = UnknownPrice::default(),
        /// The prompt says when less than this percentage of a budget is left; 0: never
        low_percent: Percent = super::numbers::Whole(SpendingBudgets::default().low_percent),
    }
}

fn tokens(limit: Option<TokenCount>) -> Option<u64> {
    limit.map(|limit| limit.0.into())
}

fn picodollars(limit: Option<DollarBudget>) -> Option<u64> {
    let money = limit.and_then(|DollarBudget(dollars)| Usd::from_dollars(dollars));
    money.map(Usd::picos)
}

impl BudgetsSection {
    /// What one assistant may spend, if this is the highest price of its models.
    #[must_use]
    pub fn budgets(&self, price: Option<TokenPrice>) -> SpendingBudgets {
        let picodollars = BudgetLimits {
            tick: picodollars(self.dollars_per_tick),
            hour: picodollars(self.dollars_per_hour),
            day: picodollars(self.dollars_per_day),
            life: picodollars(self.dollars_per_assistant),
        };
        SpendingBudgets {
            tokens: BudgetLimits {
                tick: tokens(self.tokens_per_tick),
                hour: tokens(self.tokens_per_hour),
                day: tokens(self.tokens_per_day),
                life: tokens(self.tokens_per_assistant),
            },
            // Without a limit in money no price is needed. Then a change of prices does not change the configuration.
            price: price.filter(|_| picodollars != BudgetLimits::default()),
            picodollars,
            unknown_price: self.unknown_price,
            low_percent: self.low_percent.0,
        }
    }

    /// What all assistants of the process together may spend.
    pub(crate) fn of_process(&self) -> ProcessLimits {
        ProcessLimits {
            tokens: tokens(self.tokens_per_process),
            picodollars: picodollars(self.dollars_per_process),
            unknown_price: self.unknown_price,
        }
    }
}
