//! Tokens: who may do what over HTTP.
//!
//! A token is 256 random bits that are shown once; the file holds its SHA-256. A slow password hash is unnecessary:
//! nobody can guess 256 bits. The file is read again when it has changed, so a command in another process takes effect
//! at once.

use std::{
    collections::BTreeSet,
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use dormouse_contracts::{AssistantId, Timestamp};
use dormouse_sandbox::{JoinRefusal, check_name};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The file in the data folder.
const FILE: &str = "tokens.json";

/// Held while the file is changed.
const LOCK: &str = "tokens.lock";

/// Every token begins with this prefix, so that people and scanners recognise it.
const PREFIX: &str = "dm_";

/// The last use of a token is written at most this often.
const USE_IS_NOTED_EVERY: Duration = Duration::from_secs(60);

/// The version of the file format.
const VERSION: u32 = 1;

/// What a token allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// To see status, log, memory and settings.
    Read,
    /// To speak to an assistant.
    Talk,
    /// To start, stop and direct one: emergency stop, goals, journal, sleep.
    Operate,
    /// To create, archive and configure them.
    Admin,
    /// To be the world in which they live.
    World,
}

impl Right {
    /// All rights.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Talk,
        Self::Operate,
        Self::Admin,
        Self::World,
    ];
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Read => "read",
            Self::Talk => "talk",
            Self::Operate => "operate",
            Self::Admin => "admin",
            Self::World => "world",
        })
    }
}

impl std::str::FromStr for Right {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL
            .into_iter()
            .find(|right| right.to_string() == text);
        found.ok_or_else(|| {
            format!("{text:?} is not a right; expected read, talk, operate, admin or world")
        })
    }
}

/// A fact about what happened, which a world may attest. Facts decide who may do what and who may learn what, and no text
/// can replace them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Who said it.
    Sender,
    /// That it was said to the assistant: a whisper, a page, or addressed to it aloud.
    Addressed,
    /// On which channel it was said.
    Channel,
    /// Where it happened.
    Place,
    /// Who could perceive it.
    Audience,
    /// That it results from an act of the assistant.
    Cause,
    /// What it answers.
    ReplyTo,
    /// When it happened.
    Time,
}

impl Fact {
    /// All facts.
    pub const ALL: [Self; 8] = [
        Self::Sender,
        Self::Addressed,
        Self::Channel,
        Self::Place,
        Self::Audience,
        Self::Cause,
        Self::ReplyTo,
        Self::Time,
    ];
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sender => "sender",
            Self::Addressed => "addressed",
            Self::Channel => "channel",
            Self::Place => "place",
            Self::Audience => "audience",
            Self::Cause => "cause",
            Self::ReplyTo => "reply_to",
            Self::Time => "time",
        })
    }
}

impl std::str::FromStr for Fact {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|fact| fact.to_string() == text);
        found.ok_or_else(|| {
            let all = Self::ALL.map(|fact| fact.to_string()).join(", ");
            format!("{text:?} is not a fact; expected one of {all}")
        })
    }
}

/// A token that is to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The holder: the log names this person as the author of changes, and assistants hear this name.
    pub name: String,
    /// What it allows.
    pub rights: BTreeSet<Right>,
    /// For which assistants; `None` for all.
    pub assistants: Option<BTreeSet<AssistantId>>,
    /// What it may attest as a world; `None` for all facts.
    pub attests: Option<BTreeSet<Fact>>,
    /// When it expires, if it does.
    pub expires_at: Option<Timestamp>,
    /// Who makes it.
    pub created_by: String,
}

/// A token as it is kept, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredToken {
    /// Its id: the beginning of its hash.
    pub id: String,
    /// The name of its holder.
    pub name: String,
    /// The SHA-256 of the secret, in hexadecimal.
    sha256: String,
    /// What it allows.
    pub rights: BTreeSet<Right>,
    /// For which assistants; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assistants: Option<BTreeSet<AssistantId>>,
    /// What it may attest as a world; absent for all facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attests: Option<BTreeSet<Fact>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: String,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

impl StoredToken {
    /// Whether it allows this for this assistant.
    #[must_use]
    pub fn allows(&self, right: Right, assistant: &AssistantId) -> bool {
        let is_its = |its: &BTreeSet<_>| its.contains(assistant);
        self.rights.contains(&right) && self.assistants.as_ref().is_none_or(is_its)
    }

    /// Whether it may attest this as a world.
    #[must_use]
    pub fn attests(&self, fact: Fact) -> bool {
        self.attests.as_ref().is_none_or(|its| its.contains(&fact))
    }

