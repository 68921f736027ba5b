//! The tools an assistant may use.

use std::{collections::BTreeMap, fmt};

use dormouse_contracts::{BoxError, ToolCall, ToolDefinition, ToolName, ToolSpec};
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::{CallError, CheckedCall, Excerpt, closest::closest, parse, problem};

/// The tools an assistant may use, in the order they are offered, with their schemas compiled.
#[derive(Clone)]
pub struct Registry {
    tools: Vec<Tool>,
    places: BTreeMap<Box<str>, usize>,
}

#[derive(Clone)]
struct Tool {
    spec: ToolSpec,
    validator: Validator,
}

/// Why a set of tools is no registry. Each says which tool to put right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two tools have the same name.
    #[error("two tools are named \"{name}\"")]
    Duplicate {
        /// Their name.
        name: ToolName,
    },
    /// Its name has a full stop in it, which OpenAI and others refuse together with the whole request.
    #[error(
        "the tool \"{name}\" has a '.' in its name, which providers refuse; use '_' or '-' instead"
    )]
    FullStop {
        /// Which tool.
        name: ToolName,
    },
    /// A model cannot choose a tool that nobody describes.
    #[error("the tool \"{name}\" has no description")]
    NoDescription {
        /// Which tool.
        name: ToolName,
    },
    /// No call would ever end in time.
    #[error("the tool \"{name}\" has a timeout of zero")]
    NoTimeout {
        /// Which tool.
        name: ToolName,
    },
    /// The parameters are no schema of an object: `"type": "object"` is required.
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
    /// The parameters are no JSON Schema, or refer to one that is not in them; the source says which part.
    #[error("the parameters of the tool \"{name}\" are no usable JSON Schema")]
    Schema {
        /// Which tool.
        name: ToolName,
        /// What the compiler of the schema says.
        source: BoxError,
    },
}

impl Registry {
    /// The longest text of arguments that is accepted, in bytes.
    pub const ARGUMENTS_LIMIT: usize = 256 * 1024;

    /// How deep arguments may nest, the object itself included. An event that holds them must be readable again, and
    /// JSON is read to 128 levels.
    pub const ARGUMENTS_DEPTH: usize = 64;

    /// How deep parameters may nest.
    pub const SCHEMA_DEPTH: usize = 64;

    /// Takes the tools in the order they shall be offered, and compiles their schemas.
    ///
    /// A schema is read by draft 2020-12 unless its `$schema` says otherwise. It must be whole: a `$ref` may
    /// point within it or at a published draft, and nothing is ever fetched. Patterns are matched in linear time,
    /// so look-around and back-references are refused. `format` is an annotation and checks nothing.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] for the first tool that cannot be taken, with its name.
    pub fn try_new(specs: impl IntoIterator<Item = ToolSpec>) -> Result<Self, RegistryError> {
        let mut registry = Self {
            tools: Vec::new(),
            places: BTreeMap::new(),
        };
        for spec in specs {
            registry.add(spec)?;
        }
        Ok(registry)
    }

    fn add(&mut self, spec: ToolSpec) -> Result<(), RegistryError> {
        let name = &spec.name;
        if self.places.contains_key(name.as_str()) {
            return Err(RegistryError::Duplicate { name: name.clone() });
        }
        if name.as_str().contains('.') {
            return Err(RegistryError::FullStop { name: name.clone() });
        }
        if spec.description.trim().is_empty() {
            return Err(RegistryError::NoDescription { name: name.clone() });
        }
        if spec.timeout.is_zero() {
            return Err(RegistryError::NoTimeout { name: name.clone() });
        }
        let validator = compile(&spec)?;
        self.places.insert(name.as_str().into(), self.tools.len());
        self.tools.push(Tool { spec, validator });
        Ok(())
    }

    /// The tool of this name, if there is one. Names are compared exactly.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ToolSpec> {
        self.find(name).map(|tool| &tool.spec)
    }

    fn find(&self, name: &str) -> Option<&Tool> {
        self.places.get(name).and_then(|at| self.tools.get(*at))
    }

    /// The tools, in the order they were given.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| &tool.spec)
    }

    /// The tools as a chat request offers them, in the order they were given.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.specs().map(ToolDefinition::from).collect()
    }

    /// Checks a model's call: the tool exists, and the arguments are a JSON object that fits its schema.
    ///
    /// A blank text of arguments counts as `{}`. A JSON string that holds an object counts as that object, since
    /// some models encode arguments twice. A key given twice, at any depth, is refused: which value was meant
    /// cannot be known, and what a call does may be impossible to take back. Arguments that nest deeper than
    /// [`Registry::ARGUMENTS_DEPTH`] are refused. Nothing is converted or filled in.
    ///
    /// Takes time in proportion to the arguments and the schema, holds at most a few times
    /// [`Registry::ARGUMENTS_LIMIT`] in memory, and does not panic or overflow the stack, whatever the call holds.
    ///
    /// # Errors
    ///
    /// [`CallError`], whose text tells the model what to change. The same call never succeeds.
    pub fn check(&self, call: &ToolCall) -> Result<CheckedCall<'_>, CallError> {
        let tool = self
            .find(&call.name)
            .ok_or_else(|| self.unknown(&call.name))?;
        let length = call.arguments.len();
        if length > Self::ARGUMENTS_LIMIT {
            return Err(CallError::TooLarge {
                length,
                limit: Self::ARGUMENTS_LIMIT,
            });
        }
        let arguments = parse::arguments(&call.arguments)?;
        Ok(CheckedCall {
            spec: &tool.spec,
            arguments: problem::fit(&tool.validator, &tool.spec.parameters, arguments)?,
        })
    }

    fn unknown(&self, name: &str) -> CallError {
        let names = || self.specs().map(|spec| &spec.name);
        CallError::UnknownTool {
            name: Excerpt::of(name),
            closest: closest(name, names()).into_iter().cloned().collect(),
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

fn compile(spec: &ToolSpec) -> Result<Validator, RegistryError> {
    let name = &spec.name;
    if spec.parameters.get("type").and_then(Value::as_str) != Some("object") {
        return Err(RegistryError::NotAnObjectSchema { name: name.clone() });
    }
    if is_deeper(&spec.parameters, Registry::SCHEMA_DEPTH) {
        return Err(RegistryError::TooDeep { name: name.clone() });
    }
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .build(&spec.parameters)
        .map_err(|error| RegistryError::Schema {
            name: name.clone(),
            source: Box::new(error),
        })
}

/// Looks at no more than `levels` levels, so that a deeper schema is refused before anything descends into it.
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
