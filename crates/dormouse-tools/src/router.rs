//! Combines the tools of several sources into one source.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use dormouse_contracts::{
    BoxFuture, Effect, EffectInquiry, IdError, Inquire, Observe, Outcome, Perform, Query,
    Rejection, ToolName, ToolReach, ToolSource, ToolSourceName, ToolSpec, WorldError,
};
use serde_json::Value;

/// A source of tools, and a name that distinguishes its tools from those of other sources.
#[derive(Clone)]
pub struct NamedToolSource {
    /// Its name. It may be a part of the names of its tools, which are in the log, so it should stay the same.
    pub name: ToolSourceName,
    /// The source.
    pub source: Arc<dyn ToolSource>,
}

impl fmt::Debug for NamedToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedToolSource").field(&self.name).finish()
    }
}

/// A tool of a [`ToolRouter`].
#[derive(Clone, Debug, PartialEq)]
pub struct RoutedTool {
    /// The tool as it is offered.
    pub spec: ToolSpec,
    /// The source that has it; absent for a tool of the world.
    pub source: Option<ToolSourceName>,
    /// Its name in its source.
    pub own_name: ToolName,
}

impl RoutedTool {
    /// Whether it is offered under another name than in its source, because another tool has the same name.
    #[must_use]
    pub fn is_renamed(&self) -> bool {
        self.own_name != self.spec.name
    }
}

/// Why the tools of several sources cannot be offered together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// Two sources have the same name.
    #[error("two tool sources are named \"{name}\"; give one of them another name")]
    SameSource {
        /// The shared name.
        name: ToolSourceName,
    },
    /// Two tools would have the same name, even with the names of their sources in front.
    #[error(
        "two tools would be offered as \"{name}\", one of them by the tool source \"{by}\"; give that source another name"
    )]
    Taken {
        /// The name.
        name: ToolName,
        /// The source of the second one.
        by: ToolSourceName,
    },
    /// The name of a source and the name of a tool together are not a valid name.
    #[error("the tool \"{tool}\" clashes with another one, and cannot be named after its source")]
    Name {
        /// The tool.
        tool: ToolName,
        /// Why not.
        source: IdError,
    },
    /// A source has a tool that only affects the assistant. Only the engine can carry that out.
    #[error("the tool \"{tool}\" is neither an effect nor a query, so no source can carry it out")]
    Reach {
        /// The tool.
        tool: ToolName,
    },
}

/// A world and other sources of tools, as one source: each call goes to the source that has the tool.
///
/// A tool has the name that its source gives it. If a tool of another source than the world shares its name with any other
/// tool, it is offered as `<source>_<tool>`. So the world's tools keep their names, and names do not depend on the
/// order of the sources.
///
/// Effects happen at most once if each source keeps that promise. If no source has the tool of an effect any more,
/// nobody can tell what became of the effect, so it is not repeated.
pub struct ToolRouter {
    sources: Vec<Arc<dyn ToolSource>>,
    tools: Vec<RoutedTool>,
    /// The index of the tool and of its source, by the name that is offered.
    routes: BTreeMap<ToolName, (usize, usize)>,
}

impl fmt::Debug for ToolRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.tools.iter().map(|tool| &tool.spec.name))
            .finish()
    }
}

impl ToolRouter {
    /// Offers the tools of the world first, and then those of the other sources in their order. `reserved` are names
    /// that no other source than the world can have, such as those of the engine's own tools.
    ///
    /// # Errors
    ///
    /// [`RouterError`], which names the tool or the source.
    pub fn try_new(
        world: Arc<dyn ToolSource>,
        others: Vec<NamedToolSource>,
        reserved: &[ToolName],
    ) -> Result<Self, RouterError> {
        let names: Vec<_> = others.iter().map(|other| other.name.clone()).collect();
        if let Some((_, name)) = (names.iter().enumerate()).find(|(at, name)| {
            names
                .iter()
                .skip(at.saturating_add(1))
                .any(|it| it == *name)
        }) {
            return Err(RouterError::SameSource { name: name.clone() });
        }
        let sources: Vec<_> = [world]
            .into_iter()
            .chain(others.into_iter().map(|other| other.source))
            .collect();
        let specs: Vec<_> = sources.iter().map(|source| source.specs()).collect();
        let clashing = clashing(&specs, reserved);
        let mut router = Self {
            sources,
            tools: Vec::new(),
            routes: BTreeMap::new(),
        };
        let labels = [None].into_iter().chain(names.into_iter().map(Some));
        for (place, (source, specs)) in labels.zip(specs).enumerate() {
            for spec in specs {
                router.add(place, source.as_ref(), spec, &clashing)?;
            }
        }
        Ok(router)
    }

