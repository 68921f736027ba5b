//! `dormouse provider test`: a model is tried, with few and short requests.

mod asking;
mod checks;
mod report;
#[cfg(test)]
mod tests;

use std::{io, time::Duration};

use dormouse::SystemClock;
use dormouse_contracts::{ChatModel, Clock, Purpose};
use dormouse_dialects::ProbeVerdict;
use dormouse_providers::{Accounts, Choice};
use serde_json::json;

pub(crate) use self::asking::{one_word, probe_tools};
use self::{
    asking::Answer,
    report::{Check, Checks},
};
use super::{
    command::{self, CommandError, Form, Here},
    models, network, open, price_table, service,
};
use crate::{
    args::ProviderFlags,
    dialects::Dialects,
    exit::{Exit, Report},
    finding::Finding,
};

/// Tries the model. The exit code is 0 if it can be used.
pub(super) fn run(
    here: &Here,
    choice: &Choice,
    flags: &ProviderFlags,
    limit: Duration,
    form: Form,
) -> Result<Exit, CommandError> {
    let section = &here.config.provider;
    let model = open(&models::named(choice, section), &network(section)?)?;
    let mut trial = Trial {
        model: &*model,
        limit,
        accounts: Accounts::new(price_table(&here.config.prices)?),
        checks: Checks::new(form),
    };
    let probed = command::block_on(Box::pin(trial.ask()))?;
    if let Some(verdict) = probed?
        && matches!(choice, Choice::Server { .. })
    {
        trial.remember(here, flags, verdict)?;
    }
    trial.end(choice)
}

/// A model that is tried.
struct Trial<'a> {
    model: &'a dyn ChatModel,
    limit: Duration,
    accounts: Accounts,
    checks: Checks,
}

impl Trial<'_> {
    /// Asks everything that is asked, and answers what the probe of its tools showed.
    async fn ask(&mut self) -> Result<Option<ProbeVerdict>, CommandError> {
        let answer = asking::ask(self.model, &checks::words(), self.limit).await;
        self.enter(&answer);
        let goes_on = self.checks.tell_all(checks::answer(&answer))?;
        if !goes_on {
            return Ok(None);
        }
        let probed = probe_tools(self.model, self.limit).await;
        probed.answers.iter().for_each(|answer| self.enter(answer));
        self.checks.tell(&checks::tools(&probed))?;
        let answer = asking::ask(self.model, &checks::json_request(), self.limit).await;
        self.enter(&answer);
        self.checks.tell(&checks::json(&answer))?;
        Ok(Some(probed.verdict))
    }

    /// Enters what a request took. One that failed may have cost nothing, and nobody says so.
    fn enter(&self, answer: &Answer) {
        let usage = answer.reply().and_then(|reply| reply.usage);
        self.accounts
            .record(self.model.identity(), Purpose::Answer, usage);
    }

    /// Keeps what was learnt.
    fn remember(
        &mut self,
        here: &Here,
        flags: &ProviderFlags,
        verdict: ProbeVerdict,
    ) -> Result<(), CommandError> {
        if verdict.calling().is_none() {
            return Ok(());
        }
        here.data.create()?;
        let (mut book, trouble) = Dialects::open(&here.data.dialects());
        let (provider, model) = self.model.identity();
        let change = book.probed(provider, model, verdict, SystemClock.now());
        let saved = book.save();
        for error in trouble.into_iter().chain(saved.err()) {
            let finding = Finding::Doubtful(Report(&error).to_string());
            self.checks.tell(&Check::new("remembered", finding))?;
        }
        let configured = flags.tool_calling.or(here.config.provider.tool_calling);
        self.checks.tell(&checks::offered(
            book.learnt(provider, model).calling,
            configured,
            change.is_some(),
        ))
    }

    fn end(mut self, choice: &Choice) -> Result<Exit, CommandError> {
        let total = self.accounts.ledger().total();
        if total.requests > total.without_usage {
            self.checks.tell(&checks::cost(&total))?;
        }
        let exit = self.checks.exit();
        let (provider, model) = self.model.identity();
        let end = json!({
            "type": "tested",
            "provider": provider.as_str(),
            "model": model.as_str(),
            "service": service(choice),
            "usable": exit == Exit::Success,
            "requests": total.requests,
        });
        let told = match exit {
            Exit::Success => format!("{} can be used", service(choice)),
            _ => format!("{} cannot be used", service(choice)),
        };
        self.checks
            .form()
            .tell(&mut io::stdout().lock(), &end, &told)?;
        Ok(exit)
    }
}
