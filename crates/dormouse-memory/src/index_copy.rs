//! The copy of the projection in a file next to the store.
//!
//! It is written under a temporary name and then renamed, protected by a checksum, and bound to the store by the store's id
//! and the time of the last change in it. A copy that fails any check is ignored and made again from the records.

use std::{
    fmt, fs, io,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use dormouse_contracts::{Audience, Timestamp, Trust, invariant};
use dormouse_retrieval::{Config, Index};

use crate::{
    change::ChangeSeq,
    projection::{Audiences, Meta, Metas, Projection},
    record::{Collection, RecordId, RecordKind},
};

const MAGIC: &[u8; 8] = b"DORMPROJ";
const VERSION: u32 = 5;
/// The length of the beginning of a copy through the time of its last change, without the name of the store.
const HEAD_BYTES: usize = 8 + 4 + 8 + 8 + 8;
/// The flags of a row.
const IN_USE: u8 = 1;
const QUOTATION: u8 = 2;
/// One row of [`Meta`]: the id, a flag, the kind and the collection in one byte each, then trust, the number of the
/// audience, and three times.
const ROW_BYTES: usize = 8 + 3 + 4 + 4 + 3 * 8;

/// Why a copy cannot be used. It is then made again from the records.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    #[error("it is damaged")]
    Damaged,
    #[error("it is of another version")]
    Version,
    #[error("it belongs to another store")]
    Foreign,
    #[error("the words in it are damaged")]
    Index(#[from] dormouse_retrieval::SnapshotDecodeError),
}

/// A copy that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) projection: Projection,
    /// When the last change in it was made. A store that was restored from an older backup and has grown since reaches the
    /// same sequence number, but at another time.
    pub(crate) changed_at: Timestamp,
}

/// What the beginning of a copy says. It is not checked, so it only helps to decide when the copy is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyHead {
    /// The last change in it.
    pub(crate) through: ChangeSeq,
    /// When that change was made.
    pub(crate) changed_at: Timestamp,
    /// Its length.
    pub(crate) bytes: u64,
}

/// The copy of one store.
#[derive(Debug)]
pub(crate) struct IndexCopy {
    path: PathBuf,
    disk: Box<dyn CopyDisk>,
}

impl IndexCopy {
    /// The copy next to this store.
    pub(crate) fn next_to(store: &Path) -> Self {
        Self::on(store, Box::new(Files))
    }

