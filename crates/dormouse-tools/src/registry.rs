//! The tools of an assistant.

use std::{collections::BTreeSet, fmt, sync::Arc};

use dormouse_contracts::{BoxError, ToolCall, ToolDefinition, ToolName, ToolReach, ToolSpec};
use serde_json::Value;

use crate::{
    call::{CheckedCall, ToolCallError},
    closest::closest,
    effort::STEPS_LIMIT,
    excerpt::Excerpt,
    parse,
    schema::Schema,
};

/// The tools of an assistant with their compiled schemas, in the order they are offered. Cheap to clone: clones, and registries
/// of [some of the tools](Registry::only), share them.
#[derive(Clone)]
pub struct Registry {
    tools: Arc<[Arc<RegisteredTool>]>,
    /// The places of the tools, sorted by their names.
    by_name: Arc<[usize]>,
}

struct RegisteredTool {
    spec: ToolSpec,
    schema: Schema,
}

/// Why a set of tools is invalid. Each variant names the tool to correct.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two tools have the same name.
    #[error("two tools are named \"{name}\"")]
    Duplicate {
        /// The shared name.
        name: ToolName,
    },
    /// The name contains a full stop. OpenAI and other providers reject the whole request because of it.
    #[error(
        "the tool \"{name}\" has a '.' in its name, which providers refuse; use '_' or '-' instead"
    )]
    FullStop {
        /// Which tool.
        name: ToolName,
    },
    /// Without a description a model cannot choose the tool.
    #[error("the tool \"{name}\" has no description")]
    NoDescription {
        /// Which tool.
        name: ToolName,
    },
    /// With a timeout of zero every call would time out.
    #[error("the tool \"{name}\" has a timeout of zero")]
    NoTimeout {
        /// Which tool.
        name: ToolName,
    },
    /// Results may be used again only if the tool is a query: an effect is carried out each time.
    #[error(
        "the tool \"{name}\" changes something, so its results cannot be cached; remove `cache`, or make it a query"
    )]
    CachedEffect {
        /// Which tool.
        name: ToolName,
    },
    /// The parameters are not a schema of an object; `"type": "object"` is required.
    #[error(
        "the parameters of the tool \"{name}\" must be a JSON Schema with \"type\": \"object\""
    )]
    NotAnObjectSchema {
        /// Which tool.
        name: ToolName,
    },
    /// The parameters nest deeper than [`Registry::SCHEMA_DEPTH`].
    #[error(
        "the parameters of the tool \"{name}\" nest deeper than {} levels",
        Registry::SCHEMA_DEPTH
    )]
    TooDeep {
        /// Which tool.
        name: ToolName,
    },
    /// The parameters are not a valid JSON Schema, or refer to an external schema; the source names the part.
    #[error("the parameters of the tool \"{name}\" are not a usable JSON Schema")]
    Schema {
        /// Which tool.
        name: ToolName,
        /// The schema compiler's error.
        source: BoxError,
    },
}

impl Registry {
    /// The longest accepted text of arguments, in bytes.
    pub const ARGUMENTS_LIMIT: usize = 256 * 1024;

    /// The largest nesting depth of arguments, including the object itself. Events contain arguments, and the JSON
    /// parser that reads events accepts at most 128 levels.
    pub const ARGUMENTS_DEPTH: usize = 64;

    /// The largest nesting depth of parameters. No provider accepts deeper ones, and the validator is recursive, so
    /// deeper ones need more stack.
    pub const SCHEMA_DEPTH: usize = 32;

    /// Compiles the schemas of the tools, in the order they are to be offered.
    ///
    /// Schemas follow draft 2020-12 unless `$schema` names another one. A schema must be self-contained: `$ref` may
    /// point within it or at a published draft, and nothing is fetched. Patterns match in linear time, so look-around
    /// and back-references are rejected. `format` is checked by schemas of draft 7 and older, and is an annotation in
    /// newer ones, as the drafts define it.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] for the first invalid tool, with its name.
    pub fn try_new(specs: impl IntoIterator<Item = ToolSpec>) -> Result<Self, RegistryError> {
        let mut tools = Vec::new();
        let mut names = BTreeSet::new();
        for spec in specs {
            if !names.insert(spec.name.clone()) {
                return Err(RegistryError::Duplicate { name: spec.name });
            }
            tools.push(Arc::new(registered(spec)?));
        }
        Ok(Self::of(tools))
    }

    /// Tools whose names differ.
    fn of(tools: Vec<Arc<RegisteredTool>>) -> Self {
        let mut places: Vec<_> = tools.iter().map(|tool| &tool.spec.name).zip(0..).collect();
        places.sort_unstable();
        Self {
            by_name: places.into_iter().map(|(_, place)| place).collect(),
            tools: tools.into(),
        }
    }

    /// The tools of this registry, and after them those of `more`.
    ///
    /// # Errors
    ///
    /// [`RegistryError::Duplicate`] if both have a tool of the same name.
    pub fn and(&self, more: &Self) -> Result<Self, RegistryError> {
        let mut added = more.specs().map(|spec| &spec.name);
        match added.find(|name| self.get(name.as_str()).is_some()) {
            Some(name) => Err(RegistryError::Duplicate { name: name.clone() }),
            None => {
                let both = self.tools.iter().chain(&*more.tools);
                Ok(Self::of(both.cloned().collect()))
            }
        }
    }

