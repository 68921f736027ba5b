//! A memory over the protocol, as a client meets it: lines of JSON.

#[cfg(test)]
mod limits;
#[cfg(test)]
mod line;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod telling;
