//! Many texts, in requests of a size that servers take.

use dormouse_contracts::{BoxFuture, Embedding};
use dormouse_text::beginning_bytes;

use crate::http::Failure;

/// The most texts of one request.
pub(crate) const MOST_TEXTS: usize = 256;

/// The most bytes of text of one request, unless a single text is longer; fewer tokens than OpenAI takes at once.
const MOST_BYTES: usize = 256 * 1024;

/// What is sent of a text, in bytes. Some 2,000 tokens of English: more than most encoders read.
pub(crate) const LONGEST_TEXT: usize = 8 * 1024;

/// A text that a server finds too long is not made shorter than this, in bytes.
const SHORTEST_CUT: usize = 64;

/// A server that embeds some texts with one request.
pub(crate) trait EmbedOnce: Sync {
    /// One vector for each text, in order. No text is empty.
    fn embed_once<'a>(
        &'a self,
        texts: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, Failure>>;
}

/// Embeds all `texts`, one request after the other.
///
/// A request whose texts are too long for the server is made again with half of them, and in the end with half of the
/// one text, so that what becomes of a text does not depend on those beside it. No other request is made again.
pub(crate) async fn in_batches(
    server: &dyn EmbedOnce,
    texts: &[String],
) -> Result<Vec<Embedding>, Failure> {
    let texts: Vec<&str> = texts.iter().map(|text| fit(text)).collect();
    let mut vectors = Vec::with_capacity(texts.len());
    // The batch that is next stands last.
    let mut batches: Vec<Vec<&str>> = split(&texts);
    batches.reverse();
    while let Some(batch) = batches.pop() {
        match server.embed_once(&batch).await {
            Ok(answer) => vectors.extend(answer),
            Err(failure) if failure.asks_for_less() => {
                let (first, second) = smaller(&batch).ok_or(failure)?;
                batches.extend(second);
                batches.push(first);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(vectors)
}

/// What is sent of a text. Servers refuse one without anything in it, so that it becomes a space.
fn fit(text: &str) -> &str {
    if text.is_empty() {
        " "
    } else {
        beginning_bytes(text, LONGEST_TEXT)
    }
}

fn split<'a>(texts: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut batches: Vec<Vec<&str>> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        bytes += text.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < MOST_TEXTS && bytes <= MOST_BYTES => batch.push(text),
            _ => {
                batches.push(vec![text]);
                bytes = text.len();
            }
        }
    }
    batches
}

/// What to ask for instead, and what is left for later; nothing if it cannot be made smaller.
fn smaller<'a>(batch: &[&'a str]) -> Option<(Vec<&'a str>, Option<Vec<&'a str>>)> {
    match batch {
        [] => None,
        [text] if text.len() <= SHORTEST_CUT => None,
        [text] => Some((vec![beginning_bytes(text, text.len() / 2)], None)),
        several => {
            let (first, second) = several.split_at(several.len() / 2);
            Some((first.to_vec(), Some(second.to_vec())))
        }
    }
}

#[cfg(test)]
mod tests;
