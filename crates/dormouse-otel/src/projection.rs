//! From events to spans. Pure: the same events give the same spans, under the same ids.

mod span_maker;
#[cfg(test)]
mod tests;

use dormouse_contracts::{EffectKey, Outcome, Seq, Timestamp};
use dormouse_engine::{
    AssessmentOutcome, ContextType, Event, Recorded, StopReason, TickStarted, Verdict,
};

use span_maker::{AGENT, ModelCall, OPERATION, PLACE, SpanMaker, word};

use crate::span::{Life, Span, SpanValue};

/// How many spans a tick may have. The number of further ones is an attribute of the tick.
const MOST_SPANS: usize = 2_000;

/// Whether spans hold what was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanContent {
    /// No words: a digest tells whether two replies are equal.
    #[default]
    Digest,
    /// What the model replied, and what its tools were given and returned.
    Words,
}

/// Makes spans of the events of one life.
///
/// All spans of a tick come when it is over, and the tick is the first span of a trace. Calls of a model outside of ticks, for what
/// sleep and consolidation do, are traces of their own. Parts of a tick whose beginning was not seen are left out, so spans
/// depend on nothing before [`Projection::settled`].
#[derive(Debug)]
pub struct Projection {
    life: Life,
    content: SpanContent,
    settled: Seq,
    tick: Option<OpenTick>,
}

/// A tick that is not over yet.
#[derive(Debug)]
struct OpenTick {
    seq: Seq,
    at: Timestamp,
    started: TickStarted,
    /// The last event of the tick so far.
    last: (Seq, Timestamp),
    spans: Vec<Span>,
    /// Acts without an outcome, with their keys.
    acts: Vec<(EffectKey, Span)>,
    /// Spans of what happened during the tick but is not a part of it.
    meanwhile: Vec<Span>,
    left_out: u64,
    model_calls: u64,
    tool_calls: u64,
}

impl Projection {
    /// The projection of a life. Events up to `after` are already projected.
    #[must_use]
    pub fn new(life: Life, content: SpanContent, after: Seq) -> Self {
        Self {
            life,
            content,
            settled: after,
            tick: None,
        }
    }

    /// The last event before an unfinished tick, or the last event taken. A new projection from here on makes all further
    /// spans.
    #[must_use]
    pub fn settled(&self) -> Seq {
        self.settled
    }

    /// The spans that this event completes, if it completes any. Events come in order.
    pub fn take(&mut self, recorded: &Recorded) -> Vec<Span> {
        let Recorded { seq, at, event } = recorded;
        let spans = match event {
            Event::TickStarted(started) => {
                // Its end is not in the log, so the program was killed in it.
                let interrupted = self.tick.take();
                let spans = interrupted.map(|tick| tick.close(&self.life, Ending::Interrupted));
                self.tick = Some(OpenTick::new(*seq, *at, started.clone()));
                spans.unwrap_or_default()
            }
            Event::TickEnded(ended) => match self.tick.take() {
                Some(mut tick) => {
                    tick.last = (*seq, *at);
                    tick.close(&self.life, Ending::Reason(ended.reason))
                }
                None => Vec::new(),
            },
            Event::Consulted(_) | Event::ConsultationFailed(_) | Event::HistorySummarized(_) => {
                let spans = self.outside_of_ticks(recorded);
                match &mut self.tick {
                    // It waits for the end of the tick: a projection from the settled place would make it again.
                    Some(tick) if tick.meanwhile.len() < MOST_SPANS => {
                        tick.meanwhile.extend(spans);
                        Vec::new()
                    }
                    _ => spans,
                }
            }
            _ => {
                if let Some(tick) = &mut self.tick {
                    tick.take(&self.life, self.content, recorded);
                }
                Vec::new()
            }
        };
        self.settled = match &self.tick {
            Some(tick) => Seq(tick.seq.0.saturating_sub(1)),
            None => *seq,
        };
        spans
    }

