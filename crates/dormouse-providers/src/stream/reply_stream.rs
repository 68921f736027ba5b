//! Reads a reply from the body of an answer.

use std::time::Duration;

use dormouse_contracts::{BoxStream, ChatDelta};
use futures_util::StreamExt;
use tokio::time::Instant;

use super::{
    draft::Draft,
    events::{Event, Events},
    framing::Framing,
    lines::{LINE_LIMIT, Lines, at_most},
};
use crate::http::{ErrorBody, Failure, Redact};

/// How long to wait in total for data after the finish, such as the usage. Keep-alives do not extend this time.
const GRACE: Duration = Duration::from_secs(5);

/// Decodes one vendor's events into a [`Draft`].
pub(crate) trait Decoder: Send {
    /// How the stream is split into events.
    const FRAMING: Framing = Framing::ServerSentEvents;

    /// Decodes the next event.
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure>;

    /// Decodes a whole reply, from a server that does not stream. If the framing is JSON lines, this is a single line.
    fn whole(&mut self, body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        self.take(
            Event {
                name: "",
                data: body,
            },
            draft,
        )
    }
}

/// The failure of a JSON body that is not a reply.
pub(crate) fn no_reply(body: &[u8], draft: &Draft) -> Failure {
    Failure::NoStream {
        content_type: "JSON".to_owned(),
        error_body: ErrorBody::read(body, draft.redact()),
    }
}

/// A body in pieces.
type Pieces = BoxStream<'static, Result<bytes::Bytes, Failure>>;

/// A reply that is being read.
pub(crate) struct ReplyStream<D> {
    pieces: Pieces,
    lines: Lines,
    events: Events,
    /// The body so far, if it is a whole reply in JSON instead of a stream.
    whole: Option<Vec<u8>>,
    decoder: D,
    draft: Draft,
    failure: Option<Failure>,
    /// When to stop waiting for data after the finish.
    until: Option<Instant>,
    done: bool,
}

impl<D: Decoder> ReplyStream<D> {
    /// Starts to read a body.
    pub(crate) fn new(pieces: Pieces, decoder: D, draft: Draft, redact: Redact) -> Self {
        Self {
            pieces,
            lines: Lines::new(D::FRAMING, redact),
            events: Events::new(D::FRAMING),
            whole: None,
            decoder,
            draft,
            failure: None,
            until: None,
            done: false,
        }
    }

    /// Returns the next delta. A finished reply stays complete if the connection fails afterwards.
    pub(crate) async fn next(&mut self) -> Option<Result<ChatDelta, Failure>> {
        loop {
            if let Some(delta) = self.draft.next() {
                return Some(Ok(delta));
            }
            if let Some(failure) = self.failure.take() {
                self.done = true;
                if !self.draft.is_finished() {
                    return Some(Err(failure));
                }
                self.draft.end();
                continue;
            }
            if self.done {
                return None;
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let piece = if self.draft.is_closed() {
            Ok(None)
        } else if self.draft.is_finished() {
            let until = *self.until.get_or_insert_with(|| Instant::now() + GRACE);
            tokio::time::timeout_at(until, self.pieces.next()).await
        } else {
            Ok(self.pieces.next().await)
        };
        self.failure = match piece {
            Ok(Some(Ok(piece))) => self.take(&piece).err(),
            Ok(Some(Err(failure))) => Some(failure),
            Ok(None) | Err(_) => self.end().err(),
        };
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), Failure> {
        if self.lines.is_json_instead(piece) {
            self.whole = Some(Vec::new());
        }
        if let Some(whole) = &mut self.whole {
            whole.extend_from_slice(piece);
            return at_most(whole.len(), LINE_LIMIT, "bytes at once");
        }
        let (lines, events, mut decode) = self.parts();
        lines.take(piece, |line| events.take(line, &mut decode))
    }

    /// Handles the end of the connection. If the last event is unreadable, the reply counts as cut off.
    fn end(&mut self) -> Result<(), Failure> {
        self.done = true;
        if let Some(whole) = self.whole.take() {
            self.decoder.whole(&whole, &mut self.draft)?;
            self.draft.end();
            return Ok(());
        }
        let cut_off = self.last_event().is_err();
        if cut_off || !self.draft.is_finished() {
            return Err(Failure::CutOff(None));
        }
        self.draft.end();
        Ok(())
    }

    fn last_event(&mut self) -> Result<(), Failure> {
        let (lines, events, mut decode) = self.parts();
        lines.end(|line| events.take(line, &mut decode))?;
        events.end(decode)
    }

    /// Borrows the framing and the decoder at once. Events after the end that the server announced are ignored.
    fn parts(
        &mut self,
    ) -> (
        &mut Lines,
        &mut Events,
        impl FnMut(Event<'_>) -> Result<(), Failure>,
    ) {
        let (decoder, draft) = (&mut self.decoder, &mut self.draft);
        let decode = move |event: Event<'_>| match draft.is_closed() {
            true => Ok(()),
            false => decoder.take(event, draft),
        };
        (&mut self.lines, &mut self.events, decode)
    }
}
