//! `dormouse provider list`: who can be used, who is chosen, and which models it has.

use std::{io, time::Duration};

use dormouse_providers::{Choice, ListedModel, ServedBy, list_models};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    Chosen, ProviderError, command,
    command::{CommandError, Form, Here},
    decide,
    known::{Prices, tokens},
    look, network, open, pauses, service,
    standing::Standing,
};
use crate::{
    args::ProviderFlags,
    config::HeartbeatsWish,
    exit::{Exit, Report},
};

/// How long a server may take to tell its models.
const PATIENCE: Duration = Duration::from_secs(30);

/// Shows everything; asks a server only for its models.
pub(super) fn run(
    here: &Here,
    flags: &ProviderFlags,
    models: bool,
    form: Form,
) -> Result<Exit, CommandError> {
    let mut out = io::stdout().lock();
    let found = look(flags, &here.config.provider, &here.environment)?;
    for by in ServedBy::ALL {
        let standing = Standing::of(by, &found, here);
        form.tell(&mut out, &standing, &standing.told())?;
    }
    pauses::show(here, form, &mut out)?;
    let chosen = decide(found, flags);
    let told = chosen.and_then(|chosen| Ok((Told::of(&chosen, here)?, chosen)));
    let chosen = match told {
        Ok((told, chosen)) => {
            form.tell(&mut out, &told, &told.told())?;
            chosen
        }
        Err(error) => {
            let reason = Report(&error).to_string();
            let value = json!({"type": "chosen", "provider": null, "reason": reason});
            form.tell(&mut out, &value, &format!("nobody is chosen: {reason}"))?;
            return Ok(Exit::Usage);
        }
    };
    if models {
        list(here, &chosen, form, &mut out)?;
    }
    Ok(Exit::Success)
}

/// Who is chosen, and who answers in its place.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "chosen")]
struct Told {
    provider: String,
    model: String,
    address: Option<String>,
    why: String,
    heartbeats: &'static str,
    lists: Vec<ToldList>,
}

#[derive(Debug, Serialize)]
struct ToldList {
    purpose: Option<&'static str>,
    models: Vec<String>,
}

impl Told {
    fn of(chosen: &Chosen, here: &Here) -> Result<Self, ProviderError> {
        let (provider, model) = chosen.name();
        let mut lists = Vec::new();
        let network = network(&here.config.provider)?;
        for list in chosen.lists(&here.config.provider)? {
            for choice in &list.models {
                open(choice, &network)?;
            }
            lists.push(ToldList {
                purpose: list.purpose.map(|purpose| purpose.as_str()),
                models: list.models.iter().map(service).collect(),
            });
        }
        Ok(Self {
            provider,
            model,
            address: chosen.server().map(str::to_owned),
            why: chosen.why.clone(),
            heartbeats: match here.config.provider.heartbeats {
                HeartbeatsWish::First => "first",
                HeartbeatsWish::Any => "any",
            },
            lists,
        })
    }

    fn told(&self) -> String {
        let mut text = format!(
            "chosen: {}, model {}: {}",
            self.provider, self.model, self.why
        );
        for list in &self.lists {
            let models = list.models.join(", then ");
            match list.purpose {
                Some(purpose) => text += &format!("\nfor {purpose}: {models}"),
                None if list.models.len() > 1 => text += &format!("\nwhile it is ill: {models}"),
                None => {}
            }
        }
        text
    }
}

/// A model that the server says it has.
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

fn listed_told(model: &ListedModel, chosen: &str) -> String {
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
        prices.told()
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

fn list(
    here: &Here,
    chosen: &Chosen,
    form: Form,
    out: &mut dyn io::Write,
) -> Result<(), CommandError> {
    let Choice::Server { config, .. } = &chosen.choice else {
        let value = json!({"type": "listed", "model": "offline", "chosen": true, "can_chat": true});
        return form.tell(out, &value, "* offline");
    };
    let network = network(&here.config.provider)?;
    let asked = async { timeout(PATIENCE, list_models(config, &network)).await };
    let models = match command::block_on(asked)? {
        Ok(models) => models?,
        Err(_) => return Err(CommandError::Silent(PATIENCE)),
    };
    let (_, name) = chosen.name();
    for model in &models {
        form.tell(out, &listed(model, &name), &listed_told(model, &name))?;
    }
    let is_there = models.iter().any(|model| model.name.as_str() == name);
    if form == Form::People && !is_there {
        writeln!(
            out,
            "the server names no model {name}; some take any name, or short ones"
        )?;
    }
    Ok(())
}
