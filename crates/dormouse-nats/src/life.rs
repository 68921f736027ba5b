//! What one connection knows of one assistant's log, and how it appends to it.

use dormouse_contracts::{
    AppendError, AppendErrorKind, AppendRequest, AssistantId, NewEvent, Seq, StoredEvent,
};
use dormouse_text::error_chain;
use tokio::time::{Instant, sleep};

use crate::{
    api::{ApiError, HEADER_BYTES, StreamMessage, StreamRequests},
    chain::{ChainBreak, Link},
    fault::{Fault, NatsFault},
    frame::{self, Frame, Hash, Header, Sealed},
    log::Core,
    outcome::{Found, Outcome, Step, after_publish, judge, pause},
    walk::decode,
};

/// What is known of one assistant's log.
#[derive(Debug, Default)]
pub(crate) struct Life {
    /// Where it ended when this connection last looked; `None` before the first look.
    pub(crate) end: Option<Link>,
    /// Where the last reader stopped, so that the next page need not be searched for.
    pub(crate) cursor: Option<Link>,
    /// The epoch in which this connection owns the assistant, once it has claimed it or written.
    pub(crate) owned: Option<u64>,
    /// The epoch of the owner who has replaced this one.
    pub(crate) fenced_by: Option<u64>,
    /// Nothing is appended to a log that is not what its owners wrote.
    pub(crate) broken: Option<ChainBreak>,
    unfinished: Option<Unfinished>,
}

/// A request that was given up before all of it was known to be stored. The same request, also with more events at its end,
/// goes on from there.
#[derive(Debug)]
struct Unfinished {
    expected: Seq,
    /// Its events that are stored or may be.
    events: Vec<NewEvent>,
    /// How many of them are stored, from the first one.
    stored: usize,
    /// The message of the others.
    hash: Hash,
}

impl Unfinished {
    /// Whether the request is the same one, or has more events at its end.
    fn begins(&self, request: &AppendRequest) -> bool {
        self.expected == request.expected && request.events.starts_with(&self.events)
    }
}

/// How many answers must say that a log was shortened. An old leader gives such answers until it has noticed that there is a new
/// one, and a process that was stopped for longer than its patience may have asked just one.
pub(crate) const SURE: u32 = 16;

impl Life {
    /// Moves the end of the log to a message that follows from it.
    pub(crate) fn advance(&mut self, link: Link, writer: &frame::WriterId) {
        if let Some(unfinished) = self.unfinished.as_mut()
            && unfinished.hash == link.hash
        {
            unfinished.stored = unfinished.events.len();
        }
        if link.writer == *writer {
            self.owned = Some(link.epoch);
            self.fenced_by = None;
        } else if self.owned.is_some_and(|ours| ours <= link.epoch) {
            self.fenced_by = Some(link.epoch);
        }
        self.end = Some(link);
    }

    /// Begins a new epoch with the next message. Returns it, and the event after which it begins.
    pub(crate) fn claim(&mut self) -> (u64, Seq) {
        let end = self.end.clone().unwrap_or_default();
        let epoch = end.epoch.saturating_add(1);
        self.owned = Some(epoch);
        self.fenced_by = None;
        (epoch, end.last)
    }

    /// Who has replaced this owner, if somebody has.
    fn fenced(&self) -> Option<NatsFault> {
        let (ours, theirs) = self.owned.zip(self.fenced_by)?;
        Some(NatsFault::Fenced { ours, theirs })
    }

    /// How many of a request's events an earlier attempt has stored, and how many it has sent.
    fn earlier(&mut self, request: &AppendRequest) -> (usize, usize) {
        match self.unfinished.take() {
            Some(it) if it.begins(request) => (it.stored, it.events.len()),
            _ => (0, 0),
        }
    }

    /// Whether an earlier attempt may have stored events of this request.
    fn may_hold(&self, request: &AppendRequest) -> bool {
        self.unfinished
            .as_ref()
            .is_some_and(|it| it.begins(request))
    }
}