    /// The copy on another disk.
    pub(crate) fn on(store: &Path, disk: Box<dyn CopyDisk>) -> Self {
        // Appended to the whole name, so that two stores in one folder never share a copy.
        let path = with_suffix(store, ".index");
        Self { path, disk }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Writes an [encoded](encode) copy; the former one stays until this one is complete.
    pub(crate) fn save(&self, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.unfinished();
        let written = self.disk.write(&temporary, bytes);
        let written = written.and_then(|()| self.disk.rename(&temporary, &self.path));
        if written.is_err() {
            // A half-written file would only fill the disk further.
            drop(self.disk.remove(&temporary));
        }
        written
    }

    /// Removes the copy, and the incomplete one that a killed process may have left.
    pub(crate) fn remove(&self) -> io::Result<()> {
        for file in &self.files() {
            match self.disk.remove(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let text = format!("{} cannot be removed: {error}", file.display());
                    return Err(io::Error::new(error.kind(), text));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Removes the incomplete copy that a killed process may have left. The caller has the store open for writing: otherwise the
    /// file may be one that another process is writing.
    pub(crate) fn remove_unfinished(&self) {
        match self.disk.remove(&self.unfinished()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(%error, "an unfinished copy of the search index could not be removed");
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Reads the copy if it belongs to `store`; `None` if there is none.
    pub(crate) fn load(&self, store: &str, config: Config) -> Result<Option<Loaded>, Unusable> {
        let bytes = match self.disk.read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        decode(&bytes, store, config).map(Some)
    }

    /// Reads the beginning of the copy; `None` if there is none, or if it does not belong to `store`.
    pub(crate) fn look(&self, store: &str) -> Option<CopyHead> {
        let (head, bytes) = self.disk.head(&self.path, HEAD_BYTES + store.len()).ok()?;
        let mut rest = head_of(&head, store).ok()?;
        Some(CopyHead {
            through: u64::from_le_bytes(rest.array().ok()?),
            changed_at: Timestamp::from_micros(i64::from_le_bytes(rest.array().ok()?)),
            bytes,
        })
    }

    /// The copy, and the incomplete one.
    pub(crate) fn files(&self) -> [PathBuf; 2] {
        [self.path.clone(), self.unfinished()]
    }

    /// The name of a copy until it is complete.
    fn unfinished(&self) -> PathBuf {
        with_suffix(&self.path, ".new")
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Where a copy is kept: in files, or in tests on a disk that fails on purpose.
pub(crate) trait CopyDisk: fmt::Debug + Send + Sync {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The first bytes of a file, at most so many, and its length.
    fn head(&self, path: &Path, most: usize) -> io::Result<(Vec<u8>, u64)>;

    /// Makes a file of these bytes, which are on the disk when this returns.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// Files on disk.
#[derive(Debug)]
pub(crate) struct Files;

impl CopyDisk for Files {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn head(&self, path: &Path, most: usize) -> io::Result<(Vec<u8>, u64)> {
        let file = fs::File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut head = Vec::new();
        file.take(most as u64).read_to_end(&mut head)?;
        Ok((head, bytes))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// Encodes a projection of this store's records whose last change was made at `changed_at`.
pub(crate) fn encode(store: &str, changed_at: Timestamp, projection: &Projection) -> Vec<u8> {
    let rows = projection.metas.iter();
    let index = projection.index.encode();
    let mut out = Vec::with_capacity(64 + store.len() + rows.len() * ROW_BYTES + index.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    put_length(&mut out, store.len());
    out.extend_from_slice(store.as_bytes());
    out.extend_from_slice(&projection.through.to_le_bytes());
    out.extend_from_slice(&changed_at.as_micros().to_le_bytes());
    let audiences = serde_json::to_vec(projection.metas.audiences.all());
    let audiences = invariant!(audiences, "an audience is JSON");
    put_length(&mut out, audiences.len());
    out.extend_from_slice(&audiences);
    put_length(&mut out, rows.len());
    for (id, row) in rows {
        out.extend_from_slice(&id.to_number().to_le_bytes());
        put_row(&mut out, row);
    }
    put_length(&mut out, index.len());
    out.extend_from_slice(&index);
    let sum = crc32fast::hash(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
}

fn put_row(out: &mut Vec<u8>, row: &Meta) {
    let place = |place: Option<usize>| {
        let place = place.and_then(|place| u8::try_from(place).ok());
        invariant!(place, "every kind and collection is in its list `ALL`")
    };
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(flag(row.in_use, IN_USE) | flag(row.is_quotation, QUOTATION));
    out.push(place(
        RecordKind::ALL.iter().position(|kind| *kind == row.kind),
    ));
    out.push(place(
        Collection::ALL
            .iter()
            .position(|collection| *collection == row.collection),
    ));
    out.extend_from_slice(&row.trust.score().to_le_bytes());
    out.extend_from_slice(&row.audience.to_le_bytes());
    for at in [row.at, row.valid_from, row.valid_until] {
        out.extend_from_slice(&at.as_micros().to_le_bytes());
    }
}

fn decode(bytes: &[u8], store: &str, config: Config) -> Result<Loaded, Unusable> {
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or(Unusable::Damaged)?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Err(Unusable::Damaged);
    }
    let mut rest = head_of(body, store)?;
    let through: ChangeSeq = u64::from_le_bytes(rest.array()?);
    let changed_at = Timestamp::from_micros(i64::from_le_bytes(rest.array()?));
    let length = rest.length()?;
    let audiences = audiences(rest.take(length)?)?;
    let count = rest.length()?;
    let rows = rest.take(count.checked_mul(ROW_BYTES).ok_or(Unusable::Damaged)?)?;
    let mut metas = Metas::of(audiences);
    for bytes in rows.chunks_exact(ROW_BYTES) {
        let (id, meta) = row(bytes)?;
        if metas.audiences.get(meta.audience).is_none() {
            return Err(Unusable::Damaged);
        }
        metas.set(id, meta);
    }
    let length = rest.length()?;
    let index = Index::decode(rest.take(length)?, config)?;
    let projection = Projection {
        index,
        metas,
        through,
    };
    Ok(Loaded {
        projection,
        changed_at,
    })
}

/// What follows the head of a copy of this store.
fn head_of<'a>(body: &'a [u8], store: &str) -> Result<Bytes<'a>, Unusable> {
    let mut rest = Bytes(body);
    if rest.take(MAGIC.len())? != MAGIC {
        return Err(Unusable::Damaged);
    }
    if u32::from_le_bytes(rest.array()?) != VERSION {
        return Err(Unusable::Version);
    }
    let length = rest.length()?;
    if rest.take(length)? != store.as_bytes() {
        return Err(Unusable::Foreign);
    }
    Ok(rest)
}

fn audiences(bytes: &[u8]) -> Result<Audiences, Unusable> {
    let all: Vec<Audience> = serde_json::from_slice(bytes).map_err(|_no_list| Unusable::Damaged)?;
    let mut audiences = Audiences::default();
    for audience in all {
        audiences.number_of(audience);
    }
    Ok(audiences)
}

fn row(bytes: &[u8]) -> Result<(RecordId, Meta), Unusable> {
    let mut rest = Bytes(bytes);
    let id = RecordId::from_number(u64::from_le_bytes(rest.array()?));
    let [flags, kind, collection] = rest.array()?;
    let trust = f32::from_le_bytes(rest.array()?);
    let audience = u32::from_le_bytes(rest.array()?);
    let mut time = || {
        rest.array()
            .map(i64::from_le_bytes)
            .map(Timestamp::from_micros)
    };
    let meta = Meta {
        in_use: flags & IN_USE != 0,
        is_quotation: flags & QUOTATION != 0,
        kind: *RecordKind::ALL
            .get(usize::from(kind))
            .ok_or(Unusable::Damaged)?,
        collection: *Collection::ALL
            .get(usize::from(collection))
            .ok_or(Unusable::Damaged)?,
        trust: Trust::try_new(trust).map_err(|_no_score| Unusable::Damaged)?,
        audience,
        at: time()?,
        valid_from: time()?,
        valid_until: time()?,
    };
    Ok((id, meta))
}

/// The part of the copy that is not read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Unusable> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Unusable::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Unusable> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Unusable::Damaged)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn length(&mut self) -> Result<usize, Unusable> {
        usize::try_from(u64::from_le_bytes(self.array()?)).map_err(|_too_long| Unusable::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::Seq;
    use proptest::prelude::*;

    use super::*;
    use crate::Note;

    fn projection() -> Projection {
        let mut projection = Projection::new(Config::default());
        for (id, text) in [(1, "Alice prefers tea"), (2, "Bob sails boats")] {
            let note = Note::new(text).said_by("Carol").in_thread("tea house");
            let mut record = crate::ops::record_of(note, Timestamp::from_micros(5));
            record.id = RecordId::event(Seq(id));
            projection.apply(&record);
        }
        projection.through = 2;
        projection
    }

    #[test]
    fn a_copy_comes_back_as_it_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        let copy = IndexCopy::next_to(&folder.path().join("m"));
        assert!(copy.load("one", Config::default()).unwrap().is_none());
        let saved = projection();
        let changed_at = Timestamp::from_micros(7);
        copy.save(&encode("one", changed_at, &saved)).unwrap();
        let loaded = copy.load("one", Config::default()).unwrap().unwrap();
        assert_eq!(loaded.changed_at, changed_at);
        let loaded = loaded.projection;
        assert_eq!(loaded.through, 2);
        assert_eq!(loaded.metas, saved.metas);
        assert_eq!(loaded.index.encode(), saved.index.encode());
        assert!(matches!(
            copy.load("other", Config::default()),
            Err(Unusable::Foreign)
        ));
    }

    proptest! {
        #[test]
        fn a_damaged_copy_is_never_used(place in any::<prop::sample::Index>(), flip in 1_u8..=255, cut in any::<bool>()) {
            let mut bytes = encode("one", Timestamp::EPOCH, &projection());
            let place = place.index(bytes.len());
            if cut {
                bytes.truncate(place);
            } else {
                bytes[place] ^= flip;
            }
            prop_assert!(decode(&bytes, "one", Config::default()).is_err());
        }
    }
}
