//! Bringing records in from a file of JSON lines, and out into one.
//!
//! One line is one record. Only `text` is required:
//!
//! ```json
//! {"text":"Alice prefers tea","kind":"preference","at":"2026-11-21T12:00:00Z","speaker":"Alice","trust":0.9}
//! ```
//!
//! | field | what it is | where it is left out |
//! | --- | --- | --- |
//! | `text` | what is remembered | required |
//! | `kind` | `event`, `fact`, `preference`, `instruction` or `insight` | `event` |
//! | `shelf` | `memories`, `journal`, `session_memory` or `projects` | `memories` |
//! | `at` | when it was said: RFC 3339 or microseconds since 1970 | the time of importing |
//! | `speaker`, `entity` | who said it: a name, and the id their world knows them by | nobody; `entity` needs `speaker` |
//! | `thread` | the conversation | none |
//! | `trust` | how far it is believed, 0 to 1 | 1 |
//! | `tags` | a list of words | none |
//! | `origin` | what it was made of; a second line with the same origin changes nothing | made of speaker, time, text and thread |
//! | `derivation` | `heard`, `stored`, `extracted`, `consolidated` or `imported` | `imported` |
//! | `valid_from`, `valid_until` | since and until when it is so | since `at`, for good |
//!
//! A file that was exported and imported elsewhere gives the same records but for what belongs to the store they were in:
//! their numbers, when they were stored, links and sources (which are numbers), and the history of changes. Records that
//! are withdrawn, folded or erased stay behind, and so do profiles and vectors.

mod export;
mod import;
mod line;
mod origin;

pub use export::{ExportError, Exported};
pub use import::{ImportError, ImportStep, Imported};
pub use line::{LINE_LIMIT, LineError};
pub use origin::origin_of;
