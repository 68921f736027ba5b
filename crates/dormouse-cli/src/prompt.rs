//! `dormouse prompt`: the prompt of a model, part by part, and templates of the persona.

use clap::{Args, Subcommand};
use dormouse_contracts::Seq;
use dormouse_engine::{ContextType, PreviewError, PreviewOf, PreviewPart, PromptPreview};
use dormouse_host::{
    config::{DEFAULT_TEMPLATE, TemplateError},
    preview,
};
use serde::Serialize;

use crate::{
    command::{
        CommandError, CommandFailure, JsonFlag, Places, Printing, Whose, block_on, open_log_view,
        say, whole,
    },
    exec::context,
    exit::Exit,
    settings::{Settings, effective},
};

/// Looking at a prompt.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Prompt {
    #[command(subcommand)]
    command: Option<PromptCommand>,
    #[command(flatten)]
    of: Whose,
    /// For a tick of this kind, such as tick_event
    #[arg(long, value_name = "TYPE", value_parser = context)]
    context: Option<ContextType>,
    /// Show the prompt after this event. If the event is a reply, show the prompt of that reply [default: the end of the log]
    #[arg(long, value_name = "SEQ", value_parser = whole::<u64>(1..=u64::MAX))]
    at: Option<u64>,
    #[command(flatten)]
    json: JsonFlag,
}

#[derive(Debug, Subcommand)]
enum PromptCommand {
    /// Manage texts that can replace assistant.persona
    #[command(subcommand)]
    Template(Template),
}

/// Managing templates. Each change changes a setting, and applies from the assistant's next tick on.
#[derive(Debug, Subcommand)]
enum Template {
    /// Print all templates, and which one is applied
    List {
        #[command(flatten)]
        of: Whose,
    },
    /// Store a text under a name; it may contain {name}, {key}, {tick_rate} and {reflection_interval}
    Create {
        /// Its name
        name: String,
        /// The text
        text: String,
        #[command(flatten)]
        change: TemplateChange,
    },
    /// Use a template as the persona; `default` is assistant.persona
    Apply {
        /// Its name
        name: String,
        #[command(flatten)]
        change: TemplateChange,
    },
    /// Copy a template under another name
    Clone {
        /// The template to copy; `default` is assistant.persona
        from: String,
        /// The name of the copy
        name: String,
        #[command(flatten)]
        change: TemplateChange,
    },
}

/// Whose template is changed, and by whom.
#[derive(Debug, Args)]
struct TemplateChange {
    #[command(flatten)]
    of: Whose,
    /// Who changes it, for the log [default: your user name]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    json: JsonFlag,
}

impl CommandFailure for TemplateError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

impl CommandFailure for PreviewError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoSuchEvent { .. } => Exit::Usage,
            Self::Replay(_) | Self::Tools(_) => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}

/// A prompt, as JSON.
#[derive(Serialize)]
struct PromptLine<'a> {
    r#type: &'static str,
    assistant: &'a str,
    #[serde(flatten)]
    preview: &'a PromptPreview,
}

/// Prints a prompt, or manages templates.
pub(crate) fn run(places: &Places, prompt: Prompt) -> Result<Exit, CommandError> {
    match prompt.command {
        Some(PromptCommand::Template(template)) => template_command(places, template),
        None => show(places, prompt),
    }
}

fn show(places: &Places, asked: Prompt) -> Result<Exit, CommandError> {
    let printing = asked.json.printing();
    let data = crate::data::locate(places.data.as_deref())?;
    let (log, key) = open_log_view(places, &data, asked.of.assistant, printing)?;
    let at = asked.at.map(Seq);
    let preview = block_on(preview(&log, &key, at, asked.context))??;
    let line = PromptLine {
        r#type: "prompt",
        assistant: key.as_str(),
        preview: &preview,
    };
    if printing == Printing::Json {
        printing.print(&line, String::new)?;
        return Ok(Exit::Success);
    }
    say(&heading(key.as_str(), &preview))?;
    for part in &preview.parts {
        printing.print(part, || part_lines(part))?;
    }
    let tools: Vec<_> = preview.tools.iter().map(ToString::to_string).collect();
    say(&format!("tools: {}", tools.join(", ")))?;
    for left_out in &preview.left_out {
        say(&format!("not shown: {}: {}", left_out.part, left_out.why))?;
    }
    for finding in &preview.findings {
        say(&format!("check: {finding}"))?;
    }
    Ok(Exit::Success)
}

fn heading(key: &str, preview: &PromptPreview) -> String {
    let of = match preview.of {
        PreviewOf::Call => "the prompt of a call",
        PreviewOf::NextTick => "the first prompt of the next tick, before the memory is searched",
        PreviewOf::Imagined => "a prompt for an imagined message, because nothing waits",
    };
    let PromptPreview {
        seq,
        tokens,
        window,
        hash,
        ..
    } = preview;
    let context = preview.context.row().name;
    format!("{key} at event {seq}, {context}: {of}; {tokens} of {window} tokens, hash {hash}")
}

fn part_lines(part: &PreviewPart) -> Vec<String> {
    let kind = match part.is_static {
        true => "static",
        false => "made for this prompt",
    };
    let head = format!(
        "{} {}: {} tokens, {kind}: {}",
        part.id, part.key, part.tokens, part.why
    );
    let text = part.text.lines().map(|line| format!("    {line}"));
    [head].into_iter().chain(text).collect()
}

fn template_command(places: &Places, command: Template) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let read = |of: &Whose| effective(places, &data, of, Printing::Text);
    match command {
        Template::List { of } => {
            let (key, config, _) = read(&of)?;
            for (name, text) in config.templates(&key) {
                let applied = if name == config.prompt.template {
                    " (applied)"
                } else {
                    ""
                };
                let text = match name {
                    DEFAULT_TEMPLATE => "assistant.persona",
                    _ => &text,
                };
                say(&format!("{name}{applied}: {text}"))?;
            }
            Ok(Exit::Success)
        }
        Template::Create { name, text, change } => {
            let templates = read(&change.of)?.1.with_template(&name, text)?;
            set(places, "prompt.templates", templates, change)
        }
        Template::Apply { name, change } => set(places, "prompt.template", name, change),
        Template::Clone { from, name, change } => {
            let (key, config, _) = read(&change.of)?;
            let templates = config.with_copy_of(&key, &from, &name)?;
            set(places, "prompt.templates", templates, change)
        }
    }
}

fn set(
    places: &Places,
    name: &str,
    value: String,
    change: TemplateChange,
) -> Result<Exit, CommandError> {
    let TemplateChange { of, by, json } = change;
    let name = name.to_owned();
    let set = Settings::Set {
        name,
        value,
        of,
        by,
        json,
    };
    crate::settings::run(places, set)
}
