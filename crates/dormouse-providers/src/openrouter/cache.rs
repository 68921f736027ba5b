//! What a provider behind OpenRouter is told to keep in its cache.

use serde_json::{Value, json};

/// Whose models cache nothing unless told. Others cache by themselves, and take no notice.
const ON_DEMAND: [&str; 4] = [
    "anthropic/",
    "google/gemini",
    "~anthropic/",
    "~google/gemini",
];

/// Marks the last of the first `stable` messages, so that everything up to it is kept. `messages` are in the words of chat
/// completions.
pub(super) fn mark(messages: &mut Value, stable: usize, model: &str) {
    let is_on_demand = ON_DEMAND.iter().any(|begin| model.starts_with(begin));
    let messages = messages.as_array_mut().filter(|_| is_on_demand);
    let stable = messages.into_iter().flatten().take(stable);
    // What only calls tools has no content that could carry a mark.
    let texts = stable.filter_map(text);
    if let Some(content) = texts.last() {
        let text = content.take();
        *content = json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    }
}

fn text(message: &mut Value) -> Option<&mut Value> {
    let content = message.get_mut("content")?;
    content
        .as_str()
        .is_some_and(|text| !text.is_empty())
        .then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(stable: usize, model: &str) -> Value {
        let mut messages = json!([
            {"role": "system", "content": "s"}, {"role": "assistant", "tool_calls": []}, {"role": "user", "content": "u"},
        ]);
        mark(&mut messages, stable, model);
        messages
    }

    #[test]
    fn the_last_stable_message_with_a_text_is_marked() {
        let with_mark =
            |text| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
        for stable in [1, 2] {
            let messages = marked(stable, "anthropic/claude-sonnet-4.5");
            assert_eq!(messages[0]["content"], with_mark("s"));
            assert_eq!(messages[2]["content"], "u");
        }
        for stable in [3, usize::MAX] {
            let messages = marked(stable, "google/gemini-2.5-pro");
            assert_eq!(messages[0]["content"], "s");
            assert_eq!(messages[2]["content"], with_mark("u"));
        }
    }

    #[test]
    fn nothing_is_marked_where_nothing_is_stable_or_no_mark_is_wanted() {
        let unmarked = marked(0, "anthropic/claude-sonnet-4.5");
        assert_eq!(unmarked[0]["content"], "s");
        assert_eq!(marked(3, "openai/gpt-5"), unmarked);
    }
}
