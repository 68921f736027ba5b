//! A list of exchanges, with its origin.

use dormouse_contracts::Timestamp;

use crate::{
    exchange::{Body, Exchange, RecordedResponse},
    scrub::{ScrubRules, Scrubber, Stream},
};

/// Recorded exchanges, in the order of their requests.
///
/// Created by a [`Recorder`](crate::Recorder) or read from a file; replayed by a [`Player`](crate::Player).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cassette {
    /// The origin.
    pub about: About,
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
    /// The number of exchanges that were left out because they did not fit.
    pub left_out_exchanges: u64,
}

/// The origin of a cassette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// When the recording started. The file contains it in whole seconds.
    pub recorded_at: Timestamp,
    /// Name and version of the program that recorded.
    pub program: String,
    /// The service, as the program names it; empty if unknown. If the program contacted no server, the cassette has no
    /// exchanges, and only this field names the service.
    pub service: String,
    /// A user's note. The recorder scrubs it like everything else.
    pub note: String,
}

impl Cassette {
    /// Scrubs the whole cassette again, with more rules. Use it after findings, or for a file from another source.
    /// Headers that must not be recorded are dropped. Existing placeholders stay, and new ones get the next numbers.
    #[must_use]
    pub fn scrubbed(self, rules: ScrubRules) -> Self {
        let mut scrubber = Scrubber::new(rules);
        scrubber.reserve_numbers(&self.to_text());
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