    fn add(
        &mut self,
        place: usize,
        source: Option<&ToolSourceName>,
        spec: ToolSpec,
        clashing: &BTreeSet<ToolName>,
    ) -> Result<(), RouterError> {
        if !matches!(spec.reach, ToolReach::Effect | ToolReach::Query) {
            return Err(RouterError::Reach { tool: spec.name });
        }
        let own_name = spec.name.clone();
        let name = match source {
            Some(source) if clashing.contains(&own_name) => {
                let name = ToolName::try_new(format!("{source}_{own_name}"));
                name.map_err(|source| RouterError::Name {
                    tool: own_name.clone(),
                    source,
                })?
            }
            _ => own_name.clone(),
        };
        let route = (self.tools.len(), place);
        let is_taken = self.routes.insert(name.clone(), route).is_some();
        if let Some(by) = source.filter(|_| is_taken) {
            let by = by.clone();
            return Err(RouterError::Taken { name, by });
        }
        self.tools.push(RoutedTool {
            spec: ToolSpec { name, ..spec },
            source: source.cloned(),
            own_name,
        });
        Ok(())
    }

    /// All tools with their sources, in the order in which they are offered.
    #[must_use]
    pub fn tools(&self) -> &[RoutedTool] {
        &self.tools
    }

    /// The source that has this tool, and the tool's name there.
    fn route(&self, name: &ToolName) -> Option<(&dyn ToolSource, &ToolName)> {
        let (tool, source) = self.routes.get(name)?;
        let own_name = &self.tools.get(*tool)?.own_name;
        Some((&**self.sources.get(*source)?, own_name))
    }
}

/// The names that two or more tools have, and the reserved names that a tool has.
fn clashing(specs: &[Vec<ToolSpec>], reserved: &[ToolName]) -> BTreeSet<ToolName> {
    let mut seen: BTreeSet<&ToolName> = reserved.iter().collect();
    let all = specs.iter().flatten();
    let twice = all.filter(|spec| !seen.insert(&spec.name));
    twice.map(|spec| spec.name.clone()).collect()
}

fn unknown(tool: &ToolName) -> Rejection {
    Rejection::new(format!("no source has a tool \"{tool}\" any more"))
}

impl Perform for ToolRouter {
    fn perform<'a>(&'a self, effect: &'a Effect) -> BoxFuture<'a, Result<Outcome, WorldError>> {
        Box::pin(async move {
            match self.route(&effect.tool) {
                None => Ok(Outcome::Rejected(unknown(&effect.tool))),
                Some((source, name)) => source.perform(&under(name, effect)).await,
            }
        })
    }
}

impl Observe for ToolRouter {
    fn observe<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Result<Value, Rejection>, WorldError>> {
        Box::pin(async move {
            let Some((source, name)) = self.route(&query.tool) else {
                return Ok(Err(unknown(&query.tool)));
            };
            let tool = name.clone();
            let query = Query {
                tool,
                ..query.clone()
            };
            source.observe(&query).await
        })
    }
}

impl Inquire for ToolRouter {
    fn inquire<'a>(
        &'a self,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<EffectInquiry, WorldError>> {
        Box::pin(async move {
            match self.route(&effect.tool) {
                None => Ok(EffectInquiry::CannotTell),
                Some((source, name)) => source.inquire(&under(name, effect)).await,
            }
        })
    }
}

impl ToolSource for ToolRouter {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec.clone()).collect()
    }
}

/// The effect with the name that its tool has in the source.
fn under(name: &ToolName, effect: &Effect) -> Effect {
    Effect {
        tool: name.clone(),
        ..effect.clone()
    }
}