    /// A call of a model that is not a part of a tick.
    fn outside_of_ticks(&self, recorded: &Recorded) -> Vec<Span> {
        let Recorded { seq, at, event } = recorded;
        let maker = SpanMaker {
            life: &self.life,
            content: self.content,
            trace: self.life.trace(*seq),
            parent: None,
            earliest: Timestamp::from_micros(i64::MIN),
            seq: *seq,
            at: *at,
        };
        let span = match event {
            Event::Consulted(it) => maker.chat(
                &ModelCall {
                    model: Some(&it.model),
                    usage: it.reply.usage.as_ref(),
                    counted: Some((it.prompt_tokens, it.tokens)),
                    duration_ms: it.duration_ms,
                    purpose: it.about.purpose(),
                    prompt_hash: Some(&it.prompt_hash),
                },
                Some(&it.reply),
            ),
            Event::HistorySummarized(it) => maker.chat(
                &ModelCall {
                    model: Some(&it.model),
                    usage: it.reply.usage.as_ref(),
                    counted: Some((it.prompt_tokens, it.tokens)),
                    duration_ms: it.duration_ms,
                    purpose: "compaction",
                    prompt_hash: Some(&it.prompt_hash),
                },
                Some(&it.reply),
            ),
            Event::ConsultationFailed(it) => {
                let mut span = maker.chat(
                    &ModelCall {
                        purpose: it.about.purpose(),
                        ..ModelCall::default()
                    },
                    None,
                );
                span.fail(word(&it.cause));
                span
            }
            _ => return Vec::new(),
        };
        vec![span]
    }
}

/// How a tick ended.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Reason(StopReason),
    Interrupted,
}

impl Ending {
    fn code(self) -> &'static str {
        match self {
            Self::Reason(reason) => reason.code(),
            Self::Interrupted => "interrupted",
        }
    }

    fn is_error(self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::Reason(reason) => matches!(
                reason,
                StopReason::LlmError
                    | StopReason::ParseError
                    | StopReason::WorldUnreachable
                    | StopReason::GivenUp
            ),
        }
    }
}

impl OpenTick {
    fn new(seq: Seq, at: Timestamp, started: TickStarted) -> Self {
        Self {
            seq,
            at,
            started,
            last: (seq, at),
            spans: Vec::new(),
            acts: Vec::new(),
            meanwhile: Vec::new(),
            left_out: 0,
            model_calls: 0,
            tool_calls: 0,
        }
    }

    /// Adds what the event says about the tick.
    fn take(&mut self, life: &Life, content: SpanContent, recorded: &Recorded) {
        let Recorded { seq, at, event } = recorded;
        let maker = SpanMaker {
            life,
            content,
            trace: life.trace(self.seq),
            parent: Some(life.span(self.seq, TICK)),
            earliest: self.at,
            seq: *seq,
            at: *at,
        };
        let since = self.last.1;
        let span = match event {
            Event::TaskAssessed(it) => it.asked.as_ref().map(|asked| {
                let call = ModelCall {
                    duration_ms: asked.duration_ms,
                    purpose: "assessment",
                    prompt_hash: Some(&asked.prompt_hash),
                    ..ModelCall::default()
                };
                match &asked.outcome {
                    AssessmentOutcome::Replied {
                        model,
                        tokens,
                        usage,
                        ..
                    } => maker.chat(
                        &ModelCall {
                            model: Some(model),
                            usage: usage.as_ref(),
                            counted: Some((asked.prompt_tokens, *tokens)),
                            ..call
                        },
                        None,
                    ),
                    AssessmentOutcome::Failed(kind) => maker.failed(&call, *kind),
                }
            }),
            Event::Replied(it) => Some(maker.chat(
                &ModelCall {
                    model: Some(&it.model),
                    usage: it.reply.usage.as_ref(),
                    counted: Some((it.prompt_tokens, it.tokens)),
                    duration_ms: it.duration_ms,
                    purpose: &word(&it.purpose),
                    prompt_hash: Some(&it.prompt_hash),
                },
                Some(&it.reply),
            )),
            Event::ModelFailed(it) => {
                let call = ModelCall {
                    duration_ms: it.duration_ms,
                    purpose: "answer",
                    ..ModelCall::default()
                };
                let mut span = maker.failed(&call, it.kind);
                span.note("dormouse.attempts", it.attempts);
                if let Some(service) = &it.service {
                    span.note("dormouse.service", service.as_str());
                }
                Some(span)
            }
            Event::Recollected(it) => {
                let mut span = maker.between(since, "search_memory", "search_memory", false);
                span.note("gen_ai.memory.record.count", it.items.len() as u64);
                span.note("dormouse.memory.withheld", it.withheld.len() as u64);
                if let Some(failure) = it.failure {
                    span.fail(word(&failure));
                }
                Some(span)
            }
            Event::Remembered(_) => {
                let mut span = maker.between(*at, "upsert_memory", "upsert_memory", false);
                span.note("gen_ai.memory.record.count", 1_u32);
                Some(span)
            }
            Event::TaskDelegated(_) => {
                Some(maker.between(*at, "invoke_agent", "invoke_agent", true))
            }
            Event::ToolAnswered(it) => match it.verdict {
                // Nothing was done.
                Verdict::Skipped | Verdict::Deferred => None,
                verdict @ (Verdict::Success | Verdict::Failure) => {
                    let mut span = maker.tool(since, &it.tool, it.call.as_str());
                    if it.cached.is_some() {
                        span.note("dormouse.tool.cached", SpanValue::Flag(true));
                    }
                    if content == SpanContent::Words {
                        span.hold("gen_ai.tool.call.result", &it.content);
                    }
                    if it.is_unanswered {
                        span.fail("unanswered".to_owned());
                    } else if verdict == Verdict::Failure {
                        span.fail("failure".to_owned());
                    }
                    Some(span)
                }
            },
            Event::EffectIntended(it) => {
                let mut span = maker.tool(*at, it.tool.as_str(), it.call.as_str());
                span.note("dormouse.effect.key", it.key.as_str());
                if content == SpanContent::Words
                    && let Ok(arguments) = serde_json::to_string(&it.arguments)
                {
                    span.hold("gen_ai.tool.call.arguments", &arguments);
                }
                self.acts.push((it.key.clone(), span));
                None
            }
            Event::EffectSettled(it) => {
                let open = self.acts.iter().position(|(key, _)| *key == it.key);
                let mut span = match open {
                    Some(open) => self.acts.remove(open).1,
                    // It was decided in an earlier tick, whose span of it has the same key.
                    None => {
                        let mut span = maker.between(*at, "execute_tool", "execute_tool", false);
                        span.note("dormouse.effect.key", it.key.as_str());
                        span
                    }
                };
                span.ended_at = (*at).max(span.began_at);
                if content == SpanContent::Words {
                    span.hold("gen_ai.tool.call.result", &it.content);
                }
                match it.outcome {
                    Outcome::Done(_) => {}
                    Outcome::Rejected(_) => span.fail("rejected".to_owned()),
                    Outcome::Unknown => span.fail("unknown".to_owned()),
                }
                Some(span)
            }
            _ => None,
        };
        match event {
            Event::Replied(_) | Event::ModelFailed(_) => self.model_calls += 1,
            Event::TaskAssessed(it) => self.model_calls += u64::from(it.asked.is_some()),
            Event::ToolAnswered(_) | Event::EffectIntended(_) => self.tool_calls += 1,
            _ => {}
        }
        self.last = (*seq, (*at).max(self.last.1));
        self.push(span);
    }

