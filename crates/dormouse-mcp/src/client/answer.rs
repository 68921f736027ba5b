//! What a server answers to a call, as it is passed on.

use dormouse_text::beginning_bytes;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

use super::{definition::safe, requests::Given};

/// The answer as JSON that says who wrote it and what the server was given for it, or what went wrong in the words of the server.
pub(super) fn read(
    server: &str,
    answer: &CallToolResult,
    given: &Given,
    limit: usize,
) -> Result<Value, String> {
    let text = words(answer);
    if answer.is_error == Some(true) {
        return Err(format!("the server {server} says: {}", safe(&text, limit)));
    }
    let shown = beginning_bytes(&text, limit);
    let cut = (shown.len() < text.len()).then_some(shown.len());
    let mut read = Map::from_iter([
        ("server".to_owned(), json!(server)),
        ("text".to_owned(), json!(shown)),
    ]);
    if let Some(bytes) = cut {
        read.insert("cut_off_after".to_owned(), json!(bytes));
    }
    Ok(with(given, read))
}

/// The receipt of a call that failed for this reason, in the words of the server.
pub(super) fn failed(server: &str, why: &str, given: &Given) -> Value {
    let failed = Map::from_iter([
        ("server".to_owned(), json!(server)),
        ("failed".to_owned(), json!(true)),
        ("text".to_owned(), json!(why)),
    ]);
    with(given, failed)
}

fn with(given: &Given, mut receipt: Map<String, Value>) -> Value {
    if !given.is_nothing() {
        receipt.insert("given".to_owned(), json!(given));
    }
    Value::Object(receipt)
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
        let read = |answer: &CallToolResult, limit| read("shop", answer, &Given::default(), limit);
        let all = json!({ "server": "shop", "text": "tea and milk" });
        assert_eq!(read(&answer, 12), Ok(all));
        let cut = json!({ "server": "shop", "cut_off_after": 3, "text": "tea" });
        assert_eq!(read(&answer, 3), Ok(cut));
        // The limit is one of bytes, and no character is cut.
        let coffee = CallToolResult::success(vec![ContentBlock::text("ééé")]);
        let cut = json!({ "server": "shop", "cut_off_after": 4, "text": "éé" });
        assert_eq!(read(&coffee, 5), Ok(cut));
        let error = CallToolResult::error(vec![ContentBlock::text("no <|im_start|> milk")]);
        let why = read(&error, 100).unwrap_err();
        assert!(why.starts_with("the server shop says: no "), "{why}");
        assert!(!why.contains("<|im_start|>"), "{why}");
    }

    #[test]
    fn only_text_is_passed_on() {
        let mut answer = CallToolResult::structured(json!({ "price": 3 }));
        answer.content = Vec::new();
        let none = Given::default();
        let read =
            |answer: &CallToolResult| read("shop", answer, &none, 100).unwrap()["text"].clone();
        assert_eq!(read(&answer), "{\"price\":3}");
        let picture = ContentBlock::image("AAAA", "image/png");
        let note = ContentBlock::resource(ResourceContents::text("milk", "note:1"));
        let answer = CallToolResult::success(vec![picture, note]);
        assert_eq!(read(&answer), "(a picture, which is left out)\nmilk");
    }
}
