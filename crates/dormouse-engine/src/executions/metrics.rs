//! Calls of tools and models, counted.

use std::collections::BTreeMap;

use dormouse_contracts::Usage;
use serde::Serialize;

use super::Execution;
use crate::event::{AssessmentCall, AssessmentOutcome, Event, Verdict};

/// The calls of one life, counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExecutionMetrics {
    /// By tool. A name that no tool has counts as `unknown`.
    pub tools: BTreeMap<String, ToolMetrics>,
    /// By model. A call that failed counts for the service that failed, or `unknown`.
    pub models: BTreeMap<String, ModelMetrics>,
    /// Ticks and turns.
    pub tasks: TaskMetrics,
}

/// The calls of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ToolMetrics {
    /// Calls with a result.
    pub calls: u64,
    /// Calls that succeeded, including those that reused an earlier result.
    pub successes: u64,
    /// Calls that failed, including those without an answer.
    pub errors: u64,
    /// Calls without an answer.
    pub unanswered: u64,
    /// Calls that were not made, or not yet.
    pub not_made: u64,
    /// Calls that reused an earlier result.
    pub cached: u64,
    /// The total time of the calls that were made, in milliseconds.
    pub total_ms: f64,
    /// How long the longest of them took, in milliseconds.
    pub longest_ms: f64,
}

/// The calls of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModelMetrics {
    /// Calls with a reply.
    pub replies: u64,
    /// Calls without one.
    pub failures: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Tokens of replies.
    pub completion_tokens: u64,
    /// How long the calls took, in milliseconds.
    pub total_ms: f64,
    /// How long the longest of them took, in milliseconds.
    pub longest_ms: f64,
}

/// The ticks and turns of a life, for messages and occasions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskMetrics {
    /// Ticks that began.
    pub ticks: u64,
    /// Turns that are over.
    pub closed: u64,
    /// Messages that ended without an answer. `closed` includes them.
    pub failed: u64,
}

const UNKNOWN: &str = "unknown";

impl ExecutionMetrics {
    pub(super) fn add(&mut self, execution: &Execution) {
        let name = execution.category.map_or(UNKNOWN, |_| &execution.tool);
        let tool = self.tools.entry(name.to_owned()).or_default();
        tool.calls += 1;
        match execution.verdict {
            Verdict::Success => tool.successes += 1,
            Verdict::Failure => tool.errors += 1,
            Verdict::Skipped | Verdict::Deferred => {
                tool.not_made += 1;
                return;
            }
        }
        tool.unanswered += u64::from(execution.unanswered);
        match execution.cached {
            true => tool.cached += 1,
            false => {
                tool.total_ms += execution.duration_ms;
                tool.longest_ms = tool.longest_ms.max(execution.duration_ms);
            }
        }
    }

    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::TickStarted(_) => self.tasks.ticks += 1,
            Event::TickEnded(it) if it.resume_at.is_none() => self.tasks.closed += 1,
            Event::Unanswered(_) => self.tasks.failed += 1,
            Event::Replied(it) => {
                let counted = (it.prompt_tokens, it.tokens);
                self.replied(it.model.as_str(), it.reply.usage, counted, it.duration_ms);
            }
            Event::Consulted(it) => {
                let counted = (it.prompt_tokens, it.tokens);
                self.replied(it.model.as_str(), it.reply.usage, counted, it.duration_ms);
            }
            Event::HistorySummarized(it) => {
                let counted = (it.prompt_tokens, it.tokens);
                self.replied(it.model.as_str(), it.reply.usage, counted, it.duration_ms);
            }
            Event::TaskAssessed(it) => it.asked.iter().for_each(|asked| self.assessed(asked)),
            Event::ModelFailed(it) => {
                let service = it.service.as_ref().map(ToString::to_string);
                self.failed(service.as_deref().unwrap_or(UNKNOWN), it.duration_ms);
            }
            _ => {}
        }
    }

    fn assessed(&mut self, asked: &AssessmentCall) {
        match &asked.outcome {
            AssessmentOutcome::Replied {
                model,
                tokens,
                usage,
                ..
            } => {
                let counted = (asked.prompt_tokens, *tokens);
                self.replied(model.as_str(), *usage, counted, asked.duration_ms);
            }
            AssessmentOutcome::Failed(_) => self.failed(UNKNOWN, asked.duration_ms),
        }
    }

    fn replied(&mut self, model: &str, usage: Option<Usage>, counted: (u32, u32), took_ms: f64) {
        let (prompt, reply) = usage.map_or(counted, |usage| {
            (usage.prompt_tokens, usage.completion_tokens)
        });
        let model = self.models.entry(model.to_owned()).or_default();
        model.replies += 1;
        model.prompt_tokens += u64::from(prompt);
        model.completion_tokens += u64::from(reply);
        model.took(took_ms);
    }

    fn failed(&mut self, service: &str, took_ms: f64) {
        let model = self.models.entry(service.to_owned()).or_default();
        model.failures += 1;
        model.took(took_ms);
    }
}

impl ModelMetrics {
    fn took(&mut self, took_ms: f64) {
        self.total_ms += took_ms;
        self.longest_ms = self.longest_ms.max(took_ms);
    }
}
