//! Importing records from a file of JSON lines, and exporting them into one.
//!
//! One line is one record. Only `text` is required:
//!
//! ```json
//! {"text":"Alice prefers tea","kind":"preference","at":"2026-11-21T12:00:00Z","speaker":"Alice","trust":0.9}
//! ```
//!
//! | field | content | default |
//! | --- | --- | --- |
//! | `text` | the text of the record | required |
//! | `kind` | `event`, `fact`, `preference`, `instruction` or `insight` | `event` |
//! | `collection` | `memories`, `journal`, `session_memory` or `projects` | `memories` |
//! | `at` | when it was said: RFC 3339 or microseconds since 1970 | the time of the import |
//! | `speaker`, `entity` | who said it: a name, and the id that their world attests | nobody; `entity` needs `speaker` |
//! | `myself` | whether the assistant itself said it | no |
//! | `from` | `surroundings` or `several`, if nobody said it | unknown |
//! | `heard_as`, `place` | how and where it was said, as a world attests it | unknown |
//! | `thread` | the conversation, as a world attests it | none |
//! | `trust` | how far it is believed, 0 to 1 | 1 |
//! | `tags` | a list of words | none |
//! | `source_key` | the key of its source; a second line with the same key changes nothing | a hash of speaker, time, text and thread |
//! | `derivation` | `heard`, `stored`, `extracted`, `consolidated` or `imported` | `imported` |
//! | `valid_from`, `valid_until` | from and until when it is valid | from `at`, without end |
//!
//! [`ImportClaims`] says which of these fields a file may claim. An exported file that another memory imports with
//! [`ImportClaims::Own`] gives the same records, except for what belongs to their store: ids, the time of storing,
//! links and sources (which are ids), and the history of changes. A record without a key gets `ASSISTANT:ID`, so
//! importing a file into the memory that it comes from changes nothing. Records that are withdrawn, folded or erased
//! are not exported; neither are profiles and vectors.

mod export;
mod import;
mod line;
pub(crate) mod source_key;

pub use export::{ExportError, ExportPage, Exported};
pub use import::{ImportBatch, ImportError, ImportLines, Imported};
pub use line::{ImportClaims, LINE_LIMIT, LineError};
pub use source_key::source_key_of;
