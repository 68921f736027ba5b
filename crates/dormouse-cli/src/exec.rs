//! `dormouse exec`: how far the ticks of an assistant may go and which layer decides that, and what its tools did.

mod calls;

use clap::Subcommand;
use dormouse_contracts::Clock;
use dormouse_engine::{
    Assessment, CONTEXTS, ComposedPattern, ContextRow, ContextSignals, ContextType, OutOfRange,
    PatternLayer, State, ToolFilter, compose,
};
use dormouse_host::{
    SystemClock,
    config::{EXECUTION_FIELDS, find},
};
use serde::Serialize;

use crate::{
    command::{CommandError, CommandFailure, JsonFlag, Places, Printing, Whose},
    exit::Exit,
    settings::{SettingLine, effective},
};

/// Inspecting how far ticks may go.
#[derive(Debug, Subcommand)]
pub(crate) enum Exec {
    /// Print what the operator allows, what each kind of tick restricts, and which layer decides each value
    Show {
        #[command(flatten)]
        of: Whose,
        /// Only this kind of tick, such as tick_event
        #[arg(long, value_name = "TYPE", value_parser = context)]
        context: Option<ContextType>,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print the calls of tools: when each was made, how long it took, and how it ended
    Log(calls::CallLog),
    /// Count the calls of each tool and each model in the whole life of the assistant
    Metrics(calls::CallMetrics),
}

/// A name that is not a kind of tick.
#[derive(Debug, thiserror::Error)]
#[error("expected {}", names())]
pub(crate) struct NoContext;

fn names() -> String {
    CONTEXTS.each_ref().map(|row| row.name).join(", ")
}

/// Reads the name of a kind of tick.
pub(crate) fn context(name: &str) -> Result<ContextType, NoContext> {
    ContextType::of_name(name).ok_or(NoContext)
}

impl CommandFailure for OutOfRange {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// What a kind of tick may do, as JSON.
#[derive(Serialize)]
struct PatternLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    context: &'static str,
    entry: &'static str,
    #[serde(flatten)]
    composed: &'a ComposedPattern,
}

/// The current state of the assistant, as JSON.
#[derive(Serialize)]
struct NowLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    /// How many tokens the last prompt took.
    prompt_tokens: u32,
    consecutive_errors: u32,
    signals: ContextSignals,
    /// The kind of the tick that is under way.
    context: Option<ContextType>,
    /// How the task of the turn that is under way was assessed.
    assessment: Option<Assessment>,
}

/// Prints what is asked for.
pub(crate) fn run(places: &Places, command: Exec) -> Result<Exit, CommandError> {
    match command {
        Exec::Show { of, context, json } => show(places, &of, context, json),
        Exec::Log(command) => calls::log(places, command),
        Exec::Metrics(command) => calls::metrics(places, command),
    }
}

/// Prints how far ticks may go.
fn show(
    places: &Places,
    of: &Whose,
    context: Option<ContextType>,
    json: JsonFlag,
) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let printing = json.printing();
    let (key, config, state) = effective(places, &data, of, printing)?;
    let settings = config.pattern_settings(&key)?;
    for name in EXECUTION_FIELDS {
        let line = SettingLine::of(find(name)?, &config);
        printing.print(&line, || line.in_short())?;
    }
    let rows = CONTEXTS.iter();
    for row in rows.filter(|row| context.is_none_or(|it| it == row.context)) {
        let composed = compose(&settings, row.context, state.assessment_in(row.context));
        let line = PatternLine {
            r#type: "pattern",
            assistant: key.as_str(),
            context: row.name,
            entry: row.entry,
            composed: &composed,
        };
        printing.print(&line, || in_full(row, &composed, &state))?;
    }
    now(key.as_str(), &state, printing)?;
    Ok(Exit::Success)
}

fn layer(layer: Option<&PatternLayer>) -> &'static str {
    match layer {
        Some(PatternLayer::Context) => "by the context",
        Some(PatternLayer::Assessment) => "by the assessment",
        _ => "as allowed",
    }
}

fn in_full(row: &ContextRow, composed: &ComposedPattern, state: &State) -> Vec<String> {
    let ComposedPattern { pattern, from } = composed;
    let entered = format!("{}: when {}", row.name, row.entry);
    let mode = invariant_name(&pattern.bounds.mode);
    let components = pattern.components.iter().map(|it| it.row().key);
    let components: Vec<_> = components.collect();
    let budget = pattern
        .token_budget
        .map_or_else(|| "none".to_owned(), |it| it.to_string());
    let values = [
        ("mode", mode),
        ("max_iterations", pattern.bounds.max_iterations.to_string()),
        (
            "confirm_dangerous",
            pattern.bounds.confirm_dangerous.to_string(),
        ),
        ("tools", tools(&pattern.tools, state)),
        ("components", components.join(", ")),
        ("token_budget", budget),
        ("sub_agent_budget", pattern.sub_agent_budget.to_string()),
    ];
    let values = values
        .into_iter()
        .map(|(name, value)| format!("{name} = {value}  # {}", layer(from.get(name))));
    [entered].into_iter().chain(values).collect()
}

/// The name of a value in JSON.
fn invariant_name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The tools that this filter offers, of those that the assistant last had.
fn tools(filter: &ToolFilter, state: &State) -> String {
    let all = &state.configuration.tools;
    let names: Vec<_> = all
        .iter()
        .filter(|tool| filter.allows(tool))
        .map(|tool| tool.name.as_str())
        .collect();
    match (all.is_empty(), names.len() == all.len()) {
        (true, _) if *filter == ToolFilter::default() => "all".to_owned(),
        (true, _) => "known once the assistant has woken".to_owned(),
        (false, true) => format!("all {}", all.len()),
        (false, false) => names.join(", "),
    }
}

fn now(key: &str, state: &State, printing: Printing) -> Result<(), CommandError> {
    let turn = state.turns.current();
    let line = NowLine {
        r#type: "execution_state",
        assistant: key,
        prompt_tokens: state.counts.prompt_tokens,
        consecutive_errors: state.errors.consecutive,
        signals: ContextSignals::of(state, SystemClock.now()),
        context: turn.map(|turn| turn.context),
        assessment: turn.and_then(|turn| turn.assessment),
    };
    printing.print(&line, || {
        let assessed = line.assessment.map_or_else(String::new, |it| {
            let class = invariant_name(&it.class);
            format!("; its task is {class} of complexity {}", it.complexity)
        });
        let turn = match line.context {
            Some(context) => format!("a turn is open in {}{assessed}", context.row().name),
            None => "no turn is open".to_owned(),
        };
        format!(
            "{key}: the last prompt took {} tokens, {} percent of the window; errors in a row: {}; {}; {turn}",
            line.prompt_tokens,
            line.signals.token_pressure,
            line.consecutive_errors,
            match line.signals.goal_urgency {
                true => "something is due",
                false => "nothing is due",
            },
        )
    })
}
