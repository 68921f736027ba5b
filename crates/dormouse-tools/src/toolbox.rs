//! A source of tools that you write.

mod held;
mod outcomes;

use std::{any::Any, collections::BTreeMap, fmt, panic::AssertUnwindSafe};

use dormouse_contracts::{
    Audience, BoxFuture, Effect, EffectInquiry, IdError, Inquire, Observe, Outcome, Perform, Query,
    Receipt, Rejection, ToolName, ToolReach, ToolSource, ToolSpec, WorldError, WorldErrorKind,
};
use futures_util::FutureExt;
use serde_json::Value;

use crate::{
    registry::{Registry, RegistryError},
    tool::Tool,
};
use held::{AnyTool, HeldTool};
pub use outcomes::{EffectOutcomes, check_reach};

/// Why a tool cannot be added to a [`Toolbox`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolboxError {
    /// Its name is not valid.
    #[error("a tool cannot be named {name:?}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        source: IdError,
    },
    /// The tool has the name of another tool, no description, a timeout of zero, or arguments whose type is not a
    /// struct with named fields.
    #[error(transparent)]
    Spec(#[from] RegistryError),
    /// The tool is neither an effect nor a query, or it is a query that speaks.
    #[error("the tool \"{tool}\" must be an effect or a query, and an effect if it speaks")]
    Reach {
        /// Which tool.
        tool: ToolName,
    },
    /// The argument that should hold its words is not a text, or does not exist.
    #[error("the tool \"{tool}\" says what is in \"{argument}\", which is not one of its texts")]
    Speech {
        /// Which tool.
        tool: ToolName,
        /// The argument.
        argument: String,
    },
}

/// A source of tools that you write, for an assistant.
///
/// Keeps the outcomes of its last 4,096 effects in memory, so that each of these happens at most once. They are lost at
/// a restart: then it cannot tell what became of an effect, which counts as unknown and is not repeated.
#[derive(Default)]
pub struct Toolbox {
    tools: Vec<Box<dyn AnyTool>>,
    places: BTreeMap<ToolName, usize>,
    outcomes: EffectOutcomes,
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.places.keys()).finish()
    }
}

impl Toolbox {
    /// A source without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more tool, which is offered after the others.
    ///
    /// # Errors
    ///
    /// [`ToolboxError`], which says what to change.
    pub fn with<T: Tool>(mut self, tool: T) -> Result<Self, ToolboxError> {
        let held = HeldTool::try_new(tool)?;
        let others = self.tools.iter().map(|tool| tool.spec().clone());
        Registry::try_new(others.chain([held.spec().clone()]))?;
        let name = held.spec().name.clone();
        self.places.insert(name, self.tools.len());
        self.tools.push(Box::new(held));
        Ok(self)
    }

    fn tool(&self, name: &ToolName, reach: ToolReach) -> Result<&dyn AnyTool, Rejection> {
        let tool = self.places.get(name).and_then(|at| self.tools.get(*at));
        check_reach(name, tool.map(|tool| tool.spec()), reach)?;
        tool.map(|tool| &**tool)
            .ok_or_else(|| Rejection::new("there is no such tool"))
    }

    async fn carry_out(&self, effect: &Effect) -> Result<Outcome, WorldError> {
        let tool = match self.tool(&effect.tool, ToolReach::Effect) {
            Ok(tool) => tool,
            Err(rejection) => return Ok(Outcome::Rejected(rejection)),
        };
        let carried_out = async {
            let called = call(tool, effect, effect.within.as_ref()).await?;
            Ok(match called {
                Ok((detail, heard_by)) => Outcome::Done(Receipt {
                    heard_by,
                    ..Receipt::new(detail)
                }),
                Err(rejection) => Outcome::Rejected(rejection),
            })
        };
        self.outcomes.once(&effect.key, carried_out).await
    }
}

/// Calls a tool that changes something, unless somebody would hear its words who may not.
async fn call(
    tool: &dyn AnyTool,
    effect: &Effect,
    within: Option<&Audience>,
) -> Result<Result<(Value, Option<Audience>), Rejection>, WorldError> {
    let called = async {
        let prepared = tool.prepare(&effect.actor, &effect.arguments)?;
        let speaks = tool.spec().speech.is_some();
        if let Some(within) = within.filter(|_| speaks) {
            let listeners = prepared.listeners.clone().unwrap_or(Audience::Public);
            if !within.covers(&listeners) {
                return Err(Rejection {
                    reason: format!("more would hear it than may: {listeners}"),
                    heard_by: Some(listeners),
                });
            }
        }
        let detail = prepared.call.await?;
        Ok((detail, prepared.listeners))
    };
    let caught = AssertUnwindSafe(called).catch_unwind().await;
    caught.map_err(|panic| unanswered(Some(&defect(&effect.tool, &*panic))))
}

/// Logs a panic of a tool, and returns a text about it.
fn defect(tool: &ToolName, panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("nothing more is known");
    tracing::error!(%tool, panic = text, "a tool has a defect and panicked");
    format!("the tool {tool} panicked: {text}")
}

fn unanswered(cause: Option<&str>) -> WorldError {
    let cause = cause.map(Into::into);
    WorldError::new(WorldErrorKind::Unanswered, cause)
}

impl Perform for Toolbox {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(self.carry_out(effect))
    }
}

impl Observe for Toolbox {
    /// A tool that panics gives no answer. The rejection says so, without the text of the panic.
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move {
            let answered = async {
                let tool = self.tool(&query.tool, ToolReach::Query)?;
                tool.prepare(&query.actor, &query.arguments)?.call.await
            };
            let caught = AssertUnwindSafe(answered).catch_unwind().await;
            Ok(caught.unwrap_or_else(|panic| {
                defect(&query.tool, &*panic);
                let reason = format!("{} has a defect and gave no answer", query.tool);
                Err(Rejection::new(reason))
            }))
        })
    }
}

impl Inquire for Toolbox {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        let answer = self.outcomes.inquire(&effect.key);
        Box::pin(async { Ok(answer) })
    }
}

impl ToolSource for Toolbox {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }
}
