//! Where the addresses come from.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_core::Stream;
use ipnet::IpNet;
use queryport::net::ScanTarget;
use tokio::sync::mpsc;

use super::command_line;
use super::output::Shared;
use super::target::{Target, What};
use crate::server_list::ServerList;

/// Which targets of a list are asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) exclude: Vec<IpNet>,
    /// One of this many parts.
    pub(crate) shard: Option<(u64, u64)>,
    /// Targets at the start of the list that an earlier scan has results for.
    pub(crate) skip: u64,
}

impl Filter {
    /// Whether the target with this number in the list is asked. Host names are not looked up for
    /// it.
    fn admits(&self, number: u64, target: &Target) -> bool {
        let (_, server) = target;
        let is_excluded = numeric_address(server).is_some_and(|ip| {
            self.exclude
                .iter()
                .any(|network| network.contains(&ip.to_canonical()))
        });
        let is_ours = self
            .shard
            .is_none_or(|(part, parts)| number % parts == part - 1);
        number >= self.skip && is_ours && !is_excluded
    }
}

/// The address of a server that is written in numbers, in every form that the resolver reads
/// without a look-up: `[::1]:27960`, `127.0.0.1`, and as in inet_aton `127.1`, `0x7f.1` and
/// `2130706433`.
fn numeric_address(server: &str) -> Option<IpAddr> {
    let (host, _) = command_line::split(server);
    let host = host.split('%').next()?;
    host.parse()
        .ok()
        .or_else(|| short_ipv4(host.trim_end_matches('.')).map(IpAddr::V4))
}

/// One to four numbers with dots; the last one fills the bytes that are left.
fn short_ipv4(host: &str) -> Option<Ipv4Addr> {
    let numbers: Option<Vec<u32>> = host.split('.').map(c_number).collect();
    let numbers = numbers?;
    let (last, first) = numbers.split_last()?;
    let bits_left = 32_u32.checked_sub(u32::try_from(first.len()).ok()? * 8)?;
    let fits = bits_left > 0 && u64::from(*last) < 1 << bits_left;
    if !fits || first.iter().any(|number| *number > 255) {
        return None;
    }
    let leading = first
        .iter()
        .zip([24, 16, 8])
        .map(|(number, shift)| number << shift);
    Some(Ipv4Addr::from(leading.sum::<u32>() | last))
}

/// A number as C writes it: decimal, octal after `0`, hexadecimal after `0x`.
fn c_number(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let is_number = lower.starts_with(|c: char| c.is_ascii_digit()) && !lower.contains('+');
    let number = match lower.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None if lower.len() > 1 && lower.starts_with('0') => u32::from_str_radix(&lower, 8),
        None => lower.parse(),
    };
    number.ok().filter(|_| is_number)
}

/// Targets that were handed to the scan, by the number the scan gives them, until their results are
/// here.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    /// How many were handed over.
    pub(crate) handed: u64,
    targets: BTreeMap<u64, (u64, Target)>,
    /// How far the list was read.
    pub(crate) read: u64,
    /// Whether that is its end.
    pub(crate) is_read: bool,
}

impl UnderWay {
    /// Takes out the target of a result.
    pub(crate) fn remove(&mut self, index: u64) -> Option<Target> {
        self.targets.remove(&index).map(|(_, target)| target)
    }

    /// How many targets at the start of the list have their results.
    pub(crate) fn finished(&self) -> u64 {
        self.targets
            .first_key_value()
            .map_or(self.read, |(_, (number, _))| *number)
    }
}

/// Targets as they are read.
#[derive(Debug)]
pub(crate) struct Targets {
    lines: mpsc::Receiver<Target>,
    filter: Filter,
    under_way: Arc<Mutex<UnderWay>>,
}

impl Targets {
    pub(crate) fn new(
        lines: mpsc::Receiver<Target>,
        filter: Filter,
        under_way: Arc<Mutex<UnderWay>>,
    ) -> Self {
        Self {
            lines,
            filter,
            under_way,
        }
    }
}

impl Stream for Targets {
    type Item = ScanTarget;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ScanTarget>> {
        loop {
            let next = std::task::ready!(self.lines.poll_recv(cx));
            let mut under_way = self
                .under_way
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            let Some(target) = next else {
                under_way.is_read = true;
                return Poll::Ready(None);
            };
            let number = under_way.read;
            under_way.read += 1;
            if self.filter.admits(number, &target) {
                let index = under_way.handed;
                under_way.handed += 1;
                under_way.targets.insert(index, (number, target.clone()));
                return Poll::Ready(Some(target.0.target(&target.1)));
            }
        }
    }
}

/// Reads a file, or standard input for `-`, in a thread of its own, because a read blocks and a
/// list may never end.
pub(crate) fn from_file(
    path: &Path,
    usual: What,
    output: &Shared,
) -> std::io::Result<mpsc::Receiver<Target>> {
    if path == Path::new("-") {
        command_line::explain_input("servers, one a line,");
    }
    let list = ServerList::open(path, Some(usual))?;
    let (sender, receiver) = mpsc::channel(1024);
    let output = output.clone();
    std::thread::spawn(move || {
        for target in list {
            match target {
                Ok(target) => {
                    if sender.blocking_send(target).is_err() {
                        break;
                    }
                }
                Err(why) => output.lock().reject(&why),
            }
        }
    });
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_skips_targets_at_the_start_and_takes_its_part() {
        let target = (queryport::Protocol::Quake3.into(), "192.0.2.1".to_owned());
        let admitted = |filter: Filter| -> Vec<u64> {
            (0..8)
                .filter(|number| filter.admits(*number, &target))
                .collect()
        };
        let skip = Filter {
            skip: 3,
            ..Filter::default()
        };
        assert_eq!(admitted(skip), [3, 4, 5, 6, 7]);
        let shard = Filter {
            shard: Some((2, 3)),
            ..Filter::default()
        };
        assert_eq!(admitted(shard), [1, 4, 7]);
    }

    #[test]
    fn an_address_is_excluded_in_every_form_of_it() {
        let loopback = [
            "127.0.0.1",
            "127.0.0.1:27960",
            "127.1",
            "127.1:27960",
            "127.0.1",
            "2130706433",
            "0x7f000001:27960",
            "0177.0.0.1",
            "127.0.0.1.",
        ];
        for text in loopback {
            assert_eq!(
                numeric_address(text),
                Some(Ipv4Addr::LOCALHOST.into()),
                "{text}"
            );
        }
        for text in ["::1", "[::1]", "[::1]:27960"] {
            let ip = numeric_address(text);
            assert!(
                ip.is_some_and(|ip| ip.is_ipv6() && ip.is_loopback()),
                "{text}"
            );
        }
        for text in [
            "example.org",
            "256.1.1.1",
            "1.2.3.4.5",
            "4294967296",
            "08",
            "",
            "1..2",
            "face.b00c",
        ] {
            assert_eq!(numeric_address(text), None, "{text}");
        }
    }
}
