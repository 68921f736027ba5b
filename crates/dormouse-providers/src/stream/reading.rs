//! A reply that is being read.

use std::time::Duration;

use dormouse_contracts::{BoxStream, ChatDelta};
use futures_util::StreamExt;
use tokio::time::Instant;

use super::{
    draft::Draft,
    events::{Event, Events, Framing},
    lines::{LINE_LIMIT, Lines, at_most},
};
use crate::http::{Complaint, Failure, Redact};

/// How long is waited for what comes after a finished reply, such as its usage: in all, however often the server gives signs of life.
const GRACE: Duration = Duration::from_secs(5);

/// Reads what one vendor's events say into a [`Draft`].
pub(crate) trait Decoder: Send {
    /// Takes the next event.
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure>;

    /// Takes all of a reply at once, from a server that does not stream. Where streams are lines of JSON it is one of them.
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

/// The failure of a body that is JSON, and no reply.
pub(crate) fn no_reply(body: &[u8], draft: &Draft) -> Failure {
    Failure::NoStream {
        content_type: "JSON".to_owned(),
        complaint: Complaint::read(body, draft.redact()),
    }
}

/// A body as it comes.
type Pieces = BoxStream<'static, Result<bytes::Bytes, Failure>>;

/// A reply that is being read from an answer's body.
pub(crate) struct Reading<D> {
    pieces: Pieces,
    lines: Lines,
    events: Events,
    /// The body so far, where it is one reply in JSON instead of a stream.
    whole: Option<Vec<u8>>,
    decoder: D,
    draft: Draft,
    failure: Option<Failure>,
    /// Until when is waited, once the reply is finished.
    until: Option<Instant>,
    over: bool,
}

impl<D: Decoder> Reading<D> {
    /// Reads a body.
    pub(crate) fn new(
        pieces: Pieces,
        framing: Framing,
        decoder: D,
        draft: Draft,
        redact: Redact,
    ) -> Self {
        Self {
            pieces,
            lines: Lines::new(framing, redact),
            events: Events::new(framing),
            whole: None,
            decoder,
            draft,
            failure: None,
            until: None,
            over: false,
        }
    }

    /// The next piece of the reply. A finished reply is whole, whatever becomes of the connection afterwards.
    pub(crate) async fn next(&mut self) -> Option<Result<ChatDelta, Failure>> {
        loop {
            if let Some(delta) = self.draft.next() {
                return Some(Ok(delta));
            }
            if let Some(failure) = self.failure.take() {
                self.over = true;
                if !self.draft.is_finished() {
                    return Some(Err(failure));
                }
                self.draft.end();
                continue;
            }
            if self.over {
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
        let Self {
            lines,
            events,
            decoder,
            draft,
            ..
        } = self;
        lines.take(piece, |line| {
            events.take(line, |event| unless_closed(decoder, draft, event))
        })
    }

    /// The connection has ended. A last event that cannot be read was cut off.
    fn end(&mut self) -> Result<(), Failure> {
        self.over = true;
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
        let Self {
            lines,
            events,
            decoder,
            draft,
            ..
        } = self;
        lines.end(|line| events.take(line, |event| unless_closed(decoder, draft, event)))?;
        events.end(|event| unless_closed(decoder, draft, event))
    }
}

/// What comes behind the end that the server itself has told is not looked at.
fn unless_closed(
    decoder: &mut impl Decoder,
    draft: &mut Draft,
    event: Event<'_>,
) -> Result<(), Failure> {
    if draft.is_closed() {
        return Ok(());
    }
    decoder.take(event, draft)
}
