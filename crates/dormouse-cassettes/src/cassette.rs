//! A list of exchanges, and where it comes from.

use dormouse_contracts::Timestamp;

use crate::{
    exchange::{Body, Exchange, RecordedResponse},
    scrub::{ScrubRules, Scrubber, Stream},
};

/// What was recorded, in the order the requests were begun.
///
/// Made by a [`Recorder`](crate::Recorder) or read from a file; answered from by a [`Player`](crate::Player).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cassette {
    /// Where it comes from.
    pub about: About,
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
    /// How many further exchanges there were, for which there was no room.
    pub left_out_exchanges: u64,
}

/// Where a cassette comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// When the recording began. A file keeps it to the second.
    pub recorded_at: Timestamp,
    /// Name and version of the program that recorded.
    pub program: String,
    /// Who answered, by the program's own word for it; empty if it does not say. Where nobody was asked over the network
    /// there are no exchanges, and this alone says who it was.
    pub service: String,
    /// What a person says about it. Scrubbed by the recorder like everything else.
    pub note: String,
}

impl Cassette {
    /// Scrubs the whole once more, by further rules: what to do about findings, and about a file from elsewhere. Headers
    /// that are never recorded are dropped. Placeholders that are there stay, and new ones go on counting behind them.
    #[must_use]
    pub fn scrubbed(self, rules: ScrubRules) -> Self {
        let mut scrubber = Scrubber::new(rules);
        scrubber.count_on(&self.to_text());
        let about = About {
            program: scrubber.text(&self.about.program),
            service: scrubber.text(&self.about.service),
            note: scrubber.text(&self.about.note),
            ..self.about
        };
        let exchanges = self.exchanges.into_iter();
        Self {
            about,
            exchanges: exchanges
                .map(|exchange| exchange_scrubbed(exchange, &mut scrubber))
                .collect(),
            ..self
        }
    }
}

fn exchange_scrubbed(mut exchange: Exchange, scrubber: &mut Scrubber) -> Exchange {
    let request = &mut exchange.request;
    request.target = scrubber.target(&request.target);
    request.host = request.host.take().map(|host| scrubber.text(&host));
    request.headers = scrubber.again(std::mem::take(&mut request.headers));
    request.body = Body::of(scrubber.bytes(&request.body.to_bytes()));
    if let Some(response) = &mut exchange.response {
        response.headers = scrubber.again(std::mem::take(&mut response.headers));
        chunks_scrubbed(response, scrubber);
    }
    exchange.reason = scrubber.text(&exchange.reason);
    exchange
}

fn chunks_scrubbed(response: &mut RecordedResponse, scrubber: &mut Scrubber) {
    let mut stream = Stream::default();
    for chunk in &response.chunks {
        stream.push(&chunk.bytes);
    }
    scrubber.stream(&mut stream);
    for (chunk, piece) in response.chunks.iter_mut().zip(stream.pieces()) {
        chunk.bytes = piece.to_vec();
    }
}
