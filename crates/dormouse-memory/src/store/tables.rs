//! The tables of the file.

use dormouse_database::FileKind;
use redb::TableDefinition;

use crate::record::RecordId;

/// A memory's file.
pub(crate) const KIND: FileKind = FileKind {
    what: "a memory",
    name: "dormouse-memory",
    format: 2,
    cache_bytes: 16 << 20,
    check_up_to_bytes: 64 << 20,
};

/// Counters and checkpoints by name.
pub(crate) const STATE: TableDefinition<'_, &str, u64> = TableDefinition::new("state");
/// Texts by name, such as the id of the file.
pub(crate) const LABELS: TableDefinition<'_, &str, &str> = TableDefinition::new("labels");
/// The sequence number of a change → [`StoredChange`](crate::StoredChange) as JSON.
pub(crate) const CHANGES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("changes");
/// The id of a record, as a number → [`Record`](crate::Record) as JSON.
pub(crate) const RECORDS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("records");
/// A record and the sequence number of a change that touched it.
pub(crate) const HISTORY: TableDefinition<'_, (u64, u64), ()> = TableDefinition::new("history");
/// The number of an event of the log → the first change that it led to. The others follow it.
pub(crate) const BY_EVENT: TableDefinition<'_, u64, u64> = TableDefinition::new("by event");
/// The sequence number of a change that was taken back → that of the change that took it back.
pub(crate) const REVERTED: TableDefinition<'_, u64, u64> = TableDefinition::new("reverted");
/// The key of a source outside the log → the id of the record that was made from it, as a number.
pub(crate) const SOURCES: TableDefinition<'_, &str, u64> = TableDefinition::new("sources");
/// An entity's key → its rows as JSON.
pub(crate) const ENTITIES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("entities");
/// An embedding space → what it is, as JSON.
pub(crate) const SPACES: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("spaces");
/// An embedding space and a record → its vector, numbers of four bytes each, least significant byte first; empty if
/// the encoder returned no usable vector.
pub(crate) const VECTORS: TableDefinition<'_, (u32, u64), &[u8]> = TableDefinition::new("vectors");

/// Names in [`STATE`].
/// How many records were ever added.
pub(crate) const RECORD_COUNT: &str = "records";
pub(crate) const NEXT_CHANGE: &str = "next change";
/// How far an outside log was taken in.
pub(crate) const LOG_THROUGH: &str = "log through";
/// The two halves of the hash of the event at [`LOG_THROUGH`].
pub(crate) const LOG_HASH: [&str; 2] = ["log hash, high", "log hash, low"];
/// The name of the state that holds the event with the facts that were made from this record.
pub(crate) fn extracted(record: RecordId) -> String {
    format!("extracted {record}")
}
/// How many records are in use.
pub(crate) const IN_USE: &str = "in use";
/// The name in [`LABELS`] of the id of the file.
pub(crate) const FILE_ID: &str = "file id";
/// The name in [`LABELS`] of the assistant whose memory it is.
pub(crate) const ASSISTANT: &str = "assistant";
