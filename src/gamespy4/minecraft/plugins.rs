//! The value of the key `plugins`.

use super::style::STYLE;
use crate::model::TextRef;

/// `CraftBukkit on Bukkit 1.8: WorldEdit 6.0; Vault 1.5`: the server's software, then its plugins. Any part may be
/// missing.
///
/// ```
/// use queryport::gamespy4::minecraft::Plugins;
///
/// let plugins = Plugins::parse(b"CraftBukkit on Bukkit 1.8: WorldEdit 6.0; Vault 1.5");
/// assert_eq!(plugins.software, "CraftBukkit on Bukkit 1.8");
/// let list: Vec<_> = plugins.list().map(|(name, version)| format!("{name}|{version}")).collect();
/// assert_eq!(list, ["WorldEdit|6.0", "Vault|1.5"]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plugins<'a> {
    /// The software with its version, in its own words; empty where the server hides it.
    pub software: TextRef<'a>,
    list: &'a [u8],
}

impl<'a> Plugins<'a> {
    /// Reads the value of the key `plugins`.
    #[must_use]
    pub fn parse(value: &'a [u8]) -> Self {
        let colon = memchr::memmem::find(value, b": ");
        let (software, list) = value.split_at_checked(colon.unwrap_or(value.len())).unwrap_or_default();
        Self { software: TextRef::new(software, STYLE), list: list.get(2..).unwrap_or_default() }
    }

    /// Name and version of each plugin; the version is what follows the first blank and may be empty.
    pub fn list(self) -> impl Iterator<Item = (TextRef<'a>, TextRef<'a>)> {
        let plugins = self.list.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        plugins.filter(|plugin| !plugin.is_empty()).map(|plugin| {
            let blank = memchr::memchr(b' ', plugin).unwrap_or(plugin.len());
            let (name, version) = plugin.split_at_checked(blank).unwrap_or_default();
            (TextRef::new(name, STYLE), TextRef::new(version.trim_ascii_start(), STYLE))
        })
    }
}
