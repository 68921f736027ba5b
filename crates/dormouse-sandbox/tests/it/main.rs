//! The promises of the sandbox, through its public API.

#[cfg(test)]
mod cast;
#[cfg(test)]
mod feed;
#[cfg(test)]
mod format;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod life;
#[cfg(test)]
mod ports;
#[cfg(test)]
mod senses;
#[cfg(test)]
mod visitors;
