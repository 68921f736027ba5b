//! All models of an assistant, each behind its guard, in lists with failover.

use std::{collections::BTreeMap, fs, num::NonZeroUsize, path::Path, sync::Arc, time::Duration};

use dormouse_contracts::{BoxError, ChatModel, ModelName, ProviderId, Purpose, Usage, Usd};
use dormouse_engine::TokenPrice;
use dormouse_providers::{
    Accounts, CachedCounter, CalibratedCounter, Choice, EmptyRoute, FailoverModel, GuardedModel,
    Heartbeats, ModelSwitch, Network, NetworkTimeouts, PriceEntry, PriceTable, Route, ServerConfig,
    context_window, token_counter_for,
};
use dormouse_resilience::{BulkheadPolicy, Guard, HealthBoard, RateLimit, RetryBudget};

use super::{choice::Chosen, error::ProviderError, open::open};
use crate::config::{HeartbeatPolicy, ProviderSection};

/// How long one attempt of a model call may take by default.
const TIMEOUT: Duration = GuardedModel::DEFAULT_DEADLINE;

/// How many token counts are cached: the parts of a prompt, and some more.
const COUNTED: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();

/// How many calls may wait for a slot.
const WAITING: u32 = 64;

/// All models of an assistant.
#[derive(Debug)]
pub struct Models {
    /// The model that the assistant asks: all lists behind one interface.
    pub model: FailoverModel,
    /// Each of them, ordered by the name of its service.
    pub each: Vec<GuardedModel>,
    /// The health of each of them.
    pub board: HealthBoard,
    /// What they used.
    pub accounts: Accounts,
    /// Counts tokens as the first of these models does. It is not calibrated by replies: a decision that depends on a
    /// count must be the same when the life is decided again.
    pub counter: Arc<CachedCounter>,
    /// The context window of the first of them, if it is known.
    pub window: Option<u32>,
    /// The highest price of all of them, if each has a known price.
    pub price: Option<TokenPrice>,
    /// How long one attempt may take, including the wait for a slot and for the rate limit.
    pub timeout: Duration,
    /// Limits the retries of all callers.
    pub retry_budget: RetryBudget,
}

impl Models {
    /// One model for every purpose, behind a guard without limits. Sends nothing.
    #[must_use]
    pub fn of(model: Arc<dyn ChatModel>) -> Self {
        let (provider, name) = model.identity();
        let window = context_window(name);
        let counter = Arc::new(CachedCounter::new(
            token_counter_for(provider, name),
            COUNTED,
        ));
        let (board, retry_budget) = (HealthBoard::new(), RetryBudget::default());
        let prices = PriceTable::listed();
        let price = price_of(&prices, provider, name);
        let accounts = Accounts::new(prices);
        let guard = Guard::builder(format!("{provider}:{name}")).budget(retry_budget.clone());
        let guard = guard.build();
        board.watch(&guard);
        let model = GuardedModel::new(model, guard)
            .with_deadline(TIMEOUT)
            .with_accounts(accounts.clone());
        Self {
            each: vec![model.clone()],
            model: FailoverModel::builder(Route::of(model)).build(),
            board,
            accounts,
            counter,
            window,
            price,
            timeout: TIMEOUT,
            retry_budget,
        }
    }
}

/// The price of a model, if it is the same for prompts of any length.
fn price_of(prices: &PriceTable, provider: &ProviderId, name: &ModelName) -> Option<TokenPrice> {
    let Some(price) = prices.price(provider, name) else {
        let cost = prices.cost(provider, name, &Usage::default()).amount();
        let is_free = cost == Some(Usd::ZERO);
        return is_free.then(TokenPrice::default);
    };
    let input = price
        .input()
        .max(price.cached_input())
        .max(price.cache_write());
    let is_known = price.dearer_beyond().is_none();
    is_known.then(|| TokenPrice {
        input,
        output: price.output(),
    })
}

/// The higher price of both; not known if one of them is not.
fn dearer(one: Option<TokenPrice>, other: Option<TokenPrice>) -> Option<TokenPrice> {
    let (one, other) = (one?, other?);
    Some(TokenPrice {
        input: one.input.max(other.input),
        output: one.output.max(other.output),
    })
}

/// Creates the models of a configuration. Sends nothing.
///
/// # Errors
///
/// [`ProviderError`] if a model, a limit or a price cannot be used.
pub fn assemble(
    chosen: &Chosen,
    section: &ProviderSection,
    prices: &[PriceEntry],
    network: &Network,
    switched: impl Fn(&ModelSwitch) + Send + Sync + 'static,
) -> Result<Models, ProviderError> {
    let prices = price_table(prices)?;
    let mut assembler = ModelAssembler {
        section,
        network,
        board: HealthBoard::new(),
        accounts: Accounts::new(prices.clone()),
        retry_budget: RetryBudget::default(),
        made: BTreeMap::new(),
    };
    let first = assembler.guarded(&chosen.choice)?;
    let window = context_window(first.model.identity().1);
    let heartbeats = match section.heartbeats {
        HeartbeatPolicy::First => Heartbeats::FirstModelOnly,
        HeartbeatPolicy::Any => Heartbeats::AnyModel,
    };
    let mut main = Route::of(first.model);
    let mut uses = Vec::new();
    for list in chosen.lists(section)? {
        match list.purpose {
            // Its first model is the chosen one, which already exists.
            None => {
                for choice in list.models.iter().skip(1) {
                    main = main.then(assembler.guarded(choice)?.model);
                }
            }
            Some(purpose) => uses.push((purpose, assembler.route(purpose, &list.models)?)),
        }
    }
    let builder = FailoverModel::builder(main)
        .heartbeats(heartbeats)
        .on_switch(switched);
    let builder = uses.into_iter().fold(builder, |builder, (purpose, route)| {
        builder.route(purpose, route)
    });
    let ModelAssembler {
        board,
        accounts,
        retry_budget,
        made,
        ..
    } = assembler;
    let each: Vec<_> = made.into_values().map(|made| made.model).collect();
    let price = each.iter().map(|model| {
        let (provider, name) = model.identity();
        price_of(&prices, provider, name)
    });
    Ok(Models {
        price: price.reduce(dearer).flatten(),
        each,
        model: builder.build(),
        board,
        accounts,
        counter: first.counter,
        window,
        timeout: timeout(section) + RateLimit::reported_only().longest_wait(),
        retry_budget,
    })
}

