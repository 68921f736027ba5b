//! What all assistants of a process together may spend on models.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelErrorKind, ModelName,
    ProviderId, ServiceName, TokenCounter, Usage, Usd,
};
use dormouse_engine::{Amount, TokenPrice, UnknownPrice};
use dormouse_providers::count_request;
use futures_util::{Stream, stream};

/// The reply tokens to reserve for a request without a limit.
const LONGEST_REPLY: u32 = 4_096;
/// After this time a request is tried again. Only a restart with another budget can help earlier.
const LOOK_AGAIN: Duration = Duration::from_secs(3_600);

/// The limits; absent without a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessLimits {
    pub(crate) tokens: Option<u64>,
    pub(crate) picodollars: Option<u64>,
    pub(crate) unknown_price: UnknownPrice,
}

/// The budget of the process is used up.
#[derive(Debug, thiserror::Error)]
enum OverBudget {
    #[error(
        "{left} of {limit} tokens are left for all assistants of this process (budgets.tokens_per_process), and the request \
         can take {wanted}"
    )]
    Tokens { left: u64, limit: u64, wanted: u64 },
    #[error(
        "{left} of {limit} are left for all assistants of this process (budgets.dollars_per_process), and the request can \
         cost {wanted}"
    )]
    Money { left: Usd, limit: Usd, wanted: Usd },
    #[error(
        "no price is known for a model that may answer, and budgets.dollars_per_process is set: add it to [[prices]], or set \
         budgets.unknown_price"
    )]
    UnknownPrice,
}

/// A model that is called only within the budget of the process. What a request can take at most is reserved before it
/// is sent, and settled when the provider reports its usage. If it reports none, all that was reserved stays spent.
pub(super) struct BudgetedModel {
    model: Arc<dyn ChatModel>,
    counter: Arc<dyn TokenCounter>,
    limits: ProcessLimits,
    price: Option<TokenPrice>,
    spent: Arc<Mutex<Amount>>,
}

/// `model` within these limits.
pub(super) fn within(
    limits: ProcessLimits,
    price: Option<TokenPrice>,
    counter: Arc<dyn TokenCounter>,
    model: Arc<dyn ChatModel>,
) -> Arc<dyn ChatModel> {
    if limits.tokens.is_none() && limits.picodollars.is_none() {
        return model;
    }
    Arc::new(BudgetedModel {
        model,
        counter,
        limits,
        price,
        spent: Arc::default(),
    })
}

fn locked(spent: &Mutex<Amount>) -> MutexGuard<'_, Amount> {
    spent.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BudgetedModel {
    /// Reserves the most that the request can take.
    fn reserve(&self, request: &ChatRequest) -> Result<Amount, OverBudget> {
        let prompt = count_request(&*self.counter, request).total();
        let reply = request.max_tokens.unwrap_or(LONGEST_REPLY);
        let wanted = self.amount(prompt, reply, None);
        let mut spent = locked(&self.spent);
        if let Some(limit) = self.limits.tokens {
            let left = limit.saturating_sub(spent.tokens);
            if wanted.tokens > left {
                let wanted = wanted.tokens;
                return Err(OverBudget::Tokens {
                    left,
                    limit,
                    wanted,
                });
            }
        }
        if let Some(limit) = self.limits.picodollars {
            if self.price.is_none() && self.limits.unknown_price == UnknownPrice::Refused {
                return Err(OverBudget::UnknownPrice);
            }
            let left = limit.saturating_sub(spent.cost.picos());
            if wanted.cost.picos() > left {
                return Err(OverBudget::Money {
                    left: Usd::from_picos(left),
                    limit: Usd::from_picos(limit),
                    wanted: wanted.cost,
                });
            }
        }
        spent.tokens = spent.tokens.saturating_add(wanted.tokens);
        spent.cost = spent.cost.plus(wanted.cost);
        Ok(wanted)
    }

    fn amount(&self, prompt: u32, reply: u32, reported: Option<Usd>) -> Amount {
        let priced = || {
            self.price
                .map_or(Usd::ZERO, |price| price.cost(prompt, reply))
        };
        Amount {
            tokens: u64::from(prompt).saturating_add(reply.into()),
            cost: reported.unwrap_or_else(priced),
        }
    }
}

impl ChatModel for BudgetedModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        match self.reserve(request) {
            Ok(reserved) => Box::pin(Settling {
                by: self,
                reserved,
                stream: self.model.stream(request),
            }),
            Err(why) => {
                let kind = ModelErrorKind::NotAttempted(Some(LOOK_AGAIN));
                let provider = self.identity().0.clone();
                let refused = ModelError::new(provider, kind, Some(Box::new(why)));
                Box::pin(stream::iter([Err(refused)]))
            }
        }
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        self.model.identity()
    }

    fn services(&self) -> Vec<ServiceName> {
        self.model.services()
    }
}

