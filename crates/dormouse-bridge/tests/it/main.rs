//! The promises of the bridge, through its public API.

#[cfg(test)]
mod conforming;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod place;
#[cfg(test)]
mod queue;
#[cfg(test)]
mod receipts;
