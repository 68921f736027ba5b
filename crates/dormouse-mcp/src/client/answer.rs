//! What a server answers to a call, as it is passed on.

use dormouse_text::beginning;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::definition::safe;

/// The answer as JSON that says who wrote it, or what went wrong in the words of the server.
pub(super) fn read(server: &str, answer: &CallToolResult, limit: usize) -> Result<Value, String> {
    let text = words(answer);
    if answer.is_error == Some(true) {
        return Err(format!("the server {server} says: {}", safe(&text, limit)));
    }
    let shown = beginning(&text, limit);
    let cut = (shown.len() < text.len()).then_some(shown.len());
    Ok(match cut {
        None => json!({ "server": server, "text": shown }),
        Some(bytes) => json!({ "server": server, "cut_off_after": bytes, "text": shown }),
    })
}

/// The texts of an answer; its structured form if it has no text. Pictures and sounds are left out.
fn words(answer: &CallToolResult) -> String {
    let parts: Vec<String> = answer.content.iter().map(part).collect();
    match &answer.structured_content {
        Some(value) if parts.is_empty() => value.to_string(),
        _ => parts.join("\n"),
    }
}

fn part(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(_) => "(a picture, which is left out)".to_owned(),
        ContentBlock::Audio(_) => "(a sound, which is left out)".to_owned(),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            _ => "(a file, which is left out)".to_owned(),
        },
        ContentBlock::ResourceLink(link) => {
            format!("(a link, which is not followed: {})", link.uri)
        }
        _ => "(something else, which is left out)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_cut_and_says_who_wrote_it() {
        let answer = CallToolResult::success(vec![ContentBlock::text("tea and milk")]);
        let all = json!({ "server": "shop", "text": "tea and milk" });
        assert_eq!(read("shop", &answer, 12), Ok(all));
        let cut = json!({ "server": "shop", "cut_off_after": 3, "text": "tea" });
        assert_eq!(read("shop", &answer, 3), Ok(cut));
        let error = CallToolResult::error(vec![ContentBlock::text("no <|im_start|> milk")]);
        let why = read("shop", &error, 100).unwrap_err();
        assert!(why.starts_with("the server shop says: no "), "{why}");
        assert!(!why.contains("<|im_start|>"), "{why}");
    }

    #[test]
    fn only_text_is_passed_on() {
        let mut answer = CallToolResult::structured(json!({ "price": 3 }));
        answer.content = Vec::new();
        let read = |answer: &CallToolResult| read("shop", answer, 100).unwrap()["text"].clone();
        assert_eq!(read(&answer), "{\"price\":3}");
        let picture = ContentBlock::image("AAAA", "image/png");
        let note = ContentBlock::resource(ResourceContents::text("milk", "note:1"));
        let answer = CallToolResult::success(vec![picture, note]);
        assert_eq!(read(&answer), "(a picture, which is left out)\nmilk");
    }
}
