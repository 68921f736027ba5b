//! Whether this version can read a log.

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_engine::{DecodeError, Event};
use dormouse_store::LogView;

use crate::folder::DataFolder;

/// Refuses a log in a format that this version does not read. It looks at the first event of every assistant, and
/// changes nothing: call it before any file of the folder is made, or opened for writing. A missing or damaged log is
/// accepted here, because opening or reading it reports what is wrong.
///
/// # Errors
///
/// [`DecodeError`], which says what to do.
pub async fn check_format(data: &DataFolder) -> Result<(), DecodeError> {
    let Ok(log) = LogView::open(&data.log()) else {
        return Ok(());
    };
    let Ok(assistants) = log.assistants() else {
        return Ok(());
    };
    for (key, _) in assistants {
        let Ok(first) = log.read(&key, Seq::ZERO, 1).await else {
            continue;
        };
        match first.first().map(Event::decode) {
            None | Some(Ok(_) | Err(DecodeError::Payload { .. })) => {}
            Some(Err(error)) => return Err(error),
        }
    }
    Ok(())
}
