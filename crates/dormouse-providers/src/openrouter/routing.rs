//! Which providers and which models may answer.

use dormouse_contracts::{ModelName, Usd};

/// May another provider answer than those that are named?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fallbacks {
    /// Yes, where those cannot.
    #[default]
    Allowed,
    /// No; then there is no answer.
    Refused,
}

/// May those answer who keep what they are sent and may train on it?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataCollection {
    /// As the account is set up.
    #[default]
    AsAccount,
    /// Yes.
    Allowed,
    /// No.
    Denied,
}

/// How long a provider may keep what it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataRetention {
    /// As the account is set up.
    #[default]
    AsAccount,
    /// Not at all.
    None,
}

/// What a million tokens may cost at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxPrice {
    /// Those of the prompt; anything where absent.
    pub prompt: Option<Usd>,
    /// Those of the reply; anything where absent.
    pub completion: Option<Usd>,
}

/// Which providers and which models may answer; by default whoever OpenRouter finds best.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routing {
    /// Models to ask in turn where the first one cannot answer. The reply says which one did.
    pub models: Vec<ModelName>,
    /// Providers to ask first, in this order, by OpenRouter's short names such as `anthropic` or `deepinfra/turbo`.
    pub order: Vec<String>,
    /// Whether others may answer where these cannot.
    pub fallbacks: Fallbacks,
    /// Whether those may answer who collect data.
    pub data_collection: DataCollection,
    /// How long a provider may keep what it is sent.
    pub retention: DataRetention,
    /// What a million tokens may cost.
    pub max_price: MaxPrice,
}

#[cfg(feature = "openai")]
impl Routing {
    /// The models in OpenRouter's words, with the one that is asked first; nothing where it is the only one.
    pub(super) fn models_json(&self, first: &ModelName) -> Option<serde_json::Value> {
        let names = self.models.iter().filter(|name| *name != first);
        let names: Vec<&str> = std::iter::once(first)
            .chain(names)
            .map(ModelName::as_str)
            .collect();
        (names.len() > 1).then(|| names.into())
    }

    /// The providers in OpenRouter's words; nothing where all may answer.
    pub(super) fn provider_json(&self) -> Option<serde_json::Value> {
        let mut json = serde_json::Map::new();
        let mut set = |name: &str, value: serde_json::Value| {
            json.insert(name.to_owned(), value);
        };
        if !self.order.is_empty() {
            set("order", self.order.clone().into());
        }
        if self.fallbacks == Fallbacks::Refused {
            set("allow_fallbacks", false.into());
        }
        match self.data_collection {
            DataCollection::AsAccount => {}
            DataCollection::Allowed => set("data_collection", "allow".into()),
            DataCollection::Denied => set("data_collection", "deny".into()),
        }
        if self.retention == DataRetention::None {
            set("zdr", true.into());
        }
        let prices = [
            ("prompt", self.max_price.prompt),
            ("completion", self.max_price.completion),
        ];
        let prices = prices
            .into_iter()
            .filter_map(|(name, price)| Some((name.to_owned(), price?.dollars().into())));
        let prices: serde_json::Map<_, _> = prices.collect();
        if !prices.is_empty() {
            set("max_price", prices.into());
        }
        (!json.is_empty()).then(|| json.into())
    }
}

#[cfg(all(test, feature = "openai"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_left_to_openrouter_is_not_said() {
        let first = ModelName::try_new("a/b").unwrap();
        let routing = Routing {
            models: vec![first.clone()],
            ..Routing::default()
        };
        assert_eq!(
            (routing.models_json(&first), routing.provider_json()),
            (None, None)
        );
    }

    #[test]
    fn every_wish_is_said_in_openrouters_words() {
        let first = ModelName::try_new("a/b").unwrap();
        let routing = Routing {
            models: vec![ModelName::try_new("c/d").unwrap()],
            order: vec!["anthropic".to_owned(), "azure".to_owned()],
            fallbacks: Fallbacks::Refused,
            data_collection: DataCollection::Denied,
            retention: DataRetention::None,
            max_price: MaxPrice {
                prompt: Usd::from_dollars(0.5),
                completion: Usd::from_dollars(2.0),
            },
        };
        assert_eq!(routing.models_json(&first), Some(json!(["a/b", "c/d"])));
        assert_eq!(
            routing.provider_json(),
            Some(json!({
                "order": ["anthropic", "azure"], "allow_fallbacks": false, "data_collection": "deny", "zdr": true,
                "max_price": {"prompt": 0.5, "completion": 2.0},
            }))
        );
    }
}