impl<S: StreamRequests> Core<S> {
    /// Appends a request's events, all or none.
    pub(crate) async fn append(&self, request: AppendRequest) -> Result<Seq, AppendError> {
        if !request.events.iter().all(frame::is_acceptable) {
            return Err(AppendError::new(AppendErrorKind::Unacceptable, None));
        }
        let life = self.life(&request.assistant);
        let mut life = life.lock().await;
        self.append_to(&mut life, &request).await
    }

    async fn append_to(
        &self,
        life: &mut Life,
        request: &AppendRequest,
    ) -> Result<Seq, AppendError> {
        if let Some(broken) = life.broken {
            return Err(Fault::Broken(broken).into_append_error());
        }
        let is_known = life.unfinished.is_none()
            && life
                .end
                .as_ref()
                .is_some_and(|end| end.last == request.expected);
        if !is_known {
            let caught_up = self.catch_up(&request.assistant, life).await;
            caught_up.map_err(|fault| match fault {
                // What was sent earlier may be stored.
                Fault::Api(error) if life.may_hold(request) => unknown(error_chain(&error)),
                fault => fault.into_append_error(),
            })?;
        }
        let (stored, sent) = life.earlier(request);
        let end = life.end.as_ref().map_or(Seq::ZERO, |end| end.last);
        if request.expected.plus(stored as u64) != end {
            return Err(self.lost(life, request.expected, end));
        }
        // What was sent before is sent again as it was, so that the server knows it by its id.
        let mut stored = stored;
        for until in [sent, request.events.len()] {
            let part = request.events.get(stored..until).unwrap_or_default();
            if part.is_empty() {
                continue;
            }
            if let Err((error, outcome)) = self.write(life, &request.assistant, part).await {
                let sent = match outcome {
                    Outcome::Unknown(hash) => Some((until, hash)),
                    Outcome::NotStored => (stored > 0).then_some((stored, Hash::default())),
                };
                life.unfinished = sent.map(|(sent, hash)| Unfinished {
                    expected: request.expected,
                    events: request.events.iter().take(sent).cloned().collect(),
                    stored,
                    hash,
                });
                // A part of it is stored, so it cannot be said that nothing is.
                let is_part = life.unfinished.is_some();
                return Err(match error.kind() {
                    AppendErrorKind::Storage if is_part => unknown(error_chain(&error)),
                    _ => error,
                });
            }
            stored = until;
        }
        Ok(request.expected.plus(request.events.len() as u64))
    }

    /// Writes events as one message at the end of the log as it is known.
    async fn write(
        &self,
        life: &mut Life,
        assistant: &AssistantId,
        events: &[NewEvent],
    ) -> Result<(), (AppendError, Outcome)> {
        if let Some(fenced) = life.fenced() {
            let error = AppendError::new(AppendErrorKind::Closed, Some(fenced.into()));
            return Err((error, Outcome::NotStored));
        }
        let end = life.end.clone().unwrap_or_default();
        let header = Header {
            first: end.last.next(),
            // A writer who has not claimed the assistant begins an epoch with its first message.
            epoch: life.owned.unwrap_or(end.epoch.saturating_add(1)),
            writer: self.writer,
            previous: end.stream_seq,
            previous_hash: end.hash,
        };
        let sealed = frame::seal(assistant, &header, events);
        let limit = self.max_message_bytes();
        if sealed.bytes.len() > limit {
            return Err((too_large(sealed.bytes.len(), limit), Outcome::NotStored));
        }
        let stream_seq = self.publish(life, assistant, (&end, &sealed)).await?;
        let link = Link {
            last: end.last.plus(events.len() as u64),
            stream_seq,
            hash: sealed.hash,
            epoch: header.epoch,
            writer: self.writer,
        };
        life.advance(link, &self.writer);
        Ok(())
    }

