use std::sync::Mutex;

use futures_util::FutureExt;
use proptest::prelude::*;

use dormouse_contracts::ModelErrorKind;

use super::*;
use crate::http::{ErrorBody, Redact, RequestSize};

/// A server that rejects texts with more bytes than `limit`. Each vector contains two numbers: the text's length and its
/// first byte.
struct Server {
    limit: usize,
    requests: Mutex<Vec<Vec<usize>>>,
}

impl Server {
    fn reading(limit: usize) -> Self {
        Self {
            limit,
            requests: Mutex::default(),
        }
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>, Failure> {
        in_batches(self, texts).now_or_never().unwrap()
    }
}

impl EmbedOnce for Server {
    fn embed_once<'a>(
        &'a self,
        texts: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Vec<Embedding>, Failure>> {
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        self.requests.lock().unwrap().push(lengths);
        let answer = if texts.iter().any(|text| text.len() > self.limit) {
            Err(Failure::Status {
                status: 413,
                pause: None,
                request_id: None,
                sent: RequestSize::Long,
                error_body: ErrorBody::of("too long", &Redact::default()),
            })
        } else {
            let vector = |text: &&str| vec![text.len() as f32, f32::from(text.as_bytes()[0])];
            Ok(texts.iter().map(vector).collect())
        };
        Box::pin(std::future::ready(answer))
    }
}

fn texts(lengths: &[usize]) -> Vec<String> {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    let text = |(n, length): (usize, &usize)| letter(n).to_string().repeat(*length);
    lengths.iter().enumerate().map(text).collect()
}

#[test]
fn requests_have_at_most_256_texts_and_256_kib() {
    let server = Server::reading(usize::MAX);
    server.embed(&texts(&[1; 600])).unwrap();
    server.embed(&texts(&[100_000; 40])).unwrap();
    let requests = server.requests.lock().unwrap();
    let counts: Vec<usize> = requests.iter().map(Vec::len).collect();
    assert_eq!(counts, [256, 256, 88, 32, 8]);
    assert!(
        requests
            .iter()
            .all(|request| request.iter().sum::<usize>() <= MOST_BYTES)
    );
}

#[test]
fn no_texts_need_no_request_and_an_empty_text_is_sent_as_a_space() {
    let server = Server::reading(10);
    assert_eq!(server.embed(&[]).unwrap(), Vec::<Embedding>::new());
    assert!(server.requests.lock().unwrap().is_empty());
    assert_eq!(server.embed(&[String::new()]).unwrap(), [[1.0, 32.0]]);
}

#[test]
fn a_text_that_cannot_be_made_short_enough_is_an_error_after_few_requests() {
    let server = Server::reading(3);
    let error = server.embed(&texts(&[1_000_000])).unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::ContextExceeded);
    assert_eq!(server.requests.lock().unwrap().len(), 8);
}

#[test]
fn a_request_never_contains_half_a_character() {
    let text = "水".repeat(LONGEST_TEXT);
    assert_eq!(beginning_bytes(&text, LONGEST_TEXT).len(), LONGEST_TEXT - 2);
    assert_eq!(beginning_bytes("é", 1), "");
    let server = Server::reading(100);
    assert!(server.embed(&[text]).is_ok());
}

proptest! {
    #[test]
    fn a_vector_never_depends_on_the_other_texts_of_its_batch(
        lengths in prop::collection::vec(0usize..20_000, 0..40), limit in 64usize..10_000,
    ) {
        let texts = texts(&lengths);
        let together = Server::reading(limit).embed(&texts).unwrap();
        prop_assert_eq!(together.len(), texts.len());
        for (text, vector) in texts.iter().zip(together) {
            let alone = Server::reading(limit).embed(std::slice::from_ref(text)).unwrap();
            prop_assert_eq!(&alone, &[vector]);
        }
    }
}