    /// The tools of this registry that `keep` accepts, in the same order.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&ToolSpec) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| keep(&tool.spec));
        Self::of(tools.cloned().collect())
    }

    /// The tool of this name, if it exists. Names are compared exactly.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ToolSpec> {
        self.find(name).map(|tool| &tool.spec)
    }

    fn find(&self, name: &str) -> Option<&RegisteredTool> {
        let tool = |place: &usize| self.tools.get(*place).map(|tool| &**tool);
        let name_at = |place: &usize| tool(place).map(|tool| tool.spec.name.as_str());
        let found = self
            .by_name
            .binary_search_by(|place| name_at(place).cmp(&Some(name)));
        tool(self.by_name.get(found.ok()?)?)
    }

    /// The tools, in the order they were given.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| &tool.spec)
    }

    /// The tools as definitions for a chat request, in the order they were given.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.specs().map(ToolDefinition::from).collect()
    }

    /// Checks a model's call: the tool exists, and the arguments are a JSON object that fits its schema.
    ///
    /// A blank text counts as `{}`. A JSON string that contains an object counts as that object, because some models
    /// encode arguments twice. A repeated key is rejected at any depth: the intended value is unknown, and the call may
    /// be irreversible. Arguments deeper than [`Registry::ARGUMENTS_DEPTH`] are rejected. Nothing is converted or
    /// filled in.
    ///
    /// The validator takes at most a million steps. A call that could take more, because of the references in its schema, is
    /// rejected without validation. No call can cause a panic or a stack overflow.
    ///
    /// # Errors
    ///
    /// [`ToolCallError`]; its text tells the model what to change. The same call fails again.
    pub fn check(&self, call: &ToolCall) -> Result<CheckedCall<'_>, ToolCallError> {
        let tool = self
            .find(&call.name)
            .ok_or_else(|| self.unknown(&call.name))?;
        let length = call.arguments.len();
        if length > Self::ARGUMENTS_LIMIT {
            return Err(ToolCallError::TooLarge {
                length,
                limit: Self::ARGUMENTS_LIMIT,
            });
        }
        let arguments = parse::arguments(&call.arguments, Self::ARGUMENTS_DEPTH)?;
        let arguments = Value::Object(arguments);
        if tool.schema.is_too_much(&arguments) {
            return Err(ToolCallError::TooMuch { limit: STEPS_LIMIT });
        }
        let arguments = tool
            .schema
            .fit(&tool.spec.parameters, arguments)
            .map_err(|(problems, omitted)| ToolCallError::DoesNotFit { problems, omitted })?;
        Ok(CheckedCall {
            spec: &tool.spec,
            arguments,
        })
    }

    fn unknown(&self, name: &str) -> ToolCallError {
        let names = || self.specs().map(|spec| &spec.name);
        let closest = closest(name, names().map(ToolName::as_str)).into_iter();
        let closest = closest.filter_map(|near| names().find(|name| name.as_str() == near));
        ToolCallError::UnknownTool {
            name: Excerpt::of(name),
            closest: closest.cloned().collect(),
            available: names().cloned().collect(),
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.specs().map(|spec| &spec.name))
            .finish()
    }
}

fn registered(spec: ToolSpec) -> Result<RegisteredTool, RegistryError> {
    let name = &spec.name;
    if name.as_str().contains('.') {
        return Err(RegistryError::FullStop { name: name.clone() });
    }
    if spec.description.trim().is_empty() {
        return Err(RegistryError::NoDescription { name: name.clone() });
    }
    if spec.timeout.is_zero() {
        return Err(RegistryError::NoTimeout { name: name.clone() });
    }
    if spec.cache.is_some() && spec.reach == ToolReach::Effect {
        return Err(RegistryError::CachedEffect { name: name.clone() });
    }
    let schema = compile(&spec)?;
    Ok(RegisteredTool { spec, schema })
}

fn compile(spec: &ToolSpec) -> Result<Schema, RegistryError> {
    let name = &spec.name;
    if spec.parameters.get("type").and_then(Value::as_str) != Some("object") {
        return Err(RegistryError::NotAnObjectSchema { name: name.clone() });
    }
    if is_deeper(&spec.parameters, Registry::SCHEMA_DEPTH) {
        return Err(RegistryError::TooDeep { name: name.clone() });
    }
    Schema::compile(&spec.parameters, Registry::ARGUMENTS_DEPTH).map_err(|error| {
        RegistryError::Schema {
            name: name.clone(),
            source: error.into(),
        }
    })
}

/// Whether a value nests deeper than `levels`. Looks at no more than these levels, so its own recursion is bounded,
/// too.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(rest) = levels.checked_sub(1) else {
        return true;
    };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, rest)),
        Value::Object(map) => map.values().any(|item| is_deeper(item, rest)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
