//! `dormouse exec log` and `metrics`: what tools were called, how long that took, and how it ended.

use clap::Args;
use dormouse_engine::{
    Execution, ExecutionFilter, ModelMetrics, ToolMetrics, Verdict, execution_metrics,
    newest_executions,
};
use serde::Serialize;

use crate::{
    command::{CommandError, JsonFlag, Places, Whose, block_on, open_log_view, remark, whole},
    describe,
    exit::Exit,
    grammar::counted,
};

/// Which calls.
#[derive(Debug, Args)]
pub(crate) struct CallLog {
    #[command(flatten)]
    of: Whose,
    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only calls that failed
    #[arg(long)]
    failed: bool,
    /// How many calls to print; the newest are chosen
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u32>(1..=100_000))]
    last: u32,
    #[command(flatten)]
    json: JsonFlag,
}

/// Whose calls.
#[derive(Debug, Args)]
pub(crate) struct CallMetrics {
    #[command(flatten)]
    of: Whose,
    #[command(flatten)]
    json: JsonFlag,
}

#[derive(Serialize)]
struct ExecutionLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    success: bool,
    #[serde(flatten)]
    execution: &'a Execution,
}

/// Prints the newest calls, oldest first.
pub(super) fn log(places: &Places, command: CallLog) -> Result<Exit, CommandError> {
    let printing = command.json.printing();
    let data = crate::data::locate(places.data.as_deref())?;
    let (log, key) = open_log_view(places, &data, command.of.assistant, printing)?;
    let filter = ExecutionFilter {
        tool: command.tool,
        is_failed: command.failed,
    };
    let most = command.last as usize;
    let newest = block_on(newest_executions(&log, &key, &filter, most))??;
    for execution in &newest {
        let line = ExecutionLine {
            r#type: "execution",
            assistant: key.as_str(),
            success: execution.verdict == Verdict::Success,
            execution,
        };
        printing.print(&line, || in_words(execution))?;
    }
    if newest.is_empty() {
        remark(&format!("{key} has made no such call"));
    }
    Ok(Exit::Success)
}

fn in_words(it: &Execution) -> String {
    let took = match it.cached {
        true => "used an earlier result again".to_owned(),
        false => format!("{:.1} ms", it.duration_ms),
    };
    let error = it.error.as_ref();
    let error = error.map_or_else(String::new, |error| {
        format!(": {}", describe::excerpt(error))
    });
    format!(
        "{} {} tick {}: {}({}) {}, {took}{error}",
        it.seq,
        it.at,
        it.tick,
        it.tool,
        describe::excerpt(&it.parameters),
        describe::ending(it.verdict),
    )
}

#[derive(Serialize)]
struct MetricsLine<'a, M> {
    r#type: &'static str,
    assistant: &'a str,
    name: &'a str,
    #[serde(flatten)]
    metrics: &'a M,
}

#[derive(Serialize)]
struct TasksLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    ticks: u64,
    closed: u64,
    failed: u64,
}

/// Prints a line for each tool, each model, and the commitments.
pub(super) fn metrics(places: &Places, command: CallMetrics) -> Result<Exit, CommandError> {
    let printing = command.json.printing();
    let data = crate::data::locate(places.data.as_deref())?;
    let (log, key) = open_log_view(places, &data, command.of.assistant, printing)?;
    let counted_calls = block_on(execution_metrics(&log, &key))??;
    for (name, metrics) in &counted_calls.tools {
        let line = line("tool_metrics", key.as_str(), name, metrics);
        printing.print(&line, || of_tool(name, metrics))?;
    }
    for (name, metrics) in &counted_calls.models {
        let line = line("model_metrics", key.as_str(), name, metrics);
        printing.print(&line, || of_model(name, metrics))?;
    }
    let tasks = counted_calls.tasks;
    let line = TasksLine {
        r#type: "task_metrics",
        assistant: key.as_str(),
        ticks: tasks.ticks,
        closed: tasks.closed,
        failed: tasks.failed,
    };
    printing.print(&line, || {
        format!(
            "{}, {} ended, {} of them without an answer",
            counted(tasks.ticks, "tick", "ticks"),
            counted(tasks.closed, "turn", "turns"),
            tasks.failed
        )
    })?;
    Ok(Exit::Success)
}

fn line<'a, M>(
    kind: &'static str,
    assistant: &'a str,
    name: &'a str,
    metrics: &'a M,
) -> MetricsLine<'a, M> {
    MetricsLine {
        r#type: kind,
        assistant,
        name,
        metrics,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "15 digits are more than people read"
)]
fn mean(total_ms: f64, calls: u64) -> f64 {
    total_ms / calls.max(1) as f64
}

fn of_tool(name: &str, it: &ToolMetrics) -> String {
    let made = (it.successes + it.errors).saturating_sub(it.cached);
    format!(
        "tool {name}: {}, {} succeeded, {} failed ({} without an answer), {} not made, {} from earlier results; mean {:.1} ms, \
         longest {:.1} ms",
        counted(it.calls, "call", "calls"),
        it.successes,
        it.errors,
        it.unanswered,
        it.not_made,
        it.cached,
        mean(it.total_ms, made),
        it.longest_ms,
    )
}

fn of_model(name: &str, it: &ModelMetrics) -> String {
    format!(
        "model {name}: {}, {}; {} tokens of prompts and {} of replies; mean {:.1} ms, longest {:.1} ms",
        counted(it.replies, "reply", "replies"),
        counted(it.failures, "failure", "failures"),
        it.prompt_tokens,
        it.completion_tokens,
        mean(it.total_ms, it.replies + it.failures),
        it.longest_ms,
    )
}
