//! `dormouse tools`: what assistants can do here.

use clap::Subcommand;
use dormouse_contracts::{IdError, ToolCategory, ToolReach, ToolSourceName, ToolSpec, Trust};
use dormouse_engine::builtin_tools;
use dormouse_host::{ListedTool, TOOL_CATEGORIES};
use dormouse_sandbox::sandbox_tools;
use dormouse_tools::closest;
use serde::Serialize;

use crate::{
    command::{CommandError, CommandFailure, JsonFlag, Places, Printing, callers_host},
    exit::Exit,
};

/// Inspecting tools.
#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// Print the tools by category, with their sources
    List {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Print everything that a model and the engine know about one tool
    Show {
        /// Its name
        name: String,
        #[command(flatten)]
        json: JsonFlag,
    },
}

/// Why tools cannot be printed.
#[derive(Debug, thiserror::Error)]
enum ToolsFailure {
    #[error("there is no tool {name:?}{}", or(.closest))]
    Unknown { name: String, closest: Vec<String> },
    #[error("a tool has a name that is not valid")]
    Name(#[from] IdError),
}

impl CommandFailure for ToolsFailure {
    fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } => Exit::Usage,
            Self::Name(_) => Exit::Failure,
        }
    }
}

/// What to try instead.
fn or(closest: &[String]) -> String {
    match closest {
        [] => "; `dormouse tools list` prints all of them".to_owned(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// A tool as it is printed.
#[derive(Serialize)]
struct ToolLine {
    r#type: &'static str,
    #[serde(flatten)]
    tool: ListedTool,
}

/// How many tools there are.
#[derive(Serialize)]
struct CountLine {
    r#type: &'static str,
    category: ToolCategory,
    tools: usize,
}

/// Prints tools.
pub(crate) fn run(places: &Places, command: Tools) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let (config, _) = places.configuration(&data)?;
    let tools = tools(config.memory.dangerous_trust)?;
    match command {
        Tools::List { json } => list(&tools, json.printing())?,
        Tools::Show { name, json } => {
            let found = tools
                .iter()
                .find(|line| line.tool.spec.name.as_str() == name);
            let tool = found.ok_or_else(|| {
                let names = tools.iter().map(|line| line.tool.spec.name.as_str());
                let closest = closest(&name, names).into_iter().map(str::to_owned);
                ToolsFailure::Unknown {
                    closest: closest.collect(),
                    name: name.clone(),
                }
            })?;
            json.printing().print(tool, || in_full(tool))?;
        }
    }
    Ok(Exit::Success)
}

/// The tools of an assistant in this folder: those of its world and of other sources, and the engine's own.
fn tools(dangerous_trust: Trust) -> Result<Vec<ToolLine>, ToolsFailure> {
    let line = |source: &str, spec: ToolSpec| ToolLine {
        r#type: "tool",
        tool: ListedTool::new(source, spec, dangerous_trust),
    };
    let own = builtin_tools()?.into_iter();
    let own = own.map(|spec| line("engine", spec));
    let Some(host) = callers_host() else {
        let world = sandbox_tools()?.into_iter();
        return Ok(world.map(|spec| line("world", spec)).chain(own).collect());
    };
    let others = host.tools().into_iter().map(|tool| {
        let source = tool.source.as_ref().map_or("world", ToolSourceName::as_str);
        line(source, tool.spec.clone())
    });
    Ok(others.chain(own).collect())
}

fn list(tools: &[ToolLine], printing: Printing) -> Result<(), CommandError> {
    for (category, name, meaning) in TOOL_CATEGORIES {
        let here = || {
            tools
                .iter()
                .filter(|line| line.tool.spec.category == category)
        };
        if printing == Printing::Json {
            for tool in here() {
                printing.print(tool, String::new)?;
            }
        }
        let count = here().count();
        let line = CountLine {
            r#type: "tools",
            category,
            tools: count,
        };
        printing.print(&line, || {
            let heading = match count {
                1 => format!("{name}: 1 tool ({meaning})"),
                _ => format!("{name}: {count} tools ({meaning})"),
            };
            let lines = here().map(|line| {
                let ListedTool { source, spec, .. } = &line.tool;
                format!("{} ({source}): {}", spec.name, spec.description)
            });
            [heading].into_iter().chain(lines).collect::<Vec<_>>()
        })?;
    }
    Ok(())
}

/// Everything that can be said of a tool, over several lines.
fn in_full(line: &ToolLine) -> Vec<String> {
    let ListedTool {
        source,
        trust,
        spec,
    } = &line.tool;
    let category = TOOL_CATEGORIES.iter().find(|(it, ..)| *it == spec.category);
    let category = category.map_or_else(String::new, |(_, name, meaning)| {
        format!("{name}: {meaning}")
    });
    let reach = match spec.reach {
        ToolReach::Effect => "changes the world; done at most once",
        ToolReach::Query => "only looks",
        _ => "affects only the assistant",
    };
    let trust = match trust {
        Some(trust) => format!("{trust} of everything that the model was shown"),
        None => "none".to_owned(),
    };
    let mut lines = vec![
        format!("{} ({source})", spec.name),
        spec.description.clone(),
        category,
        format!("{reach}; may take {:?}", spec.timeout),
        format!("trust needed: {trust}"),
    ];
    if let Some(speech) = &spec.speech {
        let kind = format!("{:?}", speech.kind).to_lowercase();
        let to = speech.to.as_ref();
        let to = to.map_or_else(String::new, |to| format!(", to {to:?}"));
        lines.push(format!("says what is in {:?}{to} ({kind})", speech.words));
    }
    if let Some(cache) = spec.cache {
        let scope = format!("{:?}", cache.scope).to_lowercase();
        let ttl = cache.ttl.map(|ttl| format!(", for {ttl:?} at most"));
        let ttl = ttl.unwrap_or_default();
        lines.push(format!("its results are used again within a {scope}{ttl}"));
    }
    lines.push(format!("arguments: {}", spec.parameters));
    lines
}
