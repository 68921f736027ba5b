//! Why no encoder can be made from a folder.

use std::{io, path::PathBuf};

use dormouse_contracts::BoxError;

/// Why no encoder can be made from a folder: what is wrong, where, and what helps.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalEncoderError {
    /// It is not there, or it is no folder.
    #[error(
        "there is no folder {}; name one that holds config.json, tokenizer.json and model.safetensors of a sentence-transformers model",
        .folder.display()
    )]
    NoFolder {
        /// What was named.
        folder: PathBuf,
    },
    /// A file that every model has is missing.
    #[error(
        "the file {} is missing; a model's folder holds config.json, tokenizer.json and model.safetensors (weights in other formats, such as pytorch_model.bin or ONNX, cannot be read)",
        .path.display()
    )]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// A file is there but cannot be read.
    #[error("the file {} cannot be read; check its permissions", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is not what its name says.
    #[error("the file {} cannot be understood; fetch the model again", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: BoxError,
    },
    /// Numbers of the configuration make no model.
    #[error(
        "the file {} describes a model that cannot be: {what} is out of its range; fetch the model again",
        .path.display()
    )]
    Impossible {
        /// The file.
        path: PathBuf,
        /// Which number.
        what: &'static str,
    },
    /// It is a model of another kind.
    #[error(
        "the file {} is of a model of the kind {kind:?}; only the kind \"bert\" can be run, to which most small encoders belong, such as all-MiniLM-L6-v2 and bge-small-en",
        .path.display()
    )]
    Architecture {
        /// The file.
        path: PathBuf,
        /// The kind it names, at most 64 characters of it; empty if it names none.
        kind: Box<str>,
    },
    /// Something is done to the vectors that this crate cannot do.
    #[error(
        "the file {} asks for more than mean or CLS pooling and normalising, which is all that can be done; take another model",
        .path.display()
    )]
    Pooling {
        /// The file.
        path: PathBuf,
    },
    /// The weights are broken, or those of another model.
    #[error(
        "the weights in {} are broken or do not belong to config.json; fetch both files again",
        .path.display()
    )]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: BoxError,
    },
    /// The model could be read, but does not embed.
    #[error(
        "the model in {} does not work; its weights are damaged, or its tokenizer belongs to another model: fetch all files again",
        .folder.display()
    )]
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// What happened when it was tried.
        source: BoxError,
    },
}
