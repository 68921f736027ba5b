//! `dormouse provider list`: which providers can be used, which one is chosen, and which models it has.

use std::time::Duration;

use dormouse_host::provider::{Chosen, ProviderError, decide, find, network, open, service};
use dormouse_providers::{Choice, ListModelsError, ListedModel, ServedBy, list_models};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{context::Context, pauses, status::ProviderStatus};
use crate::{
    command::{CommandError, CommandFailure, Printing, block_on, say},
    config::HeartbeatPolicy,
    exit::{Exit, Report},
    provider::{
        flags::ProviderFlags,
        known::{Prices, tokens},
    },
};

/// How long a server may take to list its models.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server did not list its models in time.
#[derive(Debug, thiserror::Error)]
#[error("the server did not list its models within {} s", PATIENCE.as_secs())]
struct NoListInTime;

impl CommandFailure for NoListInTime {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

impl CommandFailure for ListModelsError {
    fn exit(&self) -> Exit {
        match self {
            Self::Config(_) => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}

/// Shows everything; sends a request only to list the models of a server.
pub(super) fn run(
    context: &Context,
    flags: &ProviderFlags,
    models: bool,
) -> Result<Exit, CommandError> {
    let printing = context.printing;
    let found = find(
        &flags.selection(),
        &context.config.provider,
        &context.environment,
    )?;
    for by in ServedBy::ALL {
        let status = ProviderStatus::of(by, &found, context);
        printing.print(&status, || status.to_text())?;
    }
    pauses::show(context)?;
    let chosen = decide(found, &flags.selection());
    let line = chosen.and_then(|chosen| Ok((ChosenLine::of(&chosen, context)?, chosen)));
    let chosen = match line {
        Ok((line, chosen)) => {
            printing.print(&line, || line.to_text())?;
            chosen
        }
        Err(error) => {
            let reason = Report(&error).to_string();
            let value = json!({"type": "chosen", "provider": null, "reason": reason});
            printing.print(&value, || format!("no provider can be chosen: {reason}"))?;
            return Ok(Exit::Usage);
        }
    };
    if models {
        list(context, &chosen)?;
    }
    Ok(Exit::Success)
}

/// The chosen provider, and its lists of models.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "chosen")]
struct ChosenLine {
    provider: String,
    model: String,
    address: Option<String>,
    why: String,
    heartbeats: &'static str,
    lists: Vec<ModelList>,
}

#[derive(Debug, Serialize)]
struct ModelList {
    purpose: Option<&'static str>,
    models: Vec<String>,
}

impl ChosenLine {
    fn of(chosen: &Chosen, context: &Context) -> Result<Self, ProviderError> {
        let (provider, model) = chosen.name();
        let mut lists = Vec::new();
        let network = network(&context.config.provider)?;
        for list in chosen.lists(&context.config.provider)? {
            for choice in &list.models {
                open(choice, &network)?;
            }
            lists.push(ModelList {
                purpose: list.purpose.map(|purpose| purpose.as_str()),
                models: list.models.iter().map(service).collect(),
            });
        }
        Ok(Self {
            provider,
            model,
            address: chosen.server().map(str::to_owned),
            why: chosen.why.clone(),
            heartbeats: match context.config.provider.heartbeats {
                HeartbeatPolicy::First => "first",
                HeartbeatPolicy::Any => "any",
            },
            lists,
        })
    }

    fn to_text(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "chosen: {}, model {}: {}",
            self.provider, self.model, self.why
        )];
        for list in &self.lists {
            let models = list.models.join(", then ");
            match list.purpose {
                Some(purpose) => lines.push(format!("for {purpose}: {models}")),
                None if list.models.len() > 1 => {
                    lines.push(format!("if it is unavailable: {models}"));
                }
                None => {}
            }
        }
        lines
    }
}

/// A model that the server lists, as JSON.
fn listed(model: &ListedModel, chosen: &str) -> Value {
    let price = model.price.as_ref();
    json!({
        "type": "listed",
        "model": model.name.as_str(),
        "chosen": model.name.as_str() == chosen,
        "context_window": model.context_window,
        "output_limit": model.output_limit,
        "price": price.map(|price| Prices {
            input: price.input,
            output: price.output,
            cached_input: price.cached_input,
            cache_write: price.cache_write,
        }.per_million()),
        "capabilities": model.capabilities,
        "parameters": model.parameters,
        "can_chat": model.can_chat(),
        "owned_by": model.owned_by,
    })
}

/// The same for people.
fn listed_text(model: &ListedModel, chosen: &str) -> String {
    let mark = if model.name.as_str() == chosen {
        "*"
    } else {
        " "
    };
    let mut parts = Vec::new();
    if !model.can_chat() {
        parts.push("not for chats".to_owned());
    }
    parts.extend(
        model
            .context_window
            .map(|window| format!("window {}", tokens(window))),
    );
    parts.extend(
        model
            .output_limit
            .map(|limit| format!("replies up to {}", tokens(limit))),
    );
    parts.extend(model.price.as_ref().map(|price| {
        let prices = Prices {
            input: price.input,
            output: price.output,
            cached_input: price.cached_input,
            cache_write: price.cache_write,
        };
        prices.text()
    }));
    if !model.capabilities.is_empty() {
        parts.push(model.capabilities.join(" "));
    }
    let name = &model.name;
    match parts.is_empty() {
        true => format!("{mark} {name}"),
        false => format!("{mark} {name}: {}", parts.join("; ")),
    }
}

fn list(context: &Context, chosen: &Chosen) -> Result<(), CommandError> {
    let printing = context.printing;
    let Choice::Server { config, .. } = &chosen.choice else {
        let value = json!({"type": "listed", "model": "offline", "chosen": true, "can_chat": true});
        return printing.print(&value, || "* offline".to_owned());
    };
    let network = network(&context.config.provider)?;
    let models = block_on(async { timeout(PATIENCE, list_models(config, &network)).await })?;
    let models = models.map_err(|_elapsed| NoListInTime)??;
    let (_, name) = chosen.name();
    for model in &models {
        printing.print(&listed(model, &name), || listed_text(model, &name))?;
    }
    let is_there = models.iter().any(|model| model.name.as_str() == name);
    if printing == Printing::Text && !is_there {
        say(&format!(
            "the server does not list the model {name}; some servers accept any name, or short names"
        ))?;
    }
    Ok(())
}
