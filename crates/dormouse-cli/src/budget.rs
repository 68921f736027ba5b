//! `dormouse budget`: what an assistant may spend on its model, and what is left of that.

use clap::Args;
use dormouse_contracts::{AssistantId, Clock};
use dormouse_engine::{BudgetKind, BudgetSpan, BudgetStatus};
use dormouse_host::SystemClock;
use serde::Serialize;

use crate::{
    command::{CommandError, JsonFlag, Places, Whose, view_state},
    describe,
    exit::Exit,
};

/// Showing the budgets.
#[derive(Clone, Debug, Args)]
pub(crate) struct Budget {
    #[command(flatten)]
    of: Whose,
    #[command(flatten)]
    json: JsonFlag,
}

/// A budget as JSON; money is in dollars.
#[derive(Serialize)]
struct BudgetLine<'a> {
    r#type: &'static str,
    assistant: &'a AssistantId,
    span: BudgetSpan,
    kind: &'static str,
    limit: f64,
    spent: f64,
    left: f64,
}

/// Shows the budgets that were in force when the assistant last ran.
pub(crate) fn run(places: &Places, command: Budget) -> Result<Exit, CommandError> {
    let printing = command.json.printing();
    let data = crate::data::locate(places.data.as_deref())?;
    let (key, state) = view_state(places, &data, command.of.assistant, printing)?;
    let budgets = BudgetStatus::each(&state, SystemClock.now());
    for budget in &budgets {
        printing.print(&line(&key, budget), || {
            let (left, span) = (describe::left_of(budget), describe::span_of(budget));
            format!("{key}: {left} left {span}")
        })?;
    }
    if budgets.is_empty() {
        crate::command::remark(&format!(
            "{key} has no budget; [budgets] in the configuration sets one"
        ));
    }
    Ok(Exit::Success)
}

fn line<'a>(assistant: &'a AssistantId, budget: &BudgetStatus) -> BudgetLine<'a> {
    let (kind, unit) = match budget.kind {
        BudgetKind::Tokens => ("tokens", 1.0),
        BudgetKind::Money => ("dollars", 1e12),
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "15 digits are more than people read"
    )]
    let amount = |amount: u64| amount as f64 / unit;
    BudgetLine {
        r#type: "budget",
        assistant,
        span: budget.span,
        kind,
        limit: amount(budget.limit),
        spent: amount(budget.spent),
        left: amount(budget.left()),
    }
}
