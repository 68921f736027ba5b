//! The models of the assistant: their lists, and the health of each.

mod probe;

use dormouse_engine::ToolCalling;
use dormouse_host::DataFolder;
use dormouse_providers::{Choice, EmbedderChoice, Network};

use super::{Finding, wrong};
use crate::{
    args::Doctor,
    config::{Config, HeartbeatPolicy},
    dialects::{self, Dialects},
    exit::{Exit, Report},
    provider::{self, Chosen, Known, Models, ProviderError, service},
    recall,
};

/// Everything to check.
struct Found {
    chosen: Chosen,
    models: Models,
    /// The known facts about each model, once for each service.
    known: Vec<(String, Known)>,
}

/// The findings about the models.
pub(super) fn findings(data: &DataFolder, config: &Config, doctor: &Doctor) -> Vec<Finding> {
    let found = match look(config, doctor) {
        Ok(found) => found,
        Err(error) => return vec![Finding::Wrong(Report(&error).to_string(), Exit::Usage)],
    };
    let (book, trouble) = Dialects::look(&data.dialects());
    let mut findings = vec![chosen(&found, config, doctor, &book)];
    findings.extend(trouble.map(|error| Finding::Doubtful(Report(&error).to_string())));
    findings.push(embedder(&found.chosen, config));
    findings.extend(lists(&found, config));
    findings.extend(found.known.iter().map(|(name, known)| {
        let text = format!("{name}: {}; {}", known.window_text(), known.price_text());
        Finding::Fine(text)
    }));
    if doctor.probe {
        findings.extend(probe::findings(data, &found.models));
    } else if found.chosen.server().is_some() {
        findings.push(Finding::Doubtful(
            "no request was sent to a model; --probe asks each for a word and for a tool call"
                .to_owned(),
        ));
    }
    findings
}

fn look(config: &Config, doctor: &Doctor) -> Result<Found, ProviderError> {
    let section = &config.provider;
    let chosen = provider::select(
        &doctor.provider.selection(),
        section,
        &provider::environment(),
    )?;
    let network: Network = provider::network(section)?;
    let models = provider::assemble(&chosen, section, &config.prices, &network, |_| {})?;
    let prices = provider::price_table(&config.prices)?;
    let mut known: Vec<(String, Known)> = Vec::new();
    for choice in chosen.lists(section)?.iter().flat_map(|list| &list.models) {
        let name = service(choice);
        if known.iter().all(|(other, _)| *other != name) {
            known.push((name, Known::of(choice, &prices)?));
        }
    }
    Ok(Found {
        chosen,
        models,
        known,
    })
}

fn chosen(found: &Found, config: &Config, doctor: &Doctor, book: &Dialects) -> Finding {
    let (provider, name) = found.chosen.name();
    let configured = doctor
        .provider
        .tool_calling
        .or(config.provider.tool_calling);
    let first = found.known.first();
    let learnt = first.map(|(_, known)| book.learnt(&known.provider, &known.model));
    let served = found.chosen.server().map_or(String::new(), |url| {
        let learnt = learnt.map(|learnt| learnt.calling);
        let calling: ToolCalling = configured.or(learnt).unwrap_or_default();
        format!(" at {url}, tools offered {}", dialects::way(calling))
    });
    Finding::Fine(format!(
        "the provider is {provider}{served}, model {name}: {}",
        found.chosen.why
    ))
}

/// The encoder of memories. No request is sent to its server.
fn embedder(chosen: &Chosen, config: &Config) -> Finding {
    let embedder = match &config.memory.embedder {
        None => Ok(chosen.embedder()),
        Some(_) => recall::embedder(config),
    };
    match embedder {
        Err(error) => wrong(&error, Exit::Usage),
        Ok(EmbedderChoice::None { reason }) => {
            Finding::Fine(format!("memories are found by words ({reason})"))
        }
        Ok(embedder) => {
            Finding::Fine(recall::by_provider(config, &embedder).unwrap_or_else(|| {
                format!("memories are also compared by {embedder}, as configured")
            }))
        }
    }
}

/// Which model answers if another one is unhealthy, and which one answers heartbeats.
fn lists(found: &Found, config: &Config) -> Vec<Finding> {
    // The lists were valid before, so this cannot fail.
    let lists = found.chosen.lists(&config.provider).unwrap_or_default();
    let named = |models: &[Choice]| {
        let names: Vec<_> = models.iter().map(service).collect();
        names.join(", then ")
    };
    let mut findings: Vec<_> = lists
        .iter()
        .filter(|list| list.purpose.is_some() || list.models.len() > 1)
        .map(|list| {
            let purpose = match list.purpose {
                Some(purpose) => format!("for {purpose}: "),
                None => "models in order: ".to_owned(),
            };
            Finding::Fine(purpose + &named(&list.models))
        })
        .collect();
    if lists.iter().any(|list| list.models.len() > 1) {
        let who = match config.provider.heartbeats {
            HeartbeatPolicy::First => "only the first model of the list answers",
            HeartbeatPolicy::Any => "any model of the list answers",
        };
        findings.push(Finding::Fine(format!(
            "every request goes to the first model that is available, and every switch is printed; in turns that nobody waits for, {who}"
        )));
    }
    findings
}
