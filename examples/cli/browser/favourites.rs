//! The file of favourites: one `PROTOCOL HOST:PORT` or `GAME HOST:PORT` a line, which the example
//! `scan` reads too.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::target::{Identity, Target, of_line};

#[derive(Debug)]
pub(crate) struct Favourites {
    /// `None` without a home folder.
    path: Option<PathBuf>,
}

impl Favourites {
    /// `queryport/favourites` in the user's folder of settings, as the XDG base directory
    /// specification has it.
    pub(crate) fn of_user() -> Self {
        let variable = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let config =
            variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
        Self {
            path: config.map(|config| config.join("queryport").join("favourites")),
        }
    }

    #[cfg(test)]
    pub(crate) const fn at(path: PathBuf) -> Self {
        Self { path: Some(path) }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The favourites; none without a file. Lines that name no server are skipped.
    pub(crate) fn read(&self) -> io::Result<BTreeSet<Target>> {
        Ok(self
            .lines()?
            .iter()
            .filter_map(|line| target(line))
            .collect())
    }

    /// Adds or removes one line, and leaves all others as they are. The file is replaced whole: a
    /// full disk loses nothing.
    pub(crate) fn write(&self, favourite: &Target, is_favourite: bool) -> io::Result<()> {
        let path = self
            .path
            .as_ref()
            .ok_or_else(|| io::Error::other("there is no home folder"))?;
        let mut lines = self.lines()?;
        let identity = |(what, server): &Target| Identity::of(*what, server);
        lines.retain(|line| target(line).as_ref().map(identity) != Some(identity(favourite)));
        if is_favourite {
            lines.push(format!("{} {}", favourite.0, favourite.1).into_bytes());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let new = path.with_extension(format!("new-{}", std::process::id()));
        let written = write_lines(&new, &lines).and_then(|()| fs::rename(&new, path));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    /// The lines, in whatever character set.
    fn lines(&self) -> io::Result<Vec<Vec<u8>>> {
        let Some(path) = &self.path else {
            return Ok(Vec::new());
        };
        match fs::read(path) {
            Ok(text) => io::BufRead::split(&text[..], b'\n').collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// The server of a line; `None` if it names none.
fn target(line: &[u8]) -> Option<Target> {
    of_line(&String::from_utf8_lossy(line), None).ok()?
}

fn write_lines(path: &Path, lines: &[Vec<u8>]) -> io::Result<()> {
    let mut file = File::create(path)?;
    for line in lines {
        file.write_all(line)?;
        file.write_all(b"\n")?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use queryport::Protocol;

    use super::*;

    #[test]
    fn without_a_home_folder_there_are_no_favourites() {
        let favourites = Favourites { path: None };
        assert!(favourites.read().unwrap().is_empty());
        let favourite = (Protocol::Quake3.into(), "192.0.2.1:27960".to_owned());
        let error = favourites.write(&favourite, true).unwrap_err();
        assert_eq!(error.to_string(), "there is no home folder");
    }

    #[test]
    fn a_favourite_is_one_line_and_the_others_stay() {
        let folder =
            std::env::temp_dir().join(format!("queryport-favourites-{}", std::process::id()));
        let favourites = Favourites::at(folder.join("deep").join("favourites"));
        assert!(favourites.read().unwrap().is_empty());
        let first = (Protocol::Quake3.into(), "192.0.2.1:27960".to_owned());
        let second = (Protocol::Ut2004.into(), "example.org:7778".to_owned());
        favourites.write(&first, true).unwrap();
        let path = favourites.path().unwrap().to_owned();
        let text = fs::read(&path).unwrap();
        // A remark in Latin-1.
        let remark = b"# meine f\xfcnf\nnonsense here too\n";
        fs::write(&path, [&remark[..], &text].concat()).unwrap();
        favourites.write(&second, true).unwrap();
        favourites.write(&second, true).unwrap();
        assert_eq!(
            favourites.read().unwrap(),
            BTreeSet::from([first.clone(), second.clone()])
        );
        favourites.write(&first, false).unwrap();
        let left = fs::read(&path).unwrap();
        let expected = [&remark[..], b"ut2004 example.org:7778\n"].concat();
        assert_eq!(left, expected);
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "no other file is left"
        );
        fs::remove_dir_all(folder).unwrap();
    }
}
