//! List servers that a person names on a command line.

use queryport::games::{Game, MasterAddress, MasterForm};

use crate::command_line;

/// The game's row with these list servers in place of its own. Each is `HOST:PORT`,
/// `FORM=HOST:PORT`, or `HOST` with the port of the game's first list server.
pub fn with_masters(game: &Game, masters: &[String]) -> Result<Game, String> {
    let known = game.masters.first();
    let master = |text: &String| {
        let (form, address) = match text.split_once('=') {
            Some((name, address)) => {
                let form = FORMS.into_iter().find(|form| form.as_str() == name);
                let unknown = || format!("{name:?} is not a form of lists: {}", names());
                (Some(form.ok_or_else(unknown)?), address)
            }
            None => (known.map(|master| master.form), text.as_str()),
        };
        let form =
            form.ok_or_else(|| format!("{}: write FORM={text}, with one of {}", game.id, names()))?;
        let port = game
            .masters
            .first()
            .and_then(|master| master.address.rsplit_once(':'));
        let address = match port {
            Some((_, port)) if !address.contains(':') => format!("{address}:{port}"),
            _ => address.to_owned(),
        };
        let address = command_line::server(&address)?;
        // The table needs static texts, and a program leaks only a few.
        let master = MasterAddress::new(form, address.leak());
        let is_silent_if_empty = known.is_some_and(|known| known.is_silent_if_empty);
        Ok(if is_silent_if_empty && text.split_once('=').is_none() {
            master.silent_if_empty()
        } else {
            master
        })
    };
    let masters: Result<Vec<MasterAddress>, String> = masters.iter().map(master).collect();
    let mut game = *game;
    game.masters = masters?.leak();
    Ok(game)
}

const FORMS: [MasterForm; 13] = [
    MasterForm::Short,
    MasterForm::Named,
    MasterForm::Unmarked,
    MasterForm::Hexadecimal,
    MasterForm::Long,
    MasterForm::Quake2,
    MasterForm::QuakeWorld,
    MasterForm::HexenWorld,
    MasterForm::GameSpy1,
    MasterForm::GameSpy1WithoutLogin,
    MasterForm::Ut2004,
    MasterForm::GameSpy2,
    MasterForm::Cod4x,
];

fn names() -> String {
    FORMS.map(MasterForm::as_str).join(", ")
}