/// The reply to a request with a reservation.
struct Settling<'a> {
    by: &'a BudgetedModel,
    reserved: Amount,
    stream: BoxStream<'a, Result<ChatDelta, ModelError>>,
}

impl Settling<'_> {
    fn settle(&mut self, amount: Amount) {
        let reserved = std::mem::replace(&mut self.reserved, amount);
        let mut spent = locked(&self.by.spent);
        let cost = spent.cost.picos().saturating_sub(reserved.cost.picos());
        spent.tokens = (spent.tokens.saturating_sub(reserved.tokens)).saturating_add(amount.tokens);
        spent.cost = Usd::from_picos(cost).plus(amount.cost);
    }
}

impl Stream for Settling<'_> {
    type Item = Result<ChatDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.stream.as_mut().poll_next(cx);
        match &next {
            Poll::Ready(Some(Ok(ChatDelta::Usage(Usage {
                prompt_tokens,
                completion_tokens,
                cost,
                ..
            })))) => {
                let used = self.by.amount(*prompt_tokens, *completion_tokens, *cost);
                self.settle(used);
            }
            Poll::Ready(Some(Err(error))) if !error.kind().may_be_charged() => {
                self.settle(Amount::default());
            }
            _ => {}
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{ChatReply, FinishReason, Message, complete};
    use dormouse_testing::{CountTokens, ScriptedModel, ScriptedTurn};

    use super::*;

    fn request() -> ChatRequest {
        ChatRequest {
            messages: vec![Message::User {
                content: "hello".to_owned(),
            }],
            max_tokens: Some(100),
            ..ChatRequest::default()
        }
    }

    fn reply(prompt_tokens: u32, completion_tokens: u32) -> ScriptedTurn {
        ScriptedTurn::Reply(ChatReply {
            content: "hi".to_owned(),
            reasoning: String::new(),
            tool_calls: Vec::new(),
            finish: FinishReason::Stop,
            usage: Some(Usage {
                prompt_tokens,
                completion_tokens,
                ..Usage::default()
            }),
            info: None,
        })
    }

    fn budgeted(
        turns: Vec<ScriptedTurn>,
        limits: ProcessLimits,
    ) -> (Arc<ScriptedModel>, Arc<dyn ChatModel>) {
        let model = Arc::new(ScriptedModel::new(turns));
        let price = TokenPrice {
            input: Usd::from_picos(1),
            output: Usd::from_picos(2),
        };
        let budgeted = within(limits, Some(price), Arc::new(CountTokens), model.clone());
        (model, budgeted)
    }

    #[tokio::test]
    async fn assistants_of_a_process_share_one_budget_and_are_refused_when_it_is_spent() {
        let limits = ProcessLimits {
            tokens: Some(250),
            ..ProcessLimits::default()
        };
        let turns = vec![
            reply(10, 50),
            ScriptedTurn::Fail(ModelErrorKind::TimedOut),
            reply(1, 1),
        ];
        let (model, budgeted) = budgeted(turns, limits);
        complete(&*budgeted, &request()).await.unwrap();
        // The usage of this request is unknown, so the whole reservation stays spent.
        complete(&*budgeted, &request()).await.unwrap_err();
        let refused = complete(&*budgeted, &request()).await.unwrap_err();
        assert_eq!(
            refused.kind(),
            ModelErrorKind::NotAttempted(Some(LOOK_AGAIN))
        );
        let why = std::error::Error::source(&refused).unwrap().to_string();
        assert!(why.contains("of 250 tokens are left"), "{why}");
        assert_eq!(model.requests().len(), 2);
    }

    #[tokio::test]
    async fn money_is_settled_by_the_reported_usage_and_a_refused_connection_costs_nothing() {
        let limits = ProcessLimits {
            picodollars: Some(320),
            ..ProcessLimits::default()
        };
        let unreached = || ScriptedTurn::Fail(ModelErrorKind::Unreachable);
        let turns = vec![unreached(), unreached(), reply(10, 20), reply(1, 1)];
        let (model, budgeted) = budgeted(turns, limits);
        for _ in 0..2 {
            complete(&*budgeted, &request()).await.unwrap_err();
        }
        complete(&*budgeted, &request()).await.unwrap();
        complete(&*budgeted, &request()).await.unwrap();
        assert_eq!(model.requests().len(), 4);
    }
}
