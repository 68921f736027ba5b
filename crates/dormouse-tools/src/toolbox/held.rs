//! A tool with its type of arguments erased.

use dormouse_contracts::{
    Arguments, AssistantId, Audience, BoxFuture, Rejection, ToolName, ToolReach, ToolSpec,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

use super::ToolboxError;
use crate::tool::{Tool, ToolInfo};

/// A tool with any type of arguments.
pub(super) trait AnyTool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// Reads the arguments of a call, which begins when the future is polled.
    fn prepare<'a>(
        &'a self,
        by: &'a AssistantId,
        arguments: &Arguments,
    ) -> Result<PreparedCall<'a>, Rejection>;
}

/// A call whose arguments were read.
pub(super) struct PreparedCall<'a> {
    /// Who would hear its words, if it speaks and that is known.
    pub(super) listeners: Option<Audience>,
    pub(super) call: BoxFuture<'a, Result<Value, Rejection>>,
}

/// A tool with its specification.
pub(super) struct HeldTool<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Tool> HeldTool<T> {
    pub(super) fn try_new(tool: T) -> Result<Self, ToolboxError> {
        let ToolInfo {
            name,
            description,
            category,
            reach,
            timeout,
            cache,
            required_trust,
            speech,
        } = tool.info();
        let name = match ToolName::try_new(name.as_str()) {
            Ok(name) => name,
            Err(source) => return Err(ToolboxError::Name { name, source }),
        };
        let spec = ToolSpec {
            category,
            reach,
            timeout,
            speech,
            required_trust,
            cache,
            ..ToolSpec::effect(name, description, schema::<T::Arguments>())
        };
        match spec.reach {
            ToolReach::Effect => {}
            ToolReach::Query if spec.speech.is_none() => {}
            _ => return Err(ToolboxError::Reach { tool: spec.name }),
        }
        let speech = spec.speech.iter();
        let texts = speech.flat_map(|speech| [Some(&speech.words), speech.to.as_ref()]);
        if let Some(argument) = texts.flatten().find(|text| !is_text(&spec, text)) {
            let argument = argument.clone();
            let tool = spec.name;
            return Err(ToolboxError::Speech { tool, argument });
        }
        Ok(Self { tool, spec })
    }
}

/// Whether a tool has this argument, and it is a text.
fn is_text(spec: &ToolSpec, argument: &str) -> bool {
    let properties = spec.parameters.get("properties");
    let schema = properties.and_then(|all| all.get(argument));
    let kind = schema.and_then(|schema| schema.get("type"));
    kind.and_then(Value::as_str) == Some("string")
}

impl<T: Tool> AnyTool for HeldTool<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare<'a>(
        &'a self,
        by: &'a AssistantId,
        arguments: &Arguments,
    ) -> Result<PreparedCall<'a>, Rejection> {
        let arguments: T::Arguments = serde_json::from_value(Value::Object(arguments.clone()))
            .map_err(|error| Rejection::new(format!("the arguments do not fit: {error}")))?;
        let speaks = self.spec.speech.is_some();
        let listeners = speaks.then(|| self.tool.listeners(by, &arguments));
        Ok(PreparedCall {
            listeners: listeners.flatten(),
            // The call may do something before its future is polled.
            call: Box::pin(async move { self.tool.call(by, arguments).await }),
        })
    }
}

/// The schema of a type of arguments, as models get it: subschemas are inlined, and the name of the type is removed.
fn schema<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<A>();
    let mut schema = Value::from(schema);
    if let Value::Object(fields) = &mut schema {
        fields.remove("title");
        // Some servers refuse an object without this field.
        if fields.get("type").and_then(Value::as_str) == Some("object") {
            fields.entry("properties").or_insert_with(|| json!({}));
        }
    }
    schema
}
