//! What an assistant may spend on models.

use dormouse_contracts::Usd;
use serde::{Deserialize, Serialize};

use crate::event::BudgetSpan;

/// What an assistant may spend on models. Without a limit its spending is not bounded, and nothing is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendingBudgets {
    /// Tokens, of prompts and replies.
    pub tokens: BudgetLimits,
    /// Money, in millionths of a millionth of a dollar.
    pub picodollars: BudgetLimits,
    /// The highest price of all models that may be called, if each has a known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<TokenPrice>,
    /// What a model without a known price may do.
    pub unknown_price: UnknownPrice,
    /// When this percentage of a budget is left, the prompt says so; 0 means never.
    pub low_percent: u32,
}

impl Default for SpendingBudgets {
    fn default() -> Self {
        Self {
            tokens: BudgetLimits::default(),
            picodollars: BudgetLimits::default(),
            price: None,
            unknown_price: UnknownPrice::default(),
            low_percent: 20,
        }
    }
}

impl SpendingBudgets {
    /// Whether anything is limited.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        let none = BudgetLimits::default();
        self.tokens != none || self.picodollars != none
    }

    pub(super) fn are_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The limits of one kind, one for each span of time. An absent one is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetLimits {
    /// For one tick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<u64>,
    /// For any 60 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hour: Option<u64>,
    /// For any 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<u64>,
    /// For the whole life of the assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<u64>,
}

impl BudgetLimits {
    /// The limits that are set.
    pub fn each(self) -> impl Iterator<Item = (BudgetSpan, u64)> {
        let all = [
            (BudgetSpan::Tick, self.tick),
            (BudgetSpan::Hour, self.hour),
            (BudgetSpan::Day, self.day),
            (BudgetSpan::Life, self.life),
        ];
        all.into_iter()
            .filter_map(|(span, limit)| Some((span, limit?)))
    }
}

/// What a model without a known price may do if there is a limit in money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownPrice {
    /// It is not called.
    #[default]
    Refused,
    /// It is called, and counts as free of charge.
    Allowed,
}

/// The price of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenPrice {
    /// The price of a prompt token, cached or not, whichever costs more.
    pub input: Usd,
    /// The price of a reply token.
    pub output: Usd,
}

impl TokenPrice {
    /// The maximum cost of this many tokens.
    #[must_use]
    pub fn cost(&self, prompt_tokens: u32, reply_tokens: u32) -> Usd {
        let prompt = self.input.times(prompt_tokens.into());
        prompt.plus(self.output.times(reply_tokens.into()))
    }

    /// How many reply tokens this amount of money pays for.
    pub(crate) fn reply_for(&self, picodollars: u64) -> u32 {
        let tokens = picodollars.checked_div(self.output.picos());
        u32::try_from(tokens.unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
    }
}
