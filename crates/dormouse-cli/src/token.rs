//! `dormouse token`: who may send requests to `dormouse serve`.

use std::io;

use clap::{Args, Subcommand};
use dormouse_contracts::{AssistantId, Clock, Timestamp};
use dormouse_host::SystemClock;
use dormouse_server::{
    Fact, NewToken, Right, StoredToken, TokenSecret, TokenStore, TokenStoreError,
};
use serde::Serialize;

use crate::{
    command::{CommandError, CommandFailure, JsonFlag, Places, moment, operator, remark, say},
    data,
    exit::{Exit, file_exit},
};

/// Tokens of the service.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print its secret, once: only a hash of it is kept
    Create(CreateToken),
    /// List the tokens, without their secrets
    List {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Remove a token. A running service refuses it at once
    Revoke {
        /// Its id or its name
        #[arg(value_name = "ID|NAME")]
        which: String,
    },
}

/// Creating a token.
#[derive(Debug, Args)]
pub(crate) struct CreateToken {
    /// The holder: the log names this person as the author of changes, and assistants hear this name
    #[arg(value_name = "NAME")]
    name: String,
    /// What it allows: read, talk, operate, admin or world; may be given several times
    #[arg(long = "allow", value_name = "RIGHT", required = true)]
    rights: Vec<Right>,
    /// Only for this assistant; may be given several times [default: all]
    #[arg(long = "assistant", value_name = "KEY")]
    assistants: Vec<AssistantId>,
    /// With `--allow world`: a fact that the world may attest (sender, addressed, channel, place, audience, cause, reply_to or
    /// time); may be given several times [default: all]
    #[arg(long = "attest", value_name = "FACT")]
    attests: Vec<Fact>,
    /// When it expires: a time with its time zone, such as 2027-01-01T00:00:00Z [default: never]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    json: JsonFlag,
}

impl CommandFailure for TokenStoreError {
    fn exit(&self) -> Exit {
        match self {
            Self::File { source, .. } => file_exit(source),
            Self::Damaged { .. } => Exit::Damaged,
            _ => Exit::Usage,
        }
    }
}

/// The operating system has no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gives no random numbers")]
struct NoRandomness(#[source] io::Error);

impl CommandFailure for NoRandomness {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// A token as JSON.
#[derive(Serialize)]
struct TokenLine<'a> {
    r#type: &'static str,
    id: &'a str,
    name: &'a str,
    rights: Vec<String>,
    /// `null` for all assistants.
    assistants: Option<Vec<&'a str>>,
    /// What it may attest as a world; absent for all facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    attests: Option<Vec<String>>,
    created_at: String,
    created_by: &'a str,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    /// Present only when the token is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Creates, lists or removes tokens.
pub(crate) fn run(places: &Places, command: TokenCommand) -> Result<Exit, CommandError> {
    let data = data::locate(places.data.as_deref())?;
    let tokens = TokenStore::in_folder(data.path());
    match command {
        TokenCommand::Create(new) => {
            data.create()?;
            let secret = TokenSecret::generate().map_err(NoRandomness)?;
            let assistants =
                (!new.assistants.is_empty()).then(|| new.assistants.into_iter().collect());
            let wanted = NewToken {
                name: new.name,
                rights: new.rights.into_iter().collect(),
                assistants,
                attests: (!new.attests.is_empty()).then(|| new.attests.into_iter().collect()),
                expires_at: new.expires,
                created_by: operator(None)?,
            };
            let token = tokens.create(wanted, &secret, SystemClock.now())?;
            let line = TokenLine {
                secret: Some(secret.reveal()),
                ..line(&token)
            };
            new.json.printing().print(&line, || secret.reveal())?;
            remark("this is shown once; keep it like a password");
        }
        TokenCommand::List { json } => {
            let (printing, all) = (json.printing(), tokens.list()?);
            for token in &all {
                printing.print(&line(token), || text(token))?;
            }
            if all.is_empty() {
                remark("no token exists yet; `dormouse token create NAME --allow read` makes one");
            }
        }
        TokenCommand::Revoke { which } => {
            let token = tokens.revoke(&which)?;
            say(&format!(
                "the token {} of {} was removed",
                token.id, token.name
            ))?;
        }
    }
    Ok(Exit::Success)
}

fn line(token: &StoredToken) -> TokenLine<'_> {
    let assistants = token.assistants.as_ref();
    TokenLine {
        r#type: "token",
        id: &token.id,
        name: &token.name,
        rights: token.rights.iter().map(ToString::to_string).collect(),
        assistants: assistants.map(|keys| keys.iter().map(AssistantId::as_str).collect()),
        attests: (token.attests.as_ref()).map(|facts| facts.iter().map(Fact::to_string).collect()),
        created_at: token.created_at.to_string(),
        created_by: &token.created_by,
        expires_at: token.expires_at.map(|at| at.to_string()),
        last_used_at: token.last_used_at.map(|at| at.to_string()),
        secret: None,
    }
}

fn text(token: &StoredToken) -> String {
    let it = line(token);
    let of = match &it.assistants {
        None => "all assistants".to_owned(),
        Some(keys) => keys.join(", "),
    };
    let attests = match &it.attests {
        None => String::new(),
        Some(facts) => format!(" (may attest {})", facts.join(", ")),
    };
    let end = match (&it.expires_at, token.is_expired(SystemClock.now())) {
        (None, _) => String::new(),
        (Some(at), false) => format!(", until {at}"),
        (Some(at), true) => format!(", expired at {at}"),
    };
    let used = it.last_used_at.as_deref().unwrap_or("never");
    format!(
        "{} {}: {}{attests} for {of}{end}; created by {} at {}, last used: {used}",
        it.id,
        it.name,
        it.rights.join(", "),
        it.created_by,
        it.created_at,
    )
}
