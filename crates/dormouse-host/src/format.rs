//! Whether this version can read a log.

use std::pin::pin;

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_engine::{DecodeError, Event};
use dormouse_store::LogView;
use futures_util::{StreamExt, stream};

use crate::folder::DataFolder;

/// How many logs are asked for their first event at the same time.
const AT_ONCE: usize = 64;

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
    // A reader answers each of them at once, so that waiting for the thread takes longest.
    let firsts = stream::iter(assistants).map(|(key, _)| {
        let log = &log;
        async move { log.read(&key, Seq::ZERO, 1).await }
    });
    let mut firsts = pin!(firsts.buffer_unordered(AT_ONCE));
    while let Some(first) = firsts.next().await {
        if let Some(first) = first.ok().and_then(|first| first.into_iter().next()) {
            Event::check_format(&first)?;
        }
    }
    Ok(())
}