/// The known prices. Those of the configuration take precedence.
///
/// # Errors
///
/// [`ProviderError::Prices`] if a price is invalid.
pub fn price_table(prices: &[PriceEntry]) -> Result<PriceTable, ProviderError> {
    let prices = PriceTable::listed().with_overrides(prices);
    prices.map_err(|error| ProviderError::Prices(error.into()))
}

fn timeout(section: &ProviderSection) -> Duration {
    section.timeout.0
}

/// The network settings, with the configured certificates.
///
/// # Errors
///
/// [`ProviderError::Certificates`] if the certificates cannot be used.
pub fn network(section: &ProviderSection) -> Result<Network, ProviderError> {
    let network = Network::direct().with_timeouts(timeouts(section));
    let Some(certificates) = &section.certificates else {
        return Ok(network);
    };
    let file = &certificates.value;
    trusting(network, file).map_err(|source| ProviderError::Certificates {
        place: certificates.place().to_owned(),
        file: file.clone(),
        source,
    })
}

/// How long a server may be silent.
fn timeouts(section: &ProviderSection) -> NetworkTimeouts {
    NetworkTimeouts {
        first_byte: section.first_byte_timeout.0,
        between_bytes: section.between_bytes_timeout.0,
    }
}

fn trusting(network: Network, file: &Path) -> Result<Network, BoxError> {
    Ok(network.trusting(&fs::read(file)?)?)
}

/// Creates models. A model that is in several lists is created once.
struct ModelAssembler<'a> {
    section: &'a ProviderSection,
    network: &'a Network,
    board: HealthBoard,
    accounts: Accounts,
    /// The retry budget of the caller, shared by all models. Each guard reports how much of it is left.
    retry_budget: RetryBudget,
    made: BTreeMap<String, Made>,
}

#[derive(Clone)]
struct Made {
    model: GuardedModel,
    counter: Arc<CachedCounter>,
}

impl ModelAssembler<'_> {
    fn route(&mut self, purpose: Purpose, models: &[Choice]) -> Result<Route, ProviderError> {
        let models = models.iter().map(|choice| Ok(self.guarded(choice)?.model));
        let models = models.collect::<Result<Vec<_>, ProviderError>>()?;
        Route::try_new(models).map_err(|EmptyRoute| ProviderError::EmptyList(purpose))
    }

    fn guarded(&mut self, choice: &Choice) -> Result<Made, ProviderError> {
        let name = service(choice);
        if let Some(made) = self.made.get(&name) {
            return Ok(made.clone());
        }
        let model = open(&named(choice, self.section), self.network)?;
        let guard = self.guard(&name)?;
        self.board.watch(&guard);
        let (provider, model_name) = model.identity();
        let counter = CachedCounter::new(token_counter_for(provider, model_name), COUNTED);
        let counter = Arc::new(counter);
        // The rate limit needs good estimates, and no decision in the log depends on it.
        let calibrated = CalibratedCounter::new(Arc::clone(&counter) as _);
        let model = GuardedModel::new(model, guard)
            .with_deadline(timeout(self.section))
            .with_accounts(self.accounts.clone())
            .with_counter(Arc::new(calibrated));
        let made = Made { model, counter };
        self.made.insert(name, made.clone());
        Ok(made)
    }

    fn guard(&self, name: &str) -> Result<Guard, ProviderError> {
        let out_of_range = |error: BoxError| ProviderError::Limit(error);
        let mut limit = RateLimit::reported_only();
        if let Some(requests) = self.section.requests_per_minute {
            let limited = limit.try_with_requests(requests.0, requests.0);
            limit = limited.map_err(|error| out_of_range(error.into()))?;
        }
        if let Some(tokens) = self.section.tokens_per_minute {
            let limited = limit.try_with_units(tokens.0, tokens.0);
            limit = limited.map_err(|error| out_of_range(error.into()))?;
        }
        let budget = self.retry_budget.clone();
        let mut guard = Guard::builder(name).rate_limit(limit).budget(budget);
        if let Some(at_once) = self.section.at_once {
            let places = BulkheadPolicy::try_new(at_once.0, WAITING);
            guard = guard.bulkhead(places.map_err(|error| out_of_range(error.into()))?);
        }
        Ok(guard.build())
    }
}

/// The same choice with the configured names for OpenRouter.
pub fn named(choice: &Choice, section: &ProviderSection) -> Choice {
    let mut choice = choice.clone();
    if let Choice::Server {
        config: ServerConfig::OpenRouter(config),
        ..
    } = &mut choice
    {
        if let Some(name) = &section.app_name {
            config.app_name.clone_from(name);
        }
        if let Some(url) = &section.site_url {
            config.site_url.clone_from(url);
        }
    }
    choice
}

/// The name of a service, as in `openai:gpt-4.1-mini@https://api.openai.com/v1`.
pub fn service(choice: &Choice) -> String {
    match choice {
        Choice::Offline { .. } => "offline".to_owned(),
        Choice::Server { config, .. } => {
            format!(
                "{}:{}@{}",
                config.provider(),
                config.model(),
                config.base_url()
            )
        }
    }
}
