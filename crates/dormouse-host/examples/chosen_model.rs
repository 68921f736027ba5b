//! Which model would answer with this configuration and this environment, and why.
//!
//! `cargo run -p dormouse-host --example chosen_model -- dormouse.toml`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::{env, error::Error, path::Path};

use dormouse_host::{
    config::Config,
    provider::{ModelSelection, select},
};
use dormouse_providers::Environment;

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1);
    let (config, _source) = Config::load(
        file.as_deref().map(Path::new),
        Path::new("dormouse.toml"),
        std::env::vars_os(),
    )?;
    let environment = Environment::of(|name| env::var_os(name));
    let chosen = select(&ModelSelection::default(), &config.provider, &environment)?;
    let (provider, model) = chosen.name();
    println!("{provider}, model {model}: {}", chosen.why);
    Ok(())
}
