//! Asking every model for a word and for a tool call.

use std::time::Duration;

use dormouse_contracts::{ChatModel, Clock, ModelName, ProviderId};
use dormouse_dialects::ProbeVerdict;
use dormouse_host::{DataFolder, SystemClock};
use dormouse_providers::GuardedModel;
use dormouse_resilience::ServiceHealth;
use tokio::task::JoinSet;

use super::Finding;
use crate::{
    dialects::{self, Dialects},
    exit::{Exit, Report},
    provider::{Models, one_word, probe_tools},
};

/// The time limit of a model for each request.
const PATIENCE: Duration = Duration::from_secs(20);

/// The answers of one model.
struct Said {
    place: usize,
    name: String,
    of: (ProviderId, ModelName),
    word: Result<(), String>,
    tools: Option<(ProbeVerdict, Option<String>)>,
}

/// Asks all models at the same time, without retries, and reports the results and the present health of the models.
pub(super) fn findings(data: &DataFolder, models: &Models) -> Vec<Finding> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let text = format!("the models could not be asked: {error}");
            return vec![Finding::Wrong(text, Exit::Failure)];
        }
    };
    let said = runtime.block_on(all(models.each.clone()));
    let mut findings: Vec<_> = said.iter().flat_map(findings_of).collect();
    findings.extend(remember(data, &said));
    findings.extend(models.board.report().iter().map(health));
    findings
}

async fn all(models: Vec<GuardedModel>) -> Vec<Said> {
    let mut asked = JoinSet::new();
    for (place, model) in models.into_iter().enumerate() {
        asked.spawn(async move { one(place, &model).await });
    }
    let mut said = asked.join_all().await;
    said.sort_by_key(|said| said.place);
    said
}

async fn one(place: usize, model: &GuardedModel) -> Said {
    let (provider, name) = model.identity();
    let word = one_word(model, PATIENCE).await;
    // If a model does not answer with a word, it gets no further request.
    let tools = match &word {
        Ok(()) => {
            let probed = probe_tools(model, PATIENCE).await;
            Some((probed.verdict, probed.failure()))
        }
        Err(_) => None,
    };
    Said {
        place,
        name: model.guard().health().name().to_owned(),
        of: (provider.clone(), name.clone()),
        word: word.map_err(|silence| silence.to_string()),
        tools,
    }
}

fn findings_of(said: &Said) -> Vec<Finding> {
    let name = &said.name;
    let word = match &said.word {
        Ok(()) => Finding::Fine(format!("{name} answers")),
        Err(why) => Finding::Wrong(format!("{name} does not answer: {why}"), Exit::Failure),
    };
    let tools = said.tools.as_ref().map(|(verdict, failure)| match verdict {
        ProbeVerdict::Inconclusive => {
            let why = failure.as_deref().unwrap_or("it gave no reply");
            Finding::Doubtful(format!(
                "{name}: the probe of its tools showed nothing: {why}"
            ))
        }
        verdict => Finding::Fine(format!(
            "{name}, asked for a tool call, {}",
            dialects::showed(*verdict)
        )),
    });
    [Some(word), tools].into_iter().flatten().collect()
}

/// Keeps the results of the probes.
fn remember(data: &DataFolder, said: &[Said]) -> Vec<Finding> {
    let shown = said.iter().filter_map(|said| {
        let (verdict, _) = said.tools.as_ref()?;
        // The offline model is part of this program, so nothing is learnt about it.
        let is_learnt = verdict.calling().is_some() && said.of.0.as_str() != "offline";
        is_learnt.then_some((&said.of, *verdict))
    });
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() {
        return Vec::new();
    }
    if let Err(error) = data.create() {
        return vec![Finding::Doubtful(Report(&error).to_string())];
    }
    let (mut book, trouble) = Dialects::open(&data.dialects());
    let at = SystemClock.now();
    let mut findings = Vec::new();
    for ((provider, model), verdict) in shown {
        if let Some(change) = book.probed(provider, model, verdict, at) {
            findings.push(Finding::Fine(format!(
                "remembered: from now on tools are offered to {model} of {provider} {}",
                dialects::way(change.to)
            )));
        }
    }
    let troubles = trouble.into_iter().chain(book.save().err());
    findings.extend(troubles.map(|error| Finding::Doubtful(Report(&error).to_string())));
    findings
}

fn health(health: &ServiceHealth) -> Finding {
    match health.is_healthy() {
        true => Finding::Fine(health.to_string()),
        false => Finding::Doubtful(health.to_string()),
    }
}
