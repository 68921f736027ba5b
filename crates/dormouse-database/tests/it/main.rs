//! What the crate promises, by its public interface.

#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod diary;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod pending;
#[cfg(test)]
mod reopening;
#[cfg(test)]
mod viewing;
#[cfg(test)]
mod writing;
