//! What is known about a model without a request.

use dormouse_contracts::{ModelName, ProviderId, Usd};
use dormouse_host::provider::{ProviderError, open};
use dormouse_providers::{
    Choice, Price, PriceTable, context_window, output_limit, token_counter_for,
};
use serde_json::{Value, json};

/// The number of tokens that prices are given for.
const MILLION: u64 = 1_000_000;

/// What is known about a model.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) provider: ProviderId,
    pub(crate) model: ModelName,
    pub(crate) window: Option<u32>,
    pub(crate) output_limit: Option<u32>,
    pub(crate) price: Option<Price>,
    /// Whether it is part of this program.
    pub(crate) is_own: bool,
}

impl Known {
    /// What is known about this model.
    pub(crate) fn of(choice: &Choice, prices: &PriceTable) -> Result<Self, ProviderError> {
        let model = open(choice, &dormouse_providers::Network::direct())?;
        let (provider, model) = model.identity();
        Ok(Self {
            window: context_window(model),
            output_limit: output_limit(model),
            price: prices.price(provider, model).cloned(),
            is_own: matches!(choice, Choice::Offline { .. }),
            provider: provider.clone(),
            model: model.clone(),
        })
    }

    /// Whether more than its name is known.
    pub(crate) fn is_known(&self) -> bool {
        self.is_own || self.window.is_some() || self.price.is_some()
    }

    /// Whether its tokens are counted exactly.
    pub(crate) fn is_counted_exactly(&self) -> bool {
        let counter = token_counter_for(&self.provider, &self.model);
        counter.count("tea").exact
    }

    /// Its context window and the limit of a reply, for people.
    pub(crate) fn window_text(&self) -> String {
        let limit = self
            .output_limit
            .map(|limit| format!(", replies up to {}", tokens(limit)));
        let window = match self.window {
            Some(window) => format!("window {}", tokens(window)),
            None => "window unknown".to_owned(),
        };
        window + &limit.unwrap_or_default()
    }

    /// What it costs, for people.
    pub(crate) fn price_text(&self) -> String {
        let Some(price) = &self.price else {
            return match self.is_own {
                true => "costs nothing".to_owned(),
                false => "price unknown; [[prices]] in the configuration can set it".to_owned(),
            };
        };
        let mut text = format!("{}, {}", Prices::of(price).text(), price.cost_source());
        if !price.source().is_empty() {
            text += &format!(" ({})", price.source());
        }
        if let Some(limit) = price.dearer_beyond() {
            text += &format!("; more for prompts beyond {}", tokens(limit));
        }
        text
    }

    /// What it costs, for programs; `null` if that is unknown.
    pub(crate) fn price_value(&self) -> Value {
        let Some(price) = &self.price else {
            return Value::Null;
        };
        let mut value = Prices::of(price).per_million();
        if let Value::Object(fields) = &mut value {
            fields.insert("dearer_beyond".to_owned(), json!(price.dearer_beyond()));
            fields.insert("said_by".to_owned(), json!(price.cost_source().to_string()));
            fields.insert("source".to_owned(), json!(price.source()));
        }
        value
    }
}

/// What a token costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    pub(super) input: Usd,
    pub(super) output: Usd,
    pub(super) cached_input: Option<Usd>,
    pub(super) cache_write: Option<Usd>,
}

impl Prices {
    fn of(price: &Price) -> Self {
        Self {
            input: price.input(),
            output: price.output(),
            cached_input: Some(price.cached_input()),
            cache_write: Some(price.cache_write()),
        }
    }

    /// In dollars for a million tokens.
    pub(super) fn per_million(self) -> Value {
        let million = |price: Usd| price.times(MILLION).dollars();
        json!({
            "input": million(self.input),
            "output": million(self.output),
            "cached_input": self.cached_input.map(million),
            "cache_write": self.cache_write.map(million),
        })
    }

    /// For people.
    pub(super) fn text(self) -> String {
        let million = |price: Usd| dollars(price.times(MILLION));
        format!(
            "{} in and {} out for a million tokens",
            million(self.input),
            million(self.output)
        )
    }
}

/// An amount without trailing zeros, but with at least two decimals.
fn dollars(amount: Usd) -> String {
    let text = amount.to_string();
    let bare = text.trim_end_matches('0');
    let decimals = bare.split_once('.').map_or(0, |(_, part)| part.len());
    let zeros = 2_usize.saturating_sub(decimals);
    format!("{bare}{}", "0".repeat(zeros))
}

/// A number of tokens as people write it.
pub(super) fn tokens(count: u32) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_counts_are_written_for_people() {
        let text = |dollars_: f64| dollars(Usd::from_dollars(dollars_).unwrap());
        assert_eq!(
            [text(0.4), text(1.0), text(0.125), text(0.0)],
            ["$0.40", "$1.00", "$0.125", "$0.00"]
        );
        assert_eq!(
            [tokens(7), tokens(4_096), tokens(1_047_576)],
            ["7", "4,096", "1,047,576"]
        );
    }
}
