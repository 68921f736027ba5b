//! The calls of tools in a log: which tool, how long it took, and how it ended.

mod metrics;

use std::collections::{BTreeMap, VecDeque};

use dormouse_contracts::{
    AssistantId, CallId, EffectKey, ModelName, Outcome, ProviderId, ReadEvents, Seq, Timestamp,
    ToolCategory, each_event,
};
use dormouse_text::beginning;
use serde::Serialize;
use serde_json::Value;

pub use metrics::{ExecutionMetrics, ModelMetrics, TaskMetrics, ToolMetrics};

use crate::{
    event::{Call, EffectIntended, Event, Replied, Verdict},
    replay::ReplayError,
    secrets::without_secrets,
};

/// The longest thoughts that are shown with a call, in characters.
const REASONING_LIMIT: usize = 400;

/// One call of a tool, from the decision to its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Execution {
    /// The event that has the result.
    pub seq: Seq,
    /// The number of the tick in which the result came.
    pub tick: u64,
    /// When the result came.
    pub at: Timestamp,
    /// The tool, as the model named it.
    pub tool: String,
    /// What calling it does to the loop; absent if there is no such tool.
    pub category: Option<ToolCategory>,
    /// The arguments, as the model wrote them.
    pub parameters: String,
    /// What the model thought, if it said so, cut to 400 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// How the call ended.
    pub verdict: Verdict,
    /// What was wrong, if it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took, in milliseconds: retries included, and for an act also the time in which the program was off.
    pub duration_ms: f64,
    /// Whether it is the result of an earlier call, used again.
    pub cached: bool,
    /// Whether the tool gave no answer.
    pub unanswered: bool,
    /// The provider of the model that decided it, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderId>,
    /// The model that decided it; absent for what the program says itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
}

/// Passes every call of a tool in the log of an assistant to `each`, oldest first. Takes one page of events into memory at a
/// time.
///
/// # Errors
///
/// [`ReplayError`] if the log cannot be read.
pub async fn executions<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    mut each: impl FnMut(Execution),
) -> Result<(), ReplayError> {
    let mut calls = Calls::default();
    let read = each_event::<_, ReplayError>(log, key, .., |stored| {
        let event = Event::decode(stored)?;
        calls
            .take(stored.seq, stored.at, &event)
            .into_iter()
            .for_each(&mut each);
        Ok(())
    });
    read.await
}

/// Which calls are wanted.
#[derive(Clone, Debug, Default)]
pub struct ExecutionFilter {
    /// Only those of this tool.
    pub tool: Option<String>,
    /// Only those that failed.
    pub is_failed: bool,
}

impl ExecutionFilter {
    fn lets_through(&self, it: &Execution) -> bool {
        self.tool.as_ref().is_none_or(|tool| it.tool == *tool)
            && (!self.is_failed || it.verdict == Verdict::Failure)
    }
}

/// The newest calls of tools, at most `most`, oldest first.
///
/// # Errors
///
/// [`ReplayError`] if the log cannot be read.
pub async fn newest_executions<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    filter: &ExecutionFilter,
    most: usize,
) -> Result<VecDeque<Execution>, ReplayError> {
    let mut newest = VecDeque::new();
    let keep = |execution: Execution| {
        if filter.lets_through(&execution) {
            if newest.len() >= most {
                newest.pop_front();
            }
            newest.push_back(execution);
        }
    };
    executions(log, key, keep).await?;
    Ok(newest)
}

/// Counts all calls in the log of an assistant, over its whole life. Takes one page of events into memory at a time.
///
/// # Errors
///
/// [`ReplayError`] if the log cannot be read.
pub async fn execution_metrics<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
) -> Result<ExecutionMetrics, ReplayError> {
    let (mut calls, mut metrics) = (Calls::default(), ExecutionMetrics::default());
    let read = each_event::<_, ReplayError>(log, key, .., |stored| {
        let event = Event::decode(stored)?;
        metrics.note(&event);
        if let Some(execution) = calls.take(stored.seq, stored.at, &event) {
            metrics.add(&execution);
        }
        Ok(())
    });
    read.await.map(|()| metrics)
}

