//! Pseudo-terminals, for programs that behave differently on a terminal.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Opens a terminal that does not control this process.
const O_NOCTTY: i32 = 0o400;

/// A pseudo-terminal.
pub struct Terminal {
    /// The test's end: it writes what is typed, and reads what the program shows.
    pub keys: File,
    /// The program's end.
    pub line: File,
}

/// Opens a terminal of this size.
pub fn open(columns: u16, rows: u16) -> Terminal {
    let keys = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&keys).unwrap();
    unlockpt(&keys).unwrap();
    let line = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(O_NOCTTY)
        .open(path(&keys))
        .unwrap();
    resize(&line, columns, rows);
    Terminal {
        // A child does not inherit the copy, and so does not keep the terminal open.
        keys: keys.try_clone().unwrap(),
        line,
    }
}

/// The path of the program's end.
pub fn path(keys: &File) -> String {
    ptsname(keys, Vec::new()).unwrap().into_string().unwrap()
}

/// Changes the size of a terminal.
pub fn resize(line: &File, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(line, size).unwrap();
}
