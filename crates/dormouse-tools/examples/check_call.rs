//! Checks calls of a model, and prints the errors that the model gets.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use dormouse_contracts::{CallId, ToolCall, ToolCategory, ToolName, ToolSpec};
use dormouse_tools::{Registry, after};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::try_new([
        tool(
            "say",
            ToolCategory::Terminal,
            json!({
                "type": "object",
                "properties": { "text": { "type": "string", "minLength": 1 } },
                "required": ["text"],
                "additionalProperties": false,
            }),
        )?,
        tool("look", ToolCategory::SafeChain, json!({ "type": "object" }))?,
    ])?;

    let calls = [
        ("look", ""),
        ("say", r#"{"text": "Good evening, Alice."}"#),
        ("say", r#"{"words": "Good evening."}"#),
        ("say", r#"{"text": "Good eve"#),
        ("Say", r#"{"text": "Good evening."}"#),
    ];
    for (name, arguments) in calls {
        let call = ToolCall {
            id: CallId::try_new("call-1")?,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        println!("{name}({arguments})");
        match registry.check(&call) {
            Ok(checked) => println!("  fits; the loop: {:?}", after(checked.spec.category)),
            Err(error) => println!("  {error}"),
        }
    }
    Ok(())
}

fn tool(name: &str, category: ToolCategory, parameters: Value) -> Result<ToolSpec, Box<dyn Error>> {
    let description = format!("Makes the assistant {name}.");
    let spec = ToolSpec::effect(ToolName::try_new(name)?, description, parameters);
    Ok(ToolSpec { category, ..spec })
}