    /// Whether it has expired.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// The secret of a token. It can be shown once, to the one who made it.
pub struct TokenSecret([u8; 32]);

impl TokenSecret {
    /// A new secret, from the random numbers of the operating system.
    ///
    /// # Errors
    ///
    /// An I/O error if the system has none.
    pub fn generate() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// The text that a client sends.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(..)")
    }
}

/// The tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenStoreError {
    /// A file cannot be read or written.
    #[error("{} cannot be used", file.display())]
    File {
        /// Which file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is damaged, or of a newer version.
    #[error("{} does not hold tokens of this version; restore it, or remove it and create new tokens", file.display())]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The name cannot be that of a person.
    #[error("{name:?} cannot be the name of a token: assistants hear it as the name of a person")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        source: JoinRefusal,
    },
    /// A token of that name exists.
    #[error("there is a token of {name:?} already; revoke it first, or choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The token would allow nothing.
    #[error(
        "the token would allow nothing; give it at least one right, and at least one assistant if it is limited to some"
    )]
    AllowsNothing,
    /// The token may attest something, and has no right to report it.
    #[error("only a world attests facts: the token needs the right `world`")]
    NoWorld,
    /// The token would be expired from the start.
    #[error("the token would expire at {0}, which is not in the future")]
    EndsInThePast(Timestamp),
    /// There is no such token.
    #[error("there is no token {0:?}")]
    Unknown(String),
}

/// The tokens of a data folder.
#[derive(Debug)]
pub struct TokenStore {
    folder: PathBuf,
    known: Mutex<Known>,
}

/// The file as it was read last.
#[derive(Debug, Default)]
struct Known {
    /// Its length and time, and on Unix its inode: a replaced file differs in one of them.
    signature: Option<(u64, Option<std::time::SystemTime>, u64)>,
    tokens: Vec<StoredToken>,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    version: u32,
    tokens: Vec<StoredToken>,
}

