//! The terminal's own mode. A signal can end the program in the middle of a line, while the editor has the terminal in
//! a mode that a shell cannot use.

#[cfg(unix)]
pub(super) struct Mode(Option<nix::sys::termios::Termios>);

#[cfg(unix)]
impl Mode {
    pub(super) fn remember() -> Self {
        Self(nix::sys::termios::tcgetattr(std::io::stdin()).ok())
    }

    pub(super) fn give_back(self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(mode) = self.0 {
            // The terminal may be gone, which is one way for a visit to end. It may also take no output, so `TCSANOW`
            // does not wait for output.
            tcsetattr(std::io::stdin(), SetArg::TCSANOW, &mode).ok();
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Mode;

#[cfg(not(unix))]
impl Mode {
    pub(super) fn remember() -> Self {
        Self
    }

    pub(super) fn give_back(self) {}
}
