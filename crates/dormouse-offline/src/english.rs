//! Everything that the model understands and says in English, as tables. The rules are elsewhere.
//!
//! Another language is another set of tables.

pub(crate) mod character;
pub(crate) mod errands;
pub(crate) mod facts;
pub(crate) mod itself;
pub(crate) mod later;
pub(crate) mod moods;
pub(crate) mod said;
pub(crate) mod spelling;
pub(crate) mod times;
pub(crate) mod understood;
pub(crate) mod why;
