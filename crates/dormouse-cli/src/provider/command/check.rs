//! `dormouse provider test`: tries a model with a few short requests.

mod checks;
mod report;
#[cfg(test)]
mod tests;

use std::time::Duration;

use dormouse_contracts::{ChatModel, Clock, Purpose};
use dormouse_dialects::ProbeVerdict;
use dormouse_host::{
    SystemClock,
    provider::{named, network, open, price_table, service},
};
use dormouse_providers::{Accounts, Choice};
use serde_json::json;

use self::report::{Check, Checks};
use super::context::Context;
use crate::{
    command::{CommandError, block_on},
    dialects::Dialects,
    exit::{Exit, Report},
    finding::Finding,
    provider::{
        asking::{self, Answer, probe_tools},
        flags::ProviderFlags,
    },
};

/// Tries the model. The exit code is 0 if it can be used.
pub(super) fn run(
    context: &Context,
    choice: &Choice,
    flags: &ProviderFlags,
    limit: Duration,
) -> Result<Exit, CommandError> {
    let section = &context.config.provider;
    let model = open(&named(choice, section), &network(section)?)?;
    let mut check = ModelCheck {
        model: &*model,
        limit,
        accounts: Accounts::new(price_table(&context.config.prices)?),
        checks: Checks::new(context.printing),
    };
    let probed = block_on(Box::pin(check.ask()))?;
    if let Some(verdict) = probed?
        && matches!(choice, Choice::Server { .. })
    {
        check.remember(context, flags, verdict)?;
    }
    check.end(choice)
}

/// A model that is being tried.
struct ModelCheck<'a> {
    model: &'a dyn ChatModel,
    limit: Duration,
    accounts: Accounts,
    checks: Checks,
}

impl ModelCheck<'_> {
    /// Sends all requests, and returns what the probe of its tools showed.
    async fn ask(&mut self) -> Result<Option<ProbeVerdict>, CommandError> {
        let answer = asking::ask(self.model, &checks::words(), self.limit).await;
        self.enter(&answer);
        let goes_on = self.checks.print_all(checks::answer(&answer))?;
        if !goes_on {
            return Ok(None);
        }
        let probed = probe_tools(self.model, self.limit).await;
        probed.answers.iter().for_each(|answer| self.enter(answer));
        self.checks.print(&checks::tools(&probed))?;
        let answer = asking::ask(self.model, &checks::json_request(), self.limit).await;
        self.enter(&answer);
        self.checks.print(&checks::json(&answer))?;
        Ok(Some(probed.verdict))
    }

    /// Adds the usage of a request to the accounts, except for a failed request, whose usage is unknown.
    fn enter(&self, answer: &Answer) {
        let usage = answer.reply().and_then(|reply| reply.usage);
        self.accounts
            .record(self.model.identity(), Purpose::Answer, usage);
    }

    /// Saves what was learnt.
    fn remember(
        &mut self,
        context: &Context,
        flags: &ProviderFlags,
        verdict: ProbeVerdict,
    ) -> Result<(), CommandError> {
        if verdict.calling().is_none() {
            return Ok(());
        }
        context.data.create()?;
        let (mut book, trouble) = Dialects::open(&context.data.dialects());
        let (provider, model) = self.model.identity();
        let change = book.probed(provider, model, verdict, SystemClock.now());
        let saved = book.save();
        for error in trouble.into_iter().chain(saved.err()) {
            let finding = Finding::Doubtful(Report(&error).to_string());
            self.checks.print(&Check::new("remembered", finding))?;
        }
        let configured = flags.tool_calling.or(context.config.provider.tool_calling);
        self.checks.print(&checks::offered(
            book.learnt(provider, model).calling,
            configured,
            change.is_some(),
        ))
    }

    fn end(mut self, choice: &Choice) -> Result<Exit, CommandError> {
        let total = self.accounts.ledger().total();
        if total.requests > total.without_usage {
            self.checks.print(&checks::cost(&total))?;
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
        let text = match exit {
            Exit::Success => format!("{} can be used", service(choice)),
            _ => format!("{} cannot be used", service(choice)),
        };
        self.checks.printing().print(&end, || text)?;
        Ok(exit)
    }
}
