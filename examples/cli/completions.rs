//! Scripts that complete commands, options, games and protocols in a shell.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use queryport::Protocol;
use queryport::games::Game;

use super::{Program, command_line, embedded};

/// The words that an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Games,
    Protocols,
    GamesAndProtocols,
    /// Protocols, and the games of embedded servers.
    Served,
    /// Games; the path of a file is as good.
    GamesOrFiles,
}

/// A command, its argument, and the words of that.
const ARGUMENTS: &[(&str, &str, Words)] = &[
    ("query", "what", Words::GamesAndProtocols),
    ("query", "lan", Words::Games),
    ("scan", "list", Words::GamesOrFiles),
    ("scan", "protocol", Words::Protocols),
    #[cfg(feature = "browser")]
    ("browser", "list", Words::GamesOrFiles),
    #[cfg(feature = "browser")]
    ("browser", "protocol", Words::Protocols),
    ("monitor", "servers", Words::GamesAndProtocols),
    ("monitor", "game", Words::Games),
    ("serve", "served", Words::Served),
    ("games", "games", Words::Games),
    ("games", "protocol", Words::Protocols),
    ("master list", "game", Words::Games),
];

impl Words {
    fn all(self) -> Vec<&'static str> {
        let games = || Game::all().map(|game| game.id);
        let protocols = Protocol::ALL.map(Protocol::as_str);
        match self {
            Self::Games | Self::GamesOrFiles => games().collect(),
            Self::Protocols => protocols.to_vec(),
            Self::GamesAndProtocols => protocols.into_iter().chain(games()).collect(),
            Self::Served => {
                let worlds = embedded::worlds();
                let games = worlds.iter().map(|world| world.game);
                protocols.into_iter().chain(games).collect()
            }
        }
    }
}

pub(crate) fn start(shell: Shell) -> ExitCode {
    let written = io::stdout().write_all(script(shell).as_bytes());
    command_line::exit(written.map(|()| ExitCode::SUCCESS).map_err(Into::into))
}

fn script(shell: Shell) -> String {
    let mut command = with_all_words();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "queryport", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Fish => script + &arguments_of_fish(&command),
        Shell::Zsh => with_files_in_zsh(script),
        _ => script,
    }
}

/// The program's command, whose arguments complete their words.
fn with_all_words() -> Command {
    let mut command = Program::command();
    for &(name, argument, words) in ARGUMENTS {
        command = with_words(command, name, argument, &words.all());
    }
    command
}

/// The command whose subcommand of this name, such as `master list`, completes an argument with
/// these words.
fn with_words(command: Command, name: &str, argument: &str, words: &[&'static str]) -> Command {
    let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
    if first.is_empty() {
        // `mut_arg` would move the argument after the others.
        return command.mut_args(|found| match found.get_id() == argument {
            true => found.value_parser(PossibleValuesParser::new(words)),
            false => found,
        });
    }
    command.mut_subcommand(first, |command| with_words(command, rest, argument, words))
}

/// Fish completes arguments too. The generator writes options only.
fn arguments_of_fish(command: &Command) -> String {
    let mut script = String::new();
    for &(name, argument, words) in ARGUMENTS {
        let mut names = name.split(' ');
        let command = names.try_fold(command, |command, name| command.find_subcommand(name));
        let mut positionals = command.into_iter().flat_map(Command::get_positionals);
        if !positionals.any(|positional| positional.get_id() == argument) {
            continue;
        }
        let used = name.replace(' ', "; and __fish_seen_subcommand_from ");
        let no_files = if words == Words::GamesOrFiles {
            ""
        } else {
            " -f"
        };
        let words = words.all().join(" ");
        script += &format!(
            "complete -c queryport -n \"__fish_queryport_using_subcommand {used}\"{no_files} -a \"{words}\"\n"
        );
    }
    script
}

/// In zsh, an argument with words completes nothing else.
fn with_files_in_zsh(script: String) -> String {
    let games = format!("({})", Words::GamesOrFiles.all().join(" "));
    let either = format!("{{_alternative \"games:game:{games}\" \"files:file:_files\"}}");
    let with_files = |line: &str| {
        let is_list = line.starts_with("'::list ");
        let line = if is_list {
            line.replace(&games, &either)
        } else {
            line.to_owned()
        };
        line + "\n"
    };
    script.lines().map(with_files).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_and_protocols_are_words_of_every_shell_that_has_arguments() {
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            let script = script(shell);
            for word in ["openarena", "unrealtournament2004", "gamespy4"] {
                let times = script.matches(word).count();
                assert!(times >= 4, "{shell}: {word} {times} times");
            }
        }
    }
}
