//! A tool's parameters, compiled once and checked against each call.

use std::{error::Error, sync::Arc};

use boon::{CompileError, Compiler, Draft, SchemaIndex, Schemas, UrlLoader};
use dormouse_contracts::Arguments;
use serde_json::Value;

use crate::{
    effort::Effort,
    problem::{Problem, problems},
};

/// The base of every address in a schema without an `$id`. It has a path, so that a relative `$id` can be resolved.
const BASE: &str = "tool:///parameters";

/// A compiled JSON Schema, cheap to clone.
#[derive(Clone)]
pub(crate) struct Schema {
    schemas: Arc<Schemas>,
    root: SchemaIndex,
    effort: Arc<Effort>,
}

/// Why the parameters are not a valid JSON Schema, and in which part.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SchemaError(String);

impl Schema {
    /// For arguments that nest at most so deep.
    pub(crate) fn compile(parameters: &Value, depth: usize) -> Result<Self, SchemaError> {
        let mut schemas = Schemas::new();
        let root = compile(parameters, &mut schemas).map_err(|e| explain(&e, parameters))?;
        Ok(Self {
            schemas: Arc::new(schemas),
            root,
            effort: Arc::new(Effort::of(parameters, depth)),
        })
    }

    /// Whether it would take too long to check these arguments.
    pub(crate) fn is_too_much(&self, arguments: &Value) -> bool {
        self.effort.is_too_much(arguments)
    }

    /// Returns the arguments, an object, if they fit, otherwise the first problems and the number of further ones. `parameters`
    /// must be what this schema was compiled from.
    pub(crate) fn fit(
        &self,
        parameters: &Value,
        value: Value,
    ) -> Result<Arguments, (Vec<Problem>, usize)> {
        let (problems, omitted) = match self.schemas.validate(&value, self.root) {
            Ok(()) => (Vec::new(), 0),
            Err(error) => problems(&error, &value, parameters),
        };
        match value {
            Value::Object(arguments) if problems.is_empty() => Ok(arguments),
            _ => Err((problems, omitted)),
        }
    }
}

fn compile(parameters: &Value, schemas: &mut Schemas) -> Result<SchemaIndex, Box<CompileError>> {
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    // The default loader would read files.
    compiler.use_loader(Box::new(Offline));
    compiler.add_resource(BASE, parameters.clone())?;
    Ok(compiler.compile(BASE, schemas)?)
}

/// Refuses every address outside the schema. The published drafts are part of the validator and are not loaded.
struct Offline;

impl UrlLoader for Offline {
    fn load(&self, _url: &str) -> Result<Value, Box<dyn Error>> {
        Err("a schema must not refer to anything outside it".into())
    }
}

/// Converts an error of the compiler into text, because these errors are not `Send`. The base address is removed from
/// the text.
fn explain(error: &CompileError, parameters: &Value) -> SchemaError {
    SchemaError(match error {
        CompileError::ValidationError { src, .. } => {
            let (problems, _) = problems(src, parameters, &Value::Null);
            let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
            texts.join("; ")
        }
        _ => format!("{error:#}").replace(BASE, ""),
    })
}