impl TokenStore {
    /// The tokens in this folder. Reads nothing yet.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            known: Mutex::default(),
        }
    }

    /// Stores a new token with this secret. Only the hash of the secret is kept.
    ///
    /// # Errors
    ///
    /// [`TokenStoreError`]; nothing was changed.
    pub fn create(
        &self,
        new: NewToken,
        secret: &TokenSecret,
        now: Timestamp,
    ) -> Result<StoredToken, TokenStoreError> {
        self.change(|tokens| add(tokens, new, secret, now))
    }

    /// All tokens, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// [`TokenStoreError`] if the file cannot be read.
    pub fn list(&self) -> Result<Vec<StoredToken>, TokenStoreError> {
        self.read()
    }

    /// Removes the token with this id or name, and returns it. It is refused from now on.
    ///
    /// # Errors
    ///
    /// [`TokenStoreError`]; nothing was changed.
    pub fn revoke(&self, which: &str) -> Result<StoredToken, TokenStoreError> {
        self.change(|tokens| {
            let is_it = |it: &StoredToken| it.id == which || it.name == which;
            match tokens.iter().position(is_it) {
                Some(at) => Ok(tokens.remove(at)),
                None => Err(TokenStoreError::Unknown(which.to_owned())),
            }
        })
    }

    /// Makes a token. If the same maker already made one for the same name, the new token replaces it.
    ///
    /// # Errors
    ///
    /// [`TokenStoreError`]; nothing was changed.
    pub(crate) fn renew(
        &self,
        new: NewToken,
        secret: &TokenSecret,
        now: Timestamp,
    ) -> Result<StoredToken, TokenStoreError> {
        self.change(|tokens| {
            tokens.retain(|it| it.name != new.name || it.created_by != new.created_by);
            add(tokens, new, secret, now)
        })
    }

    /// The token with this secret, if it exists and has not expired.
    ///
    /// # Errors
    ///
    /// [`TokenStoreError`] if the file cannot be read.
    pub fn verify(
        &self,
        secret: &str,
        now: Timestamp,
    ) -> Result<Option<StoredToken>, TokenStoreError> {
        let asked = hash(secret);
        let found = self.current(|tokens| {
            let mut found = None;
            // Every hash is compared completely, so that the time reveals nothing about the hashes.
            for token in tokens {
                if bool::from(token.sha256.as_bytes().ct_eq(asked.as_bytes())) {
                    found = Some(token.clone());
                }
            }
            found
        })?;
        Ok(found.filter(|token| !token.is_expired(now)))
    }

    /// Whether the token with this id exists and has not expired.
    ///
    /// # Errors
    ///
    /// [`TokenStoreError`] if the file cannot be read.
    pub fn is_valid(&self, id: &str, now: Timestamp) -> Result<bool, TokenStoreError> {
        self.current(|tokens| tokens.iter().any(|it| it.id == id && !it.is_expired(now)))
    }

    /// Notes that a token was used, at most once a minute.
    ///
    /// # Errors
    ///
    /// [`TokenStoreError`] if the file cannot be written.
    pub fn note_use(&self, token: &StoredToken, now: Timestamp) -> Result<(), TokenStoreError> {
        let is_noted = |at: Timestamp| now.since(at) < USE_IS_NOTED_EVERY;
        if token.last_used_at.is_some_and(is_noted) {
            return Ok(());
        }
        self.change(|tokens| {
            let mut its = tokens.iter_mut();
            if let Some(token) = its.find(|it| it.id == token.id) {
                token.last_used_at = Some(now);
            }
            Ok(())
        })
    }

    /// Calls `ask` with the tokens that the file has now.
    fn current<T>(&self, ask: impl FnOnce(&[StoredToken]) -> T) -> Result<T, TokenStoreError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let signature = signature(&self.path());
        if known.signature.is_none() || known.signature != signature {
            known.tokens = self.read()?;
            known.signature = signature;
        }
        Ok(ask(&known.tokens))
    }

    fn read(&self) -> Result<Vec<StoredToken>, TokenStoreError> {
        let file = self.path();
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(TokenStoreError::File { file, source }),
        };
        let read: Result<TokenFile, _> = serde_json::from_slice(&text);
        match read {
            Ok(read) if read.version == VERSION => Ok(read.tokens),
            Ok(_) => {
                let source = serde::de::Error::custom("another version");
                Err(TokenStoreError::Damaged { file, source })
            }
            Err(source) => Err(TokenStoreError::Damaged { file, source }),
        }
    }

    /// Changes the file completely or not at all, under a lock against other processes.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<StoredToken>) -> Result<T, TokenStoreError>,
    ) -> Result<T, TokenStoreError> {
        let lock = self.folder.join(LOCK);
        let failed = |file: &Path| {
            let file = file.to_owned();
            move |source| TokenStoreError::File { file, source }
        };
        let held = private().create(true).truncate(false).open(&lock);
        let held = held.map_err(failed(&lock))?;
        held.lock().map_err(failed(&lock))?;
        let mut tokens = self.read()?;
        let changed = change(&mut tokens)?;
        let version = VERSION;
        let (path, new) = (self.path(), self.folder.join("tokens.json.new"));
        let text = serde_json::to_vec_pretty(&TokenFile { version, tokens });
        let text = text.map_err(|source| TokenStoreError::Damaged {
            file: path.clone(),
            source,
        })?;
        let write = || {
            let mut file = private().create(true).truncate(true).open(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            fs::File::open(&self.folder)?.sync_all()
        };
        write().map_err(failed(&path))?;
        Ok(changed)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }
}

/// Adds a token of a secret that nobody knows yet.
fn add(
    tokens: &mut Vec<StoredToken>,
    new: NewToken,
    secret: &TokenSecret,
    now: Timestamp,
) -> Result<StoredToken, TokenStoreError> {
    let NewToken {
        name,
        rights,
        assistants,
        attests,
        expires_at,
        created_by,
    } = new;
    if let Err(source) = check_name(&name) {
        return Err(TokenStoreError::Name { name, source });
    }
    if rights.is_empty() || assistants.as_ref().is_some_and(BTreeSet::is_empty) {
        return Err(TokenStoreError::AllowsNothing);
    }
    if attests.is_some() && !rights.contains(&Right::World) {
        return Err(TokenStoreError::NoWorld);
    }
    if let Some(end) = expires_at.filter(|end| *end <= now) {
        return Err(TokenStoreError::EndsInThePast(end));
    }
    let sha256 = hash(&secret.reveal());
    let token = StoredToken {
        id: sha256.chars().take(12).collect(),
        name,
        sha256,
        rights,
        assistants,
        attests,
        created_at: now,
        created_by,
        expires_at,
        last_used_at: None,
    };
    let same = |it: &StoredToken| it.name.to_lowercase() == token.name.to_lowercase();
    if tokens.iter().any(same) {
        let name = token.name;
        return Err(TokenStoreError::NameTaken { name });
    }
    tokens.push(token.clone());
    Ok(token)
}

/// Opens files that only their owner reads.
fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

