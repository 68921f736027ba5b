//! `dormouse provider show`: what is known about a model without a request.

use dormouse_dialects::Evidence;
use dormouse_engine::ToolCalling;
use dormouse_host::provider::{network, open, price_table, service};
use dormouse_providers::Choice;
use serde_json::json;

use super::{context::Context, pauses};
use crate::{
    command::CommandError,
    dialects::{self, Dialects},
    exit::{Exit, Report},
    provider::{
        flags::ProviderFlags,
        known::{Known, tokens},
    },
};

/// Shows one model.
pub(super) fn run(
    context: &Context,
    choice: &Choice,
    flags: &ProviderFlags,
) -> Result<Exit, CommandError> {
    let section = &context.config.provider;
    // A model that cannot be used fails here, before anything is printed.
    open(choice, &network(section)?)?;
    let known = Known::of(choice, &price_table(&context.config.prices)?)?;
    let (book, trouble) = Dialects::look(&context.data.dialects());
    let learnt = book.learnt(&known.provider, &known.model);
    let configured = flags.tool_calling.or(section.tool_calling);
    let calling = configured.unwrap_or(learnt.calling);
    let exact = known.is_counted_exactly();
    let address = match choice {
        Choice::Offline { .. } => None,
        Choice::Server { config, .. } => Some(config.base_url()),
    };
    let value = json!({
        "type": "model",
        "provider": known.provider.as_str(),
        "model": known.model.as_str(),
        "address": address,
        "known": known.is_known(),
        "context_window": known.window,
        "output_limit": known.output_limit,
        "tokens": if exact { "exact" } else { "estimate" },
        "price": known.price_value(),
        "tools": {
            "calling": calling,
            "configured": configured,
            "learnt": (learnt.evidence != Evidence::None).then(|| json!({
                "calling": learnt.calling,
                "evidence": learnt.evidence,
                "since": learnt.since.map(|since| since.to_string()),
            })),
        },
        "limits": {
            "requests_per_minute": section.requests_per_minute.map(|number| number.0),
            "tokens_per_minute": section.tokens_per_minute.map(|number| number.0),
            "at_once": section.at_once.map(|number| number.0),
        },
    });
    let counted = match exact {
        true => "tokens are counted exactly",
        false => "tokens are estimated, and corrected by what the provider counts",
    };
    let mut lines = vec![service(choice)];
    if !known.is_known() {
        let Known {
            provider, model, ..
        } = &known;
        lines.push(format!(
            "this program does not know {model}; its server may: `dormouse provider test {provider}:{model}` asks it"
        ));
        if let Some((prefix, _)) = model.as_str().split_once(':') {
            lines.push(format!(
                "{prefix} is not a provider, so the whole text is taken as a model of {provider}"
            ));
        }
    }
    lines.extend([
        known.window_text(),
        counted.to_owned(),
        known.price_text(),
        tools(calling, configured, &learnt),
        limits(context),
    ]);
    lines.extend(trouble.map(|error| Report(&error).to_string()));
    context.printing.print(&value, || lines)?;
    pauses::show(context)?;
    Ok(Exit::Success)
}

fn tools(
    calling: ToolCalling,
    configured: Option<ToolCalling>,
    learnt: &dormouse_dialects::Learnt,
) -> String {
    let offered = format!("tools are offered {}", dialects::way(calling));
    let since = learnt.since.map(|since| format!(" (since {since})"));
    let because = dialects::because(learnt.evidence) + &since.unwrap_or_default();
    match configured {
        Some(_) => format!("{offered}, as is configured; learnt: {because}"),
        None => format!("{offered}: {because}"),
    }
}

fn limits(context: &Context) -> String {
    let section = &context.config.provider;
    let parts = [
        section
            .requests_per_minute
            .map(|number| format!("{} requests a minute", tokens(number.0))),
        section
            .tokens_per_minute
            .map(|number| format!("{} tokens a minute", tokens(number.0))),
        section
            .at_once
            .map(|number| format!("{} at once", number.0)),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "limits as the provider reports them".to_owned(),
        false => format!("limits: {}", parts.join(", ")),
    }
}
