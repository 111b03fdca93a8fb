//! What to ask the list servers of a game.

use super::game::Game;
use super::game::{Master, MasterForm};
use crate::game_key::GameKey;
use crate::limits::Limits;
use crate::lists::{Cod4xList, GameSpy1List, GameSpy2List, ListRequest, Quake3List, Ut2004List};
use crate::quake3::master;

/// The public client that 333networks and OpenSpy let list any game, and its key (molycode/lookout-games,
/// protocols/gamespy1.lua; 333networks/Masterserver-Qt5, data/SupportedGames.json).
const LIST_CLIENT: (&str, &str) = ("gspylite", "mgNUaC");

impl Game {
    /// What to ask one of its list servers, in this order; nothing if the row lacks the name, number or key that it needs.
    ///
    /// ```
    /// use queryport::Limits;
    /// use queryport::games::Game;
    ///
    /// let game = Game::find("warsow")?;
    /// for master in game.masters {
    ///     println!("{}: {:?}", master.address, game.list_requests(master, &Limits::default()));
    /// }
    /// # Ok::<(), queryport::games::UnknownGame>(())
    /// ```
    #[must_use]
    pub fn list_requests(&self, master: &Master, limits: &Limits) -> Vec<ListRequest> {
        let number = self.numbers.first().map(|(number, _)| *number);
        let quake3 = |name: Option<&str>| {
            let request = |number| match name {
                Some(name) => master::ListRequest::extended(name.as_bytes(), number),
                None => master::ListRequest::new(number),
            };
            let list = |number| master::ListRequest { empty: true, full: true, ..request(number) };
            let lists = self.numbers.iter().map(|(number, _)| Quake3List::new(&list(*number), limits));
            lists.filter_map(Result::ok).map(ListRequest::from).collect()
        };
        let one = match master.form {
            MasterForm::Short | MasterForm::Unmarked | MasterForm::Hexadecimal => return quake3(None),
            MasterForm::Long => return self.gamename.map(|name| quake3(Some(name))).unwrap_or_default(),
            MasterForm::GameSpy1 => self.gamename.zip(GameKey::new(LIST_CLIENT.1).ok()).map(|(name, key)| {
                let login = LIST_CLIENT.0.to_owned();
                GameSpy1List { login, ..GameSpy1List::new(name, key) }.into()
            }),
            MasterForm::GameSpy2 => {
                self.gamename.zip(self.key).map(|(name, key)| GameSpy2List::new(name, key).into())
            }
            MasterForm::Ut2004 => number.map(|number| {
                let mut list = Ut2004List::ut2004();
                list.version = number.try_into().unwrap_or_default();
                list.into()
            }),
            MasterForm::Cod4x => number.map(|number| Cod4xList::new(number).into()),
        };
        one.into_iter().collect()
    }
}
