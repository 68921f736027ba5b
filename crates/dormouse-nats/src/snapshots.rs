//! Snapshots, in a stream of their own. They can always be made again from the events, so what is wrong with one only means
//! that it is not used.
//!
//! A snapshot is cut into parts that fit into a message. A head names the parts by their stream sequences, and the head before
//! it. The stream keeps two messages of each subject, so the snapshot before the newest is whole, too.

use bytes::Bytes;
use dormouse_contracts::{AppendError, AppendErrorKind, AssistantId, ReadError, Seq, Snapshot};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    api::{ApiError, StreamApi, StreamMessage, StreamRequests},
    chain::ChainBreak,
    fault::Fault,
    frame::hex,
    log::Core,
};

/// Longer snapshots are not accepted.
const MAX_SNAPSHOT_BYTES: usize = 64 * 1024 * 1024;

/// The name of the stream of snapshots.
pub(crate) fn stream_of(stream: &str) -> String {
    format!("{stream}_SNAPSHOTS")
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    seq: u64,
    schema: u16,
    sha256: String,
    parts: Vec<u64>,
    /// The head before this one, if there was one.
    previous: Option<u64>,
}

/// The heads that are not after `up_to`, the best first: the newest event, and of those the one that was saved last.
fn usable(heads: Vec<Head>, up_to: Seq) -> Vec<Head> {
    let mut usable: Vec<Head> = heads.into_iter().filter(|h| h.seq <= up_to.0).collect();
    usable.sort_by_key(|head| std::cmp::Reverse(head.seq));
    usable
}

fn decode(message: &StreamMessage) -> Option<Head> {
    serde_json::from_slice(&message.payload).ok()
}

impl Core<StreamApi> {
    pub(crate) async fn save(
        &self,
        assistant: &AssistantId,
        snapshot: Snapshot,
    ) -> Result<(), AppendError> {
        if snapshot.payload.len() > MAX_SNAPSHOT_BYTES {
            return Err(AppendError::new(AppendErrorKind::Unacceptable, None));
        }
        let saved = self.try_save(assistant, snapshot).await;
        saved.map_err(|error| Fault::Api(error).into_append_error())
    }

    async fn try_save(&self, assistant: &AssistantId, snapshot: Snapshot) -> Result<(), ApiError> {
        let api = &self.snapshots;
        let head_subject = self.snapshot_subject(assistant, "head");
        let sha256 = hex(&Sha256::digest(&snapshot.payload).into());
        let payload = Bytes::from(snapshot.payload);
        let mut parts = Vec::new();
        let mut rest = payload;
        while !rest.is_empty() {
            let part = rest.split_to(rest.len().min(self.max_message_bytes()));
            let subject = self.snapshot_subject(assistant, &parts.len().to_string());
            let send = || api.publish_anyway(&subject, part.clone());
            parts.push(self.patiently(send).await?);
        }
        let previous = self.patiently(|| api.last(&head_subject)).await?;
        let previous = previous.map(|message| message.seq);
        let head = Head {
            seq: snapshot.seq.0,
            schema: snapshot.schema,
            sha256,
            parts,
            previous,
        };
        let head = serde_json::to_vec(&head).map_err(|error| ApiError::Malformed(error.into()))?;
        let head = Bytes::from(head);
        self.patiently(|| api.publish_anyway(&head_subject, head.clone()))
            .await?;
        Ok(())
    }

    pub(crate) async fn load(
        &self,
        assistant: &AssistantId,
        up_to: Seq,
    ) -> Result<Option<Snapshot>, ReadError> {
        let heads = self.heads(assistant).await;
        let heads = heads.map_err(|error| Fault::Api(error).into_read_error())?;
        self.check_not_after_end(assistant, &heads).await?;
        for head in usable(heads, up_to) {
            let payload = self.payload(&head).await;
            match payload.map_err(|error| Fault::Api(error).into_read_error())? {
                Some(payload) => {
                    return Ok(Some(Snapshot {
                        seq: Seq(head.seq),
                        schema: head.schema,
                        payload,
                    }));
                }
                None => {
                    tracing::warn!(%assistant, seq = head.seq, "a damaged snapshot is skipped");
                }
            }
        }
        Ok(None)
    }

    /// The last head and the one before it.
    async fn heads(&self, assistant: &AssistantId) -> Result<Vec<Head>, ApiError> {
        let subject = self.snapshot_subject(assistant, "head");
        let last = self.patiently(|| self.snapshots.last(&subject)).await;
        let last = match last {
            Err(error) if error.is_no_stream() => None,
            other => other?,
        };
        let mut heads: Vec<Head> = last.as_ref().and_then(decode).into_iter().collect();
        if let Some(previous) = heads.first().and_then(|head| head.previous) {
            let previous = self.patiently(|| self.snapshots.at(previous)).await?;
            heads.extend(previous.as_ref().and_then(decode));
        }
        Ok(heads)
    }

    /// A snapshot of events that the log does not have means that the log has lost them.
    async fn check_not_after_end(
        &self,
        assistant: &AssistantId,
        heads: &[Head],
    ) -> Result<(), ReadError> {
        let known = Seq(heads.iter().map(|head| head.seq).max().unwrap_or(0));
        let life = self.life(assistant);
        let mut life = life.lock().await;
        let end = |end: &Option<crate::chain::Link>| end.as_ref().map_or(Seq::ZERO, |e| e.last);
        if known > end(&life.end) {
            self.catch_up(assistant, &mut life)
                .await
                .map_err(Fault::into_read_error)?;
        }
        let found = end(&life.end);
        if known > found {
            let broken = ChainBreak::Shortened { known, found };
            let broken = self.break_life(assistant, &mut life, broken);
            return Err(Fault::Broken(broken).into_read_error());
        }
        Ok(())
    }

    /// The payload of a snapshot, if all of it is there and as it was saved.
    async fn payload(&self, head: &Head) -> Result<Option<Vec<u8>>, ApiError> {
        let mut payload = Vec::new();
        for part in &head.parts {
            match self.patiently(|| self.snapshots.at(*part)).await? {
                Some(message) if payload.len() <= MAX_SNAPSHOT_BYTES => {
                    payload.extend_from_slice(&message.payload);
                }
                _ => return Ok(None),
            }
        }
        let is_whole = hex(&Sha256::digest(&payload).into()) == head.sha256;
        Ok(is_whole.then_some(payload))
    }

    fn snapshot_subject(&self, assistant: &AssistantId, part: &str) -> String {
        let stream = &self.snapshots.stream;
        format!("{stream}.{}.{part}", crate::log::token(assistant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_snapshot_that_is_not_too_new_comes_first() {
        let head = |seq, schema| Head {
            seq,
            schema,
            sha256: String::new(),
            parts: Vec::new(),
            previous: None,
        };
        let order = |heads: Vec<Head>, up_to| -> Vec<(u64, u16)> {
            let usable = usable(heads, Seq(up_to));
            usable.iter().map(|head| (head.seq, head.schema)).collect()
        };
        // The head that was saved last is listed first.
        assert_eq!(order(vec![head(5, 1), head(2, 1)], 9), [(5, 1), (2, 1)]);
        assert_eq!(order(vec![head(2, 1), head(5, 1)], 9), [(5, 1), (2, 1)]);
        assert_eq!(order(vec![head(5, 2), head(5, 1)], 5), [(5, 2), (5, 1)]);
        assert_eq!(order(vec![head(5, 1), head(2, 1)], 4), [(2, 1)]);
        assert_eq!(order(vec![head(5, 1)], 4), []);
    }
}
