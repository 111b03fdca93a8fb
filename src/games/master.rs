//! List servers of games.

/// A server that lists the servers of a game.
///
/// ```
/// use queryport::games::{Master, MasterForm};
///
/// const MASTER: Master = Master::new(MasterForm::Long, "master.example.org:27950");
/// assert_eq!(MASTER.form.name(), "long");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Master {
    /// How it is asked.
    pub form: MasterForm,
    /// `HOST:PORT`.
    pub address: &'static str,
}

impl Master {
    /// A list server: `HOST:PORT`.
    #[must_use]
    pub const fn new(form: MasterForm, address: &'static str) -> Self {
        Self { form, address }
    }
}

/// How a list server is asked, and how it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MasterForm {
    /// Quake 3's `getservers NUMBER empty full` over UDP.
    Short,
    /// The same; the list has no end mark and ends by quiet.
    Unmarked,
    /// The same; addresses are twelve hexadecimal digits (Elite Force).
    Hexadecimal,
    /// Quake 3's `getserversExt GAME NUMBER empty full` over UDP: dpmaster and ioquake3's master.
    Long,
    /// GameSpy v1's list over TCP, see [`GameSpy1List`](crate::lists::GameSpy1List).
    GameSpy1,
    /// Unreal Engine 2's list over TCP, see [`Ut2004List`](crate::lists::Ut2004List).
    Ut2004,
    /// GameSpy v2's list over TCP, enciphered with [`Game::key`](super::Game::key), see
    /// [`GameSpy2List`](crate::lists::GameSpy2List).
    GameSpy2,
    /// `CoD4X`'s list over TCP, see [`Cod4xList`](crate::lists::Cod4xList).
    Cod4x,
}

impl MasterForm {
    /// A short name: `short`, `unmarked`, `hexadecimal`, `long`, `gamespy1`, `ut2004`, `gamespy2`, `cod4x`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Unmarked => "unmarked",
            Self::Hexadecimal => "hexadecimal",
            Self::Long => "long",
            Self::GameSpy1 => "gamespy1",
            Self::Ut2004 => "ut2004",
            Self::GameSpy2 => "gamespy2",
            Self::Cod4x => "cod4x",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::games::Game;

    /// `games --json` and reports name forms by these words.
    #[test]
    fn every_form_in_the_table_has_a_name_of_its_own() {
        let forms = Game::all().flat_map(|game| game.masters).map(|master| (master.form.name(), master.form));
        let mut named: Vec<(&str, String)> = forms.map(|(name, form)| (name, format!("{form:?}"))).collect();
        named.sort();
        named.dedup();
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        let all = ["cod4x", "gamespy1", "gamespy2", "hexadecimal", "long", "short", "unmarked", "ut2004"];
        assert_eq!(names, all, "{named:?}");
    }
}
