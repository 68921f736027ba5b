//! Where the control socket is, and who may use it: the owner of the data folder.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::UnixStream,
    },
    path::PathBuf,
};

use dormouse_host::DataFolder;
use tokio::net::UnixListener;

use crate::exit::Exit;

/// The longest path of a socket, in bytes. The limit is 108 on Linux and 104 elsewhere, with a zero at the end.
const PATH_LIMIT: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The control socket cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    #[error(
        "the path of the control socket {} has {} bytes, and this system allows {PATH_LIMIT}: choose a data folder with a \
         shorter path, or reach it by a short symbolic link",
        path.display(),
        path.as_os_str().len()
    )]
    TooLong { path: PathBuf },
    #[error("another program listens on the control socket {}: end it first", path.display())]
    InUse { path: PathBuf },
    #[error("{} is where the control socket belongs, but it is not a socket: move it away", path.display())]
    NotASocket { path: PathBuf },
    #[error("the control socket {} cannot be opened", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl SocketError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::TooLong { .. } | Self::NotASocket { .. } => Exit::Usage,
            Self::InUse { .. } => Exit::InUse,
            Self::Io { .. } => Exit::Failure,
        }
    }
}

/// A socket that listens. Dropping this removes its file.
#[derive(Debug)]
pub(super) struct ControlSocket {
    pub(super) listener: UnixListener,
    path: PathBuf,
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // If the file stays, the next program replaces it.
        drop(fs::remove_file(&self.path));
    }
}

/// Refuses a folder whose socket path would be too long. Changes nothing.
pub(super) fn check(data: &DataFolder) -> Result<PathBuf, SocketError> {
    let path = data.path().join("control.sock");
    match path.as_os_str().len() > PATH_LIMIT {
        true => Err(SocketError::TooLong { path }),
        false => Ok(path),
    }
}

/// Listens in this folder, and replaces a socket that a killed program left. Call it while the log of the folder is
/// open, which keeps
/// every other program of this kind out. Needs a runtime.
pub(super) fn bind(data: &DataFolder) -> Result<ControlSocket, SocketError> {
    let path = check(data)?;
    let failed = |source| SocketError::Io {
        path: path.clone(),
        source,
    };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(SocketError::NotASocket { path });
        }
        // The log may have been moved away while a program runs.
        Ok(_) if UnixStream::connect(&path).is_ok() => return Err(SocketError::InUse { path }),
        Ok(_) => fs::remove_file(&path).map_err(failed)?,
    }
    let listener = UnixListener::bind(&path).map_err(failed)?;
    let socket = ControlSocket {
        listener,
        path: path.clone(),
    };
    // The folder may be accessible to others. A client that connects before this line is still checked for its user.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(socket)
}

/// Connects to the program that runs the assistants of this folder; `None` if no program does.
pub(super) fn connect(data: &DataFolder) -> Option<UnixStream> {
    let path = check(data).ok()?;
    // In a folder that others may write, one of them could listen for commands.
    let owner = fs::symlink_metadata(&path).ok()?.uid();
    match is_owner(owner) {
        true => UnixStream::connect(path).ok(),
        false => None,
    }
}

/// Whether this is the user of this process.
pub(super) fn is_owner(uid: u32) -> bool {
    nix::unistd::geteuid().as_raw() == uid
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn only_the_owner_may_use_a_socket_and_its_file_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path()).unwrap();
        assert!(connect(&data).is_none());
        let socket = bind(&data).unwrap();
        assert_eq!(mode(&socket.path), 0o600);
        assert!(connect(&data).is_some());
        assert!(matches!(bind(&data), Err(SocketError::InUse { .. })));
        drop(socket);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }

    #[tokio::test]
    async fn what_a_killed_program_left_is_replaced_and_another_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::at(folder.path()).unwrap();
        let path = check(&data).unwrap();
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists() && connect(&data).is_none());
        drop(bind(&data).unwrap());
        fs::write(&path, "mine").unwrap();
        assert!(matches!(bind(&data), Err(SocketError::NotASocket { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }

    #[test]
    fn a_path_that_is_too_long_is_named_with_the_limit() {
        let data = DataFolder::at("/tmp/".to_owned() + &"x".repeat(120)).unwrap();
        let error = bind(&data).unwrap_err();
        assert_eq!(error.exit(), Exit::Usage);
        let text = error.to_string();
        assert!(
            text.contains("has 138 bytes") && text.contains("allows 10"),
            "{text}"
        );
        assert!(connect(&data).is_none());
    }
}