fn signature(path: &Path) -> Option<(u64, Option<std::time::SystemTime>, u64)> {
    let found = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&found);
    #[cfg(not(unix))]
    let inode = 0;
    Some((found.len(), found.modified().ok(), inode))
}

fn hash(secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_795_219_200_000_000);

    fn new(name: &str) -> NewToken {
        NewToken {
            name: name.to_owned(),
            rights: BTreeSet::from([Right::Read]),
            assistants: None,
            attests: None,
            expires_at: None,
            created_by: "a test".to_owned(),
        }
    }

    #[test]
    fn a_token_is_known_by_its_secret_until_it_is_revoked_and_the_file_does_not_hold_it() {
        let folder = tempfile::tempdir().unwrap();
        let (commands, service) = (
            TokenStore::in_folder(folder.path()),
            TokenStore::in_folder(folder.path()),
        );
        assert_eq!(service.verify("dm_x", NOW).unwrap(), None);
        let secret = TokenSecret::generate().unwrap();
        let made = commands.create(new("Ann"), &secret, NOW).unwrap();
        let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!text.contains(&secret.reveal()[PREFIX.len()..]));
        assert_eq!(secret.reveal().len(), 46, "256 bits in base64");
        assert_eq!(service.verify(&secret.reveal(), NOW).unwrap(), Some(made));
        commands.revoke("Ann").unwrap();
        assert_eq!(service.verify(&secret.reveal(), NOW).unwrap(), None);
        assert!(matches!(
            commands.revoke("Ann"),
            Err(TokenStoreError::Unknown(_))
        ));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore::in_folder(folder.path());
        store
            .create(new("Ann"), &TokenSecret([1; 32]), NOW)
            .unwrap();
        let mode = fs::metadata(folder.path().join(FILE))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_token_ends_and_its_last_use_is_noted_to_the_minute() {
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore::in_folder(folder.path());
        let secret = TokenSecret([7; 32]);
        let end = NOW.plus(Duration::from_secs(100));
        let expires_at = Some(end);
        let new = NewToken {
            expires_at,
            ..new("Ann")
        };
        let token = store.create(new, &secret, NOW).unwrap();
        store.note_use(&token, NOW).unwrap();
        let used = store.verify(&secret.reveal(), NOW).unwrap().unwrap();
        store
            .note_use(&used, NOW.plus(Duration::from_secs(59)))
            .unwrap();
        let at = |store: &TokenStore| store.list().unwrap()[0].last_used_at;
        assert_eq!(at(&store), Some(NOW));
        let later = NOW.plus(Duration::from_secs(61));
        store.note_use(&used, later).unwrap();
        assert_eq!(at(&store), Some(later));
        assert_eq!(store.verify(&secret.reveal(), end).unwrap(), None);
        assert!(!store.is_valid(&token.id, end).unwrap());
    }

    #[test]
    fn what_would_be_useless_or_ambiguous_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore::in_folder(folder.path());
        let secret = TokenSecret([9; 32]);
        let create = |new| store.create(new, &secret, NOW).unwrap_err();
        let nothing = NewToken {
            rights: BTreeSet::new(),
            ..new("Ann")
        };
        assert!(matches!(create(nothing), TokenStoreError::AllowsNothing));
        let past = NewToken {
            expires_at: Some(NOW),
            ..new("Ann")
        };
        assert!(matches!(create(past), TokenStoreError::EndsInThePast(_)));
        assert!(matches!(create(new("you")), TokenStoreError::Name { .. }));
        store.create(new("Ann"), &secret, NOW).unwrap();
        assert!(matches!(
            create(new("ANN")),
            TokenStoreError::NameTaken { .. }
        ));
        fs::write(folder.path().join(FILE), "{}").unwrap();
        assert!(matches!(
            store.verify("x", NOW),
            Err(TokenStoreError::Damaged { .. })
        ));
    }

    proptest! {
        #[test]
        fn no_other_text_is_taken_for_the_secret(bytes: [u8; 32], at in 0_usize..46, other in "[ -~]{0,60}") {
            let folder = tempfile::tempdir().unwrap();
            let store = TokenStore::in_folder(folder.path());
            let secret = TokenSecret(bytes);
            store.create(new("Ann"), &secret, NOW).unwrap();
            let whole = secret.reveal();
            prop_assert!(store.verify(&whole[..at], NOW).unwrap().is_none(), "cut short");
            prop_assert!(store.verify(&format!("{whole}{other}x"), NOW).unwrap().is_none(), "too long");
            prop_assert!(other == whole || store.verify(&other, NOW).unwrap().is_none());
        }
    }
}
