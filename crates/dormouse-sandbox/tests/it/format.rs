//! A file of an earlier format is refused and left as it is.

use dormouse_sandbox::SandboxOpenError;
use redb::{Database, TableDefinition};

use crate::cast::{Place, open};

const META: TableDefinition<'_, &str, u64> = TableDefinition::new("dormouse_sandbox");

#[test]
fn a_file_of_the_first_format_is_refused_with_advice_and_is_not_touched() {
    let place = Place::new();
    let database = Database::create(place.path()).unwrap();
    let writing = database.begin_write().unwrap();
    {
        let mut meta = writing.open_table(META).unwrap();
        meta.insert("format", 1).unwrap();
        meta.insert("revision", 7).unwrap();
    }
    writing.commit().unwrap();
    drop(database);
    let before = std::fs::read(place.path()).unwrap();

    let error = open(&place.path()).unwrap_err();
    assert!(matches!(
        error,
        SandboxOpenError::OlderFormat { found: 1, .. }
    ));
    let text = error.to_string();
    let advice = "world.redb has format 1, and this version reads only 2: nothing was changed. Move it away together with \
                  the log of its assistant to begin a new world, or use the version that wrote it";
    assert!(text.ends_with(advice), "{text}");
    assert_eq!(std::fs::read(place.path()).unwrap(), before);
}
