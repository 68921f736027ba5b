//! Prints the number of tokens of a text, whether it is exact, and the price of sending it.
//!
//! `cargo run -p dormouse-providers --example count -- MODEL TEXT…`; the model as `provider/model` or as its name.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use dormouse_contracts::{ChatRequest, Message, ModelName, ProviderId, Usage};
use dormouse_providers::{
    Cost, Family, PriceTable, context_window, count_request, token_counter_for,
};

const DEFAULT: [&str; 4] = ["gpt-4.1-mini", "claude-sonnet-5", "llama3.2", "gpt-6.1-sol"];
const TEXT: &str =
    "The dormouse is asleep again, said the hatter, and poured a little hot tea upon its nose.";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        None => DEFAULT.iter().try_for_each(|model| show(model, TEXT)),
        Some((model, [])) => show(model, TEXT),
        Some((model, words)) => show(model, &words.join(" ")),
    }
}

/// Guesses the provider of a model name without one.
fn provider(model: &str) -> &str {
    let starts = |with: &[&str]| with.iter().any(|start| model.starts_with(start));
    match model.split_once('/') {
        Some((provider, _)) => provider,
        None if model == "offline" => "offline",
        None if starts(&["claude"]) => "anthropic",
        None if starts(&["gpt", "o1", "o3", "o4", "text-embedding"]) => "openai",
        None => "local",
    }
}

fn show(name: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let (provider, model) = (
        ProviderId::try_new(provider(name))?,
        ModelName::try_new(name)?,
    );
    let request = ChatRequest {
        messages: vec![Message::User {
            content: text.to_owned(),
        }],
        ..ChatRequest::default()
    };
    let count = count_request(&*token_counter_for(&provider, &model), &request);
    let how = if count.exact_texts {
        "counted".to_owned()
    } else {
        format!("estimated as {:?}", Family::of(&provider, &model))
    };
    println!(
        "{provider} {model}: {} tokens {how}, {} around them",
        count.texts, count.framing
    );
    if let Some(window) = context_window(&model) {
        println!("  window {window}");
    }
    let usage = Usage {
        prompt_tokens: count.total(),
        ..Usage::default()
    };
    match PriceTable::listed().cost(&provider, &model, &usage) {
        Cost::Unknown => println!("  the price of sending them is unknown"),
        cost => println!("  sending them costs {cost}"),
    }
    Ok(())
}
