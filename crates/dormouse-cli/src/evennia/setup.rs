//! `dormouse evennia setup`: what to do in the game.

use clap::Args;

use crate::{
    command::{CommandError, Places, say},
    exit::Exit,
};

/// Setting up a game.
#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// The name of the assistant's account and character in the game
    #[arg(value_name = "ACCOUNT", default_value = "Dormouse")]
    account: String,
    /// The address of the game's websocket
    #[arg(long, value_name = "URL", default_value = "ws://127.0.0.1:4002")]
    url: String,
}

/// Prints the steps. Changes nothing.
pub(crate) fn run(places: &Places, setup: &Setup) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let (account, url) = (&setup.account, &setup.url);
    let file = places.config.clone().unwrap_or_else(|| data.config());
    let file = file.display();
    let steps = format!(
        "1. In the folder of the game, with its virtual environment, install the package from the folder
   crates/dormouse-evennia/python of this program's source:

     pip install PATH/TO/crates/dormouse-evennia/python

2. Add this line to server/conf/settings.py of the game, below the import of its defaults, and run `evennia reload`:

     INPUT_FUNC_MODULES += [\"dormouse_evennia.inputfuncs\"]

3. Make the account and its character. Type in the game, as a superuser or Admin:

     airesident/create {account} = PASSWORD

4. Tell this program, in {file}:

     [world]
     kind = \"evennia\"

     [evennia]
     url = \"{url}\"
     account = \"{account}\"

5. Put the password into the environment, check the game, and let the assistant live in it:

     export DORMOUSE_EVENNIA_PASSWORD=PASSWORD
     dormouse evennia check
     dormouse run"
    );
    for line in steps.lines() {
        say(line)?;
    }
    Ok(Exit::Success)
}