/// The calls that have no result yet.
#[derive(Debug, Default)]
struct Calls {
    tick: u64,
    open: BTreeMap<CallId, Call>,
    /// Acts under way: their call, and since when.
    acts: BTreeMap<EffectKey, (EffectIntended, Timestamp)>,
    /// The reply that has them.
    reply: ReplyOrigin,
    /// Since when the next call has been under way: one assistant makes one at a time.
    since: Option<Timestamp>,
}

/// What is known of a reply, in addition to its calls.
#[derive(Debug, Default)]
struct ReplyOrigin {
    reasoning: Option<String>,
    provider: Option<ProviderId>,
    model: Option<ModelName>,
}

impl Calls {
    fn take(&mut self, seq: Seq, at: Timestamp, event: &Event) -> Option<Execution> {
        match &*without_secrets(event) {
            Event::TickStarted(it) => {
                self.tick = it.tick;
                self.since = Some(at);
                None
            }
            Event::Replied(it) => {
                self.open = it
                    .calls
                    .iter()
                    .map(|it| (it.id.clone(), it.clone()))
                    .collect();
                self.acts.clear();
                self.take_reply(it);
                self.since = Some(at);
                None
            }
            Event::ToolAnswered(it) => {
                let since = self.since.replace(at).unwrap_or(at);
                let known = self.open.remove(&it.call);
                Some(Execution {
                    category: it.category,
                    verdict: it.verdict,
                    error: error_in(&it.content),
                    cached: it.cached.is_some(),
                    unanswered: it.is_unanswered,
                    ..self.execution((seq, at), it.tool.clone(), known, since)
                })
            }
            Event::EffectIntended(it) => {
                self.acts.insert(it.key.clone(), (it.clone(), at));
                None
            }
            Event::EffectSettled(it) => {
                let (act, since) = self.acts.remove(&it.key)?;
                self.since = Some(at);
                let known = self.open.remove(&act.call);
                let tool = act.tool.to_string();
                let arguments = Value::Object(act.arguments).to_string();
                let parameters = known.as_ref().map(|call| call.arguments.clone());
                Some(Execution {
                    parameters: parameters.unwrap_or(arguments),
                    category: Some(act.category),
                    verdict: Verdict::from(&it.outcome),
                    error: error_in(&it.content),
                    unanswered: it.outcome == Outcome::Unknown,
                    ..self.execution((seq, at), tool, known, since)
                })
            }
            _ => None,
        }
    }

    fn take_reply(&mut self, replied: &Replied) {
        let thoughts = replied.reply.reasoning.trim();
        let thoughts = (!thoughts.is_empty()).then(|| beginning(thoughts, REASONING_LIMIT));
        let info = replied.reply.info.as_ref();
        self.reply = ReplyOrigin {
            reasoning: thoughts.map(ToOwned::to_owned),
            provider: info.map(|info| info.provider.clone()),
            model: Some(replied.model.clone()),
        };
    }

    fn execution(
        &self,
        (seq, at): (Seq, Timestamp),
        tool: String,
        call: Option<Call>,
        since: Timestamp,
    ) -> Execution {
        // A notice of the program is not part of a reply, so it has no model and no thoughts.
        let reply = call.as_ref().map(|_| &self.reply);
        Execution {
            seq,
            tick: self.tick,
            at,
            tool,
            category: None,
            parameters: call.map_or_else(|| "{}".to_owned(), |call| call.arguments),
            reasoning: reply.and_then(|reply| reply.reasoning.clone()),
            verdict: Verdict::Success,
            error: None,
            duration_ms: at.since(since).as_secs_f64() * 1_000.0,
            cached: false,
            unanswered: false,
            provider: reply.and_then(|reply| reply.provider.clone()),
            model: reply.and_then(|reply| reply.model.clone()),
        }
    }
}

/// The error in a result.
fn error_in(content: &str) -> Option<String> {
    let result: Value = serde_json::from_str(content).ok()?;
    Some(result.get("error")?.as_str()?.to_owned())
}