    /// Publishes a message until it is stored or refused for good, or the patience has ended. Returns its stream sequence.
    async fn publish(
        &self,
        life: &mut Life,
        assistant: &AssistantId,
        (end, sealed): (&Link, &Sealed),
    ) -> Result<u64, (AppendError, Outcome)> {
        let subject = self.subject(assistant);
        let deadline = Instant::now() + self.patience;
        let (mut outcome, mut why) = (Outcome::NotStored, String::new());
        // Where the log ended according to the last answers, and how many of them in a row said that it was shortened.
        let (mut ended_at, mut behind) = (Seq::ZERO, 0);
        for attempt in 1.. {
            let answer = self.api.publish(&subject, sealed, end.stream_seq).await;
            let step = after_publish(&answer, &sealed.hash);
            why = answer.map_or_else(|error| error_chain(&error), |_| why);
            match step {
                Step::Done { stream_seq } => return Ok(stream_seq),
                Step::TooLarge => {
                    let error = too_large(sealed.bytes.len(), self.max_message_bytes());
                    return Err((error, Outcome::NotStored));
                }
                Step::Again(Outcome::NotStored) => {}
                Step::Again(unknown) => outcome = unknown,
                Step::Look => match self.look(assistant, end, &sealed.hash).await {
                    Ok((Found::Mine { stream_seq }, _)) => return Ok(stream_seq),
                    Ok((Found::Others, _)) => {
                        let caught_up = self.catch_up(assistant, life).await;
                        let actual = life.end.as_ref().map_or(Seq::ZERO, |end| end.last);
                        let error = match caught_up {
                            Ok(()) => self.lost(life, end.last, actual),
                            Err(fault) => fault.into_append_error(),
                        };
                        return Err((error, Outcome::NotStored));
                    }
                    Ok((Found::Behind, last)) => {
                        behind += 1;
                        ended_at = last;
                    }
                    Ok((Found::Nothing, _)) => behind = 0,
                    // It is looked up after the next attempt.
                    Err(_) => {}
                },
            }
            if Instant::now() >= deadline && (behind == 0 || behind >= SURE) {
                break;
            }
            sleep(pause(attempt)).await;
        }
        if behind > 0 {
            let (known, found) = (end.last, ended_at);
            let broken = self.break_life(assistant, life, ChainBreak::Shortened { known, found });
            return Err((Fault::Broken(broken).into_append_error(), outcome));
        }
        let error = match outcome {
            Outcome::NotStored => {
                let fault = NatsFault::Unavailable(why);
                AppendError::new(AppendErrorKind::Storage, Some(fault.into()))
            }
            Outcome::Unknown(_) => unknown(why),
        };
        Err((error, outcome))
    }

    /// The conflict of a writer who was not the first. An owner learns who has replaced it.
    fn lost(&self, life: &Life, expected: Seq, actual: Seq) -> AppendError {
        let kind = AppendErrorKind::Conflict { expected, actual };
        AppendError::new(kind, life.fenced().map(Into::into))
    }

    /// What is where a message should go, and the last event of the log.
    async fn look(
        &self,
        assistant: &AssistantId,
        known: &Link,
        mine: &Hash,
    ) -> Result<(Found, Seq), ApiError> {
        let subject = self.subject(assistant);
        let after = known.stream_seq.saturating_add(1);
        let first = self.api.next(&subject, after).await?;
        let last = self.api.last(&subject).await?;
        let hash = |message: &StreamMessage| {
            let frame = frame::unseal(assistant, &message.payload);
            (message.seq, frame.ok().map(|frame| frame.hash))
        };
        let last_event = last.as_ref().map_or(Seq::ZERO, |m| end_of(assistant, m));
        let found = judge(
            known,
            mine,
            first.as_ref().map(hash),
            last.map(|message| message.seq),
        );
        Ok((found, last_event))
    }

