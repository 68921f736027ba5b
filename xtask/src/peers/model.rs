//! The tiny model for llama-server, created by a script of this repository.

use std::path::Path;

use xshell::{Shell, cmd};

use super::offline::{self, Installed};
use crate::workspace::{Result, root};

pub(super) const FILE: &str = "llama/tiny.gguf";
const SCRIPT: &str = "tests/peers/tiny_model.py";
const REQUIREMENTS: &str = "tests/peers/requirements.txt";

pub(super) fn build(sh: &Shell, home: &Path) -> Result<Installed> {
    let (script, requirements) = (root().join(SCRIPT), root().join(REQUIREMENTS));
    let recipe = sh.read_file(&script)? + &sh.read_file(&requirements)?;
    let (model, stamp) = (home.join(FILE), home.join("llama/tiny.txt"));
    if model.is_file()
        && sh
            .read_file(&stamp)
            .is_ok_and(|built_from| built_from == recipe)
    {
        println!("tiny model: already installed");
        return Ok(Installed::Ready);
    }
    let libraries = home.join("llama/python");
    if let Installed::Unavailable(why) = offline::pip(sh, &libraries, &requirements)? {
        return Ok(Installed::Unavailable(why));
    }
    let partial = home.join("llama/tiny.gguf.partial");
    cmd!(sh, "python3 {script} {partial}")
        .env("PYTHONPATH", &libraries)
        .run()?;
    std::fs::rename(&partial, &model)?;
    sh.write_file(&stamp, recipe)?;
    // The libraries take a hundred megabytes, and are needed only to create the model.
    sh.remove_path(&libraries)?;
    Ok(Installed::Ready)
}
