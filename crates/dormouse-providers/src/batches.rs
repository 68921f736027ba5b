//! Splits texts into requests of an accepted size.

use dormouse_contracts::{BoxFuture, Embedding};
use dormouse_text::beginning_bytes;

use crate::http::Failure;

/// The maximum number of texts in one request.
pub(crate) const MOST_TEXTS: usize = 256;

/// The maximum size of the texts in one request, in bytes. It is below OpenAI's token limit.
const MOST_BYTES: usize = 256 * 1024;

/// The maximum size of one text, in bytes: about 2,000 tokens of English, which is more than most encoders read.
pub(crate) const LONGEST_TEXT: usize = 8 * 1024;

/// A text that is too long for a server is not halved below this size, in bytes.
const SHORTEST_CUT: usize = 64;

/// A server that embeds some texts with one request.
pub(crate) trait EmbedOnce: Sync {
    /// Returns one vector for each text, in order. No text is empty.
    fn embed_once<'a>(
        &'a self,
        texts: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, Failure>>;
}

/// Embeds all `texts`, one request after the other.
///
/// If the texts of a request are too long for the server, the request is repeated with half of the texts. A single text
/// that is too long is halved itself. So the vector of a text does not depend on its neighbours. No other request is
/// repeated.
pub(crate) async fn in_batches(
    server: &dyn EmbedOnce,
    texts: &[String],
) -> Result<Vec<Embedding>, Failure> {
    let texts: Vec<&str> = texts.iter().map(|text| fit(text)).collect();
    let mut vectors = Vec::with_capacity(texts.len());
    // The vector is a stack: the next batch is at its end.
    let mut batches: Vec<Vec<&str>> = split(&texts);
    batches.reverse();
    while let Some(batch) = batches.pop() {
        match server.embed_once(&batch).await {
            Ok(answer) => vectors.extend(answer),
            Err(failure) if failure.is_too_long() => {
                let (first, second) = smaller(&batch).ok_or(failure)?;
                batches.extend(second);
                batches.push(first);
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(vectors)
}

/// Returns the part of a text to send. An empty text becomes a space, since servers reject empty ones.
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

/// Returns a smaller batch and the rest for later; `None` if the batch cannot be smaller.
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
