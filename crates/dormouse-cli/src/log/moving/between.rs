//! Opens both logs, and moves one life after the other.

use std::{env, ffi::OsString};

use dormouse_contracts::{AssistantId, EventLog};
use dormouse_host::{DataFolder, check_format};
use dormouse_nats::{NatsConfig, NatsConnectError, NatsDurability, NatsLog, NatsLogin};
use dormouse_store::RedbLog;

use super::{
    MoveLives,
    copy::{CopyError, Kinds, Side, copy},
};
use crate::{
    command::{CommandError, CommandFailure, block_on, say},
    exit::Exit,
    grammar::counted,
};

/// The variables with the logins of the cluster, as `user:password`.
const LOGIN: &str = "DORMOUSE_CLUSTER_LOGIN";
const SYSTEM_LOGIN: &str = "DORMOUSE_CLUSTER_SYSTEM_LOGIN";

/// The cluster cannot be used as asked.
#[derive(Debug, thiserror::Error)]
enum ClusterError {
    #[error("{0} is not a login; expected user:password")]
    Login(&'static str),
    #[error(
        "set {SYSTEM_LOGIN} to user:password of the servers' system account, so that they can be asked whether they acknowledge \
         an event only when it is on disk; or allow that they do not, with --acknowledged-before-sync"
    )]
    NoSystemLogin,
    #[error("no log has an assistant {asked}")]
    Unknown { asked: AssistantId },
}

impl CommandFailure for ClusterError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

impl CommandFailure for NatsConnectError {
    fn exit(&self) -> Exit {
        match self {
            Self::Setting { .. } => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}

impl CommandFailure for CopyError {
    fn exit(&self) -> Exit {
        match self {
            Self::Diverged { .. } | Self::Older { .. } => Exit::Usage,
            Self::OtherState { .. } | Self::Fold { .. } => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}

pub(super) fn run(data: &DataFolder, asked: &MoveLives) -> Result<Exit, CommandError> {
    let config = config(asked)?;
    let is_out = !asked.to.is_empty();
    block_on(check_format(data))??;
    let folder = match is_out {
        true => RedbLog::open_existing(&data.log())?,
        false => RedbLog::open(&data.log())?,
    };
    block_on(Box::pin(async {
        let cluster = NatsLog::connect(&config).await?;
        let in_folder = folder.assistants()?.into_iter().map(|(key, _)| key);
        let in_folder: Vec<_> = in_folder.collect();
        let on_cluster = cluster.assistants().await?;
        let folder = Side {
            log: folder.clone(),
            name: "the data folder",
        };
        let cluster = Side {
            log: cluster,
            name: "the cluster",
        };
        match is_out {
            true => move_all(&folder, &cluster, chosen(asked, in_folder)?).await,
            false => move_all(&cluster, &folder, chosen(asked, on_cluster)?).await,
        }
    }))?
}

/// The lives to move.
fn chosen(asked: &MoveLives, known: Vec<AssistantId>) -> Result<Vec<AssistantId>, ClusterError> {
    if asked.assistants.is_empty() {
        return Ok(known);
    }
    for asked in &asked.assistants {
        if !known.contains(asked) {
            let asked = asked.clone();
            return Err(ClusterError::Unknown { asked });
        }
    }
    Ok(asked.assistants.clone())
}

async fn move_all(
    from: &Side<impl EventLog>,
    to: &Side<impl EventLog>,
    lives: Vec<AssistantId>,
) -> Result<Exit, CommandError> {
    let mut kinds = Kinds::default();
    for key in &lives {
        let copied = Box::pin(copy(from, to, key, &mut kinds)).await?;
        let events = counted(copied.events.0, "event", "events");
        let (new, hash) = (copied.new, copied.hash);
        say(&format!(
            "{key}: {events}, {new} of them new in {}; both logs fold to the state with the SHA-256 {hash}",
            to.name
        ))?;
    }
    say(&format!(
        "{} in {}; {} was only read. A life must go on in one of them only",
        counted(lives.len() as u64, "life is", "lives are"),
        to.name,
        from.name
    ))?;
    Ok(Exit::Success)
}

fn config(asked: &MoveLives) -> Result<NatsConfig, ClusterError> {
    let servers = match asked.to.is_empty() {
        true => &asked.from,
        false => &asked.to,
    };
    let durability = match (asked.acknowledged_before_sync, login(SYSTEM_LOGIN)?) {
        (true, _) => NatsDurability::AcknowledgedBeforeSync,
        (false, Some(login)) => NatsDurability::AskServers(login),
        (false, None) => return Err(ClusterError::NoSystemLogin),
    };
    let mut config = NatsConfig::new(servers, durability);
    config.login = login(LOGIN)?;
    config.authorities.clone_from(&asked.authorities);
    config.stream.clone_from(&asked.stream);
    config.replicas = asked.replicas;
    Ok(config)
}

/// The login in a variable of the environment, if it is set.
fn login(variable: &'static str) -> Result<Option<NatsLogin>, ClusterError> {
    let Some(value) = env::var_os(variable).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let parsed = OsString::into_string(value).ok();
    let split = parsed.as_deref().and_then(|text| text.split_once(':'));
    let (user, password) = split.ok_or(ClusterError::Login(variable))?;
    Ok(Some(NatsLogin {
        user: user.to_owned(),
        password: password.to_owned(),
    }))
}
