//! List servers that a person names on a command line.

use queryport::games::{Game, MasterAddress, MasterForm};
use queryport::net::MasterReport;

use crate::command_line;

/// Why a list server gave no list, with its address; `None` if it gave one.
pub fn failure(report: &MasterReport) -> Option<String> {
    match &report.list {
        Some(Ok(_)) => None,
        Some(Err(error)) => Some(command_line::message(error)),
        None => Some(format!("{}: not asked", report.address)),
    }
}

/// One message for the failures of all list servers.
pub fn no_list(failures: &[String]) -> String {
    format!("no list server answered: {}", failures.join("; "))
}

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

const FORMS: [MasterForm; 10] = [
    MasterForm::Short,
    MasterForm::Named,
    MasterForm::Long,
    MasterForm::Quake2,
    MasterForm::QuakeWorld,
    MasterForm::GameSpy1,
    MasterForm::GameSpy1WithoutLogin,
    MasterForm::Ut2004,
    MasterForm::GameSpy2,
    MasterForm::Cod4x,
];

fn names() -> String {
    FORMS.map(MasterForm::as_str).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_server_has_the_form_and_the_port_of_the_first_known_one() {
        let master = |game: &str, text: &str| {
            let game = command_line::game(game)?;
            let game = with_masters(game, &[text.to_owned()])?;
            let master = game.masters.first().ok_or("no list server")?;
            let (form, is_silent) = (master.form.as_str(), master.is_silent_if_empty);
            Ok::<_, String>(format!("{form} {} {is_silent}", master.address))
        };
        for (game, text, expected) in [
            ("openarena", "example.org", "long example.org:27950 false"),
            ("openarena", "example.org:5", "long example.org:5 false"),
            (
                "openarena",
                "long=example.org:5",
                "long example.org:5 false",
            ),
            ("xonotic", "example.org", "long example.org:27950 false"),
            ("ut2004", "example.org", "ut2004 example.org:28902 false"),
            ("t7x", "example.org", "named example.org:20810 true"),
            ("t7x", "named=example.org:5", "named example.org:5 false"),
        ] {
            assert_eq!(master(game, text).as_deref(), Ok(expected), "{game} {text}");
        }
    }
}