    fn push(&mut self, span: Option<Span>) {
        let Some(span) = span else { return };
        if self.spans.len() < MOST_SPANS {
            self.spans.push(span);
        } else {
            self.left_out += 1;
        }
    }

    /// The spans of the tick, itself first.
    fn close(mut self, life: &Life, ending: Ending) -> Vec<Span> {
        let (last, ended_at) = self.last;
        let ended_at = ended_at.max(self.at);
        for (_, mut span) in std::mem::take(&mut self.acts) {
            // Its outcome comes in a later tick, if it becomes known.
            span.ended_at = ended_at.max(span.began_at);
            span.fail("unsettled".to_owned());
            self.push(Some(span));
        }
        let ended_at = (self.spans.iter().map(|span| span.ended_at)).fold(ended_at, Timestamp::max);
        let mut tick = Span {
            trace: life.trace(self.seq),
            id: life.span(self.seq, TICK),
            parent: None,
            name: format!("invoke_agent {}", life.key.as_str()),
            is_call: false,
            began_at: self.at,
            ended_at,
            attributes: Vec::new(),
            error: None,
        };
        tick.note(OPERATION, "invoke_agent");
        tick.note(AGENT, life.key.as_str());
        tick.note(PLACE, self.seq.0);
        tick.note("dormouse.log.last", last.0);
        tick.note("dormouse.tick", self.started.tick);
        tick.note("dormouse.context", self.started.context.row().name);
        tick.note("dormouse.trigger", self.started.trigger.0);
        tick.note("dormouse.stop_reason", ending.code());
        tick.note("dormouse.model_calls", self.model_calls);
        tick.note("dormouse.tool_calls", self.tool_calls);
        if self.left_out > 0 {
            tick.note("dormouse.left_out_spans", self.left_out);
        }
        if ending.is_error() {
            tick.fail(ending.code().to_owned());
        }
        let is_plan = self.started.context == ContextType::GoalDecompose;
        let plan = is_plan.then(|| {
            let mut plan = Span {
                id: life.span(self.seq, "plan"),
                parent: Some(tick.id),
                name: "plan".to_owned(),
                attributes: Vec::new(),
                error: None,
                ..tick.clone()
            };
            plan.note(OPERATION, "plan");
            plan.note(AGENT, life.key.as_str());
            plan.note(PLACE, self.seq.0);
            plan
        });
        let parts = plan.into_iter().chain(self.spans);
        let all = std::iter::once(tick).chain(parts);
        all.chain(self.meanwhile).collect()
    }
}

const TICK: &str = "tick";