    /// Learns where the log ends, from the stream's leader, and verifies everything that is new.
    pub(crate) async fn catch_up(
        &self,
        assistant: &AssistantId,
        life: &mut Life,
    ) -> Result<(), Fault> {
        let deadline = Instant::now() + self.patience;
        let mut behind = 0;
        for attempt in 1.. {
            let error = match self.try_catch_up(assistant, life).await {
                Ok(None) => return Ok(()),
                // An old leader answers until it has noticed that there is a new one.
                Ok(Some(shortened)) => {
                    behind += 1;
                    Fault::Broken(shortened)
                }
                Err(Fault::Api(error)) if error.is_transient() => Fault::Api(error),
                Err(Fault::Broken(broken)) => {
                    return Err(self.break_life(assistant, life, broken).into());
                }
                Err(error) => return Err(error),
            };
            if Instant::now() >= deadline {
                match error {
                    Fault::Broken(broken) if behind >= SURE => {
                        return Err(self.break_life(assistant, life, broken).into());
                    }
                    // A process that was stopped meanwhile has asked only once or twice.
                    Fault::Broken(_) => {}
                    Fault::Api(_) => return Err(error),
                }
            }
            sleep(pause(attempt)).await;
        }
        Ok(())
    }

    /// One attempt. Returns how the log was shortened, if it ends before what is known.
    async fn try_catch_up(
        &self,
        assistant: &AssistantId,
        life: &mut Life,
    ) -> Result<Option<ChainBreak>, Fault> {
        let last = match self.api.last(&self.subject(assistant)).await {
            // The stream was there when this connection was made.
            Err(error) if error.is_no_stream() && life.end.is_some() => None,
            other => other?,
        };
        let (known, is_first_look) = match &life.end {
            Some(end) => (end.clone(), false),
            None => (Link::default(), true),
        };
        let Some(last) = last else {
            life.end.get_or_insert_default();
            return Ok(shortened(&known, Seq::ZERO));
        };
        if last.seq < known.stream_seq {
            return Ok(shortened(&known, end_of(assistant, &last)));
        }
        if is_first_look || last.seq == known.stream_seq {
            let decoded = decode(assistant, &known, &last);
            let link = decoded.map(|frame| Link::of(last.seq, &frame));
            match link {
                Ok(link) if is_first_look || link == known => {
                    life.advance(link, &self.writer);
                    return Ok(None);
                }
                // From the start, to find out which events are intact.
                Err(_) if is_first_look => {}
                _ => {
                    let (at, stream_seq) = (known.last, last.seq);
                    return Err(ChainBreak::OtherPast { at, stream_seq }.into());
                }
            }
        }
        let writer = self.writer;
        self.walk(assistant, known, last.seq, |_, link, _| {
            life.advance(link.clone(), &writer);
            true
        })
        .await?;
        Ok(None)
    }

    /// Remembers that a log is broken, and says so.
    pub(crate) fn break_life(
        &self,
        assistant: &AssistantId,
        life: &mut Life,
        broken: ChainBreak,
    ) -> ChainBreak {
        tracing::error!(%assistant, %broken, "the log on the cluster is broken; nothing more is written to it");
        life.broken = Some(broken);
        broken
    }
}

fn shortened(known: &Link, found: Seq) -> Option<ChainBreak> {
    let known = known.last;
    (known > found).then_some(ChainBreak::Shortened { known, found })
}

/// The last event of a message, if it can be read.
fn end_of(assistant: &AssistantId, message: &StreamMessage) -> Seq {
    let frame = frame::unseal(assistant, &message.payload).ok();
    let last = |frame: Frame| frame.events.last().map(|event: &StoredEvent| event.seq);
    frame.and_then(last).unwrap_or(Seq::ZERO)
}

fn unknown(why: String) -> AppendError {
    let fault = NatsFault::OutcomeUnknown(why);
    AppendError::new(AppendErrorKind::Unknown, Some(fault.into()))
}

fn too_large(bytes: usize, limit: usize) -> AppendError {
    let fault = NatsFault::TooLarge { bytes, limit };
    AppendError::new(AppendErrorKind::Unacceptable, Some(fault.into()))
}

impl<S: StreamRequests> Core<S> {
    /// The largest message that the server accepts, without its headers.
    pub(crate) fn max_message_bytes(&self) -> usize {
        self.api.max_payload().saturating_sub(HEADER_BYTES)
    }
}
