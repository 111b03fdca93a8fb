//! The lists of one query: their replies, and the proof that they are complete.
//!
//! A list has no count, no numbers and no end mark. Three facts can prove one:
//!
//! - Players: at least as many are listed as the info counts. Rows with number 0 do not count, nor
//!   do spectators where the teams of the others show them.
//! - Rules: one datagram of at most [`FLUSH_LENGTH`] bytes begins with the stock game's first rule.
//! - Either: two replies have the same entries, and one of them has a datagram of at most
//!   [`FLUSH_LENGTH`] bytes. No reply has more entries, and a reply between the two has no others.
//!   A list without such a datagram looks like one whose last datagrams never arrive.
//!
//! The info does not count spectators. So where it counts nobody, an empty list of players still
//! needs a second reply in two cases: the rules are requested again anyway, or the first reply was
//! silence.
//!
//! The last reply is the list. Replies are never merged: a datagram of another moment can
//! contradict the rest. Where nothing proves a list, its largest reply is the answer, and the end
//! of it counts as missing.

use super::engines::SERVER_MODE;
use super::wire::lists::{
    Entries, FLUSH_LENGTH, PLAYERS, PlayerList, PlayerRecord, RULES, RuleList,
};
use super::wire::{Body, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::MissingParts;

/// Most replies to one list. Some real lists change with every reply.
const MAX_REPLIES: usize = 3;

/// The info record and both lists.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    pub(super) info: Option<Vec<u8>>,
    /// Players as the server counts them; `None` before the info, and for a negative number.
    pub(super) count: Option<usize>,
    pub(super) rules: List,
    pub(super) players: List,
}

/// The replies to the requests for one list.
#[derive(Debug, Clone)]
pub(super) struct List {
    kind: Kind,
    pub(super) state: State,
    /// The reply to the current request.
    reply: Reply,
    /// The replies before it, oldest first.
    earlier: Vec<Reply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rules,
    Players,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    NotAsked,
    Asked,
    Proved,
    /// Requested as often as allowed, and not proved.
    GivenUp,
    /// Longer than the limits allow.
    OverLimit,
}

/// The part that an answer lacks of a list.
enum Missing {
    Nothing,
    End,
    Part,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            info: None,
            count: None,
            rules: List::new(Kind::Rules),
            players: List::new(Kind::Players),
        }
    }
}

impl Lists {
    /// Takes a datagram of a requested list, or the info if it is awaited.
    ///
    /// # Errors
    /// That of the datagram. After [`ParseErrorKind::Limit`], the list takes no more.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
        awaits_info: bool,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        match datagram.get(4) {
            Some(&RULES) if self.rules.state != State::NotAsked => {
                self.take_part(datagram, Kind::Rules, limits)
            }
            Some(&PLAYERS) if self.players.state != State::NotAsked => {
                self.take_part(datagram, Kind::Players, limits)
            }
            _ => self.take_info(datagram, awaits_info, limits),
        }
    }

    fn take_info(
        &mut self,
        datagram: &[u8],
        is_awaited: bool,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        match Response::parse(datagram, limits)?.body {
            Body::Info(info) if is_awaited => {
                self.info = Some(datagram.to_vec());
                self.count = usize::try_from(info.current_players).ok();
                Ok(())
            }
            _ => {
                let kind = ParseErrorKind::Unexpected("the reply asked for");
                Err(ParseError::new(kind, 4))
            }
        }
    }

    fn take_part(
        &mut self,
        datagram: &[u8],
        kind: Kind,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        let size = self.size().plus(datagram.len());
        let list = match kind {
            Kind::Rules => &mut self.rules,
            Kind::Players => &mut self.players,
        };
        if list.state != State::Asked || list.reply.has(datagram) {
            return Response::parse(datagram, limits).map(drop);
        }
        let taken = list.take(datagram, size, limits);
        if let Err(error) = &taken
            && matches!(error.kind, ParseErrorKind::Limit { .. })
        {
            list.state = State::OverLimit;
        }
        taken
    }

    /// The datagrams that have arrived for the current requests, and their bytes.
    fn size(&self) -> Size {
        let info = self.info.as_ref().map(Vec::len);
        let datagrams = [&self.rules, &self.players]
            .into_iter()
            .flat_map(|list| &list.reply.datagrams);
        let lengths = datagrams.map(|part| part.bytes.len());
        lengths.chain(info).fold(Size::default(), Size::plus)
    }

    /// The parts of the answer that are missing, the info aside.
    pub(super) fn missing(&self) -> MissingParts {
        let rules = self.rules.missing(None);
        let players = self.players.missing(self.count);
        MissingParts {
            rules: matches!(rules, Missing::Part),
            players: matches!(players, Missing::Part),
            end: matches!(rules, Missing::End) || matches!(players, Missing::End),
            ..MissingParts::NOTHING
        }
    }

    /// Ends the only replies to an unknown request. Rules show that players were requested too.
    pub(super) fn end_only_replies(&mut self) {
        if !self.rules.is_silent() {
            self.players.set_answered();
        }
        self.rules.reply.keep_first_versions();
        self.players.reply.keep_first_versions();
        self.rules.end_reply(None);
        self.players.end_reply(self.count);
    }

    /// Whether a datagram of a list has arrived.
    pub(super) fn have_begun(&self) -> bool {
        self.rules.has_begun() || self.players.has_begun()
    }
}

/// Datagrams and their bytes.
#[derive(Clone, Copy, Default)]
struct Size {
    datagrams: usize,
    bytes: usize,
}

impl Size {
    const fn plus(self, bytes: usize) -> Self {
        Self {
            datagrams: self.datagrams.saturating_add(1),
            bytes: self.bytes.saturating_add(bytes),
        }
    }

    fn check(self, limits: &Limits) -> Result<(), ParseError> {
        bound(self.datagrams, limits.max_fragments(), "datagrams")?;
        bound(self.bytes, limits.max_answer_bytes(), "bytes of one answer")
    }
}

/// An error where there is more of `what` than a limit allows.
fn bound(size: usize, max: usize, what: &'static str) -> Result<(), ParseError> {
    if size > max {
        Err(ParseError::limit(what, max, 0))
    } else {
        Ok(())
    }
}

impl List {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            state: State::NotAsked,
            reply: Reply::default(),
            earlier: Vec::new(),
        }
    }

    /// Notes that a request for the list is sent.
    pub(super) fn ask(&mut self) {
        if self.state == State::NotAsked {
            self.state = State::Asked;
        }
    }

    /// Ends a reply that was silence: an empty list has no datagram. The first such reply may be a
    /// loss.
    pub(super) fn end_empty_reply(&mut self, count: Option<usize>) {
        self.set_answered();
        self.end_reply(count);
        self.ask_again_if_empty();
    }

    pub(super) const fn give_up(&mut self) {
        self.state = State::GivenUp;
    }

    /// Whether a reply is awaited or still to be requested.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::NotAsked | State::Asked)
    }

    /// Whether nothing has arrived for the current request.
    pub(super) const fn is_silent(&self) -> bool {
        self.reply.is_silent()
    }

    /// Whether no reply had an entry.
    pub(super) fn is_empty(&self) -> bool {
        self.replies().all(|reply| reply.entries() == 0)
    }

    fn has_begun(&self) -> bool {
        let is_over = self.state == State::OverLimit;
        is_over || self.replies().any(|reply| !reply.is_silent())
    }

    /// Datagrams of another list came in the same reply: this one may be empty.
    pub(super) const fn set_answered(&mut self) {
        self.reply.is_answered = true;
    }

    /// Whether the current reply looks whole, so that only a late datagram could follow.
    pub(super) fn looks_whole(&self, count: Option<usize>) -> bool {
        let entries = self.reply.entries();
        let has_as_many = |earlier: &Reply| earlier.entries() == entries;
        self.proves_itself(count) || self.earlier.iter().any(has_as_many)
    }

    /// Ends the current reply, if something has arrived. The list is then proved, is given up, or
    /// needs another reply.
    pub(super) fn end_reply(&mut self, count: Option<usize>) {
        if self.state != State::Asked || self.is_silent() {
            return;
        }
        let is_repeated = self.is_repeated();
        if self.proves_itself(count) || (is_repeated && self.reply.is_ended()) {
            self.state = State::Proved;
        } else if is_repeated || self.replies().count() >= MAX_REPLIES {
            self.state = State::GivenUp;
        } else {
            self.earlier.push(std::mem::take(&mut self.reply));
        }
    }

    fn take(&mut self, datagram: &[u8], size: Size, limits: &Limits) -> Result<(), ParseError> {
        let part = Datagram::read(datagram, limits)?;
        size.check(limits)?;
        self.check_entries(part.entries, limits)?;
        self.reply.datagrams.push(part);
        Ok(())
    }

    /// Opens an empty list again, once: a datagram of spectators may have been lost.
    pub(super) fn ask_again_if_empty(&mut self) {
        if self.state == State::Proved && self.earlier.is_empty() && self.is_empty() {
            self.earlier.push(std::mem::take(&mut self.reply));
            self.state = State::Asked;
        }
    }

    /// Whether the bytes of the current reply, or the server's count of players, show that nothing
    /// of it is missing.
    fn proves_itself(&self, count: Option<usize>) -> bool {
        match self.kind {
            Kind::Rules => self.reply.is_stock_rules(),
            Kind::Players => count.is_some_and(|count| self.reply.has_counted(count)),
        }
    }

    /// Whether the current reply has the same entries as an earlier one, and no reply had more. A
    /// reply between the two may only lack entries: a datagram of it was lost.
    fn is_repeated(&self) -> bool {
        if self.earlier.is_empty() || !self.reply.is_sound() {
            return false;
        }
        let entries = self.reply.sorted_entries();
        let worth = self.reply.worth();
        let is_same = |earlier: &Reply| earlier.sorted_entries() == entries;
        let is_contained = |earlier: &Reply| has_names_of(&entries, &earlier.sorted_entries());
        let Some(same_at) = self.earlier.iter().rposition(is_same) else {
            return false;
        };
        self.earlier.iter().all(|earlier| earlier.worth() <= worth)
            && self.earlier.iter().skip(same_at).all(is_contained)
    }

    fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.earlier.iter().chain([&self.reply])
    }

    /// An error where the current reply and these entries exceed the limits.
    fn check_entries(&self, new: usize, limits: &Limits) -> Result<(), ParseError> {
        let entries = self.reply.entries().saturating_add(new);
        match self.kind {
            Kind::Rules => bound(entries, limits.max_rules(), "rules"),
            Kind::Players => bound(entries, limits.max_players(), "players"),
        }
    }

    fn missing(&self, count: Option<usize>) -> Missing {
        match self.state {
            State::Proved => return Missing::Nothing,
            State::OverLimit => return Missing::Part,
            State::NotAsked | State::Asked | State::GivenUp => {}
        }
        let answered = self.replies().filter(|reply| !reply.is_silent());
        let Some(best) = answered.max_by_key(|reply| reply.worth()) else {
            return Missing::Part;
        };
        let has_all_known = match count {
            Some(count) => best.counted() >= count,
            None => !best.datagrams.is_empty(),
        };
        if has_all_known && best.is_uncut() {
            Missing::End
        } else {
            Missing::Part
        }
    }

    /// The datagrams of the answer: of the last reply where it is proved, else of the largest.
    pub(super) fn into_datagrams(self) -> Vec<Datagram> {
        if self.state == State::Proved {
            return self.reply.datagrams;
        }
        let replies = self.earlier.into_iter().chain([self.reply]);
        let best = replies.max_by_key(Reply::worth);
        best.unwrap_or_default().datagrams
    }
}

/// The datagrams of one reply, in order of arrival.
#[derive(Debug, Clone, Default)]
struct Reply {
    datagrams: Vec<Datagram>,
    /// Whether something has arrived for a request that included this list.
    is_answered: bool,
}

impl Reply {
    fn has(&self, datagram: &[u8]) -> bool {
        self.datagrams.iter().any(|part| part.bytes == datagram)
    }

    const fn is_silent(&self) -> bool {
        self.datagrams.is_empty() && !self.is_answered
    }

    fn entries(&self) -> usize {
        self.datagrams.iter().map(|part| part.entries).sum()
    }

    /// Larger is better as an answer. One with parts of two replies can have players twice.
    fn worth(&self) -> (bool, usize) {
        let entries = self.entries();
        (entries > 0 && !self.is_mixed(), entries)
    }

    /// Keeps the first version of each datagram, where several replies were captured.
    fn keep_first_versions(&mut self) {
        let mut kept: Vec<Datagram> = Vec::new();
        for part in std::mem::take(&mut self.datagrams) {
            if !kept.iter().any(|earlier| part.is_version_of(earlier)) {
                kept.push(part);
            }
        }
        self.datagrams = kept;
    }

    /// Whether it has a datagram that can be the last, or none at all.
    fn is_ended(&self) -> bool {
        self.datagrams.is_empty() || self.datagrams.iter().any(Datagram::is_end)
    }

    /// Whether its one datagram begins and ends the rules, as those of the stock game do.
    fn is_stock_rules(&self) -> bool {
        match self.datagrams.as_slice() {
            [only] => only.is_first() && only.is_end() && !only.is_cut,
            _ => false,
        }
    }

    /// Whether it lists as many players as the server counts.
    fn has_counted(&self, count: usize) -> bool {
        self.counted() >= count && self.is_sound()
    }

    /// Players whom the server counts.
    fn counted(&self) -> usize {
        let players = || self.players().filter(|player| player.player_num != 0);
        let in_teams = players().filter(|player| player.team().is_some()).count();
        if in_teams > 0 {
            in_teams
        } else {
            players().count()
        }
    }

    fn players(&self) -> impl Iterator<Item = PlayerRecord<'_>> {
        self.datagrams.iter().flat_map(Datagram::players)
    }

    /// Whether it is one reply and has no cut datagram.
    fn is_sound(&self) -> bool {
        self.is_uncut() && !self.is_mixed()
    }

    fn is_uncut(&self) -> bool {
        !self.datagrams.iter().any(|part| part.is_cut)
    }

    /// Whether it has datagrams of two replies: two last ones, or a player in two of them.
    fn is_mixed(&self) -> bool {
        let ends = self.datagrams.iter().filter(|part| part.is_end()).count();
        ends > 1 || self.has_player_twice()
    }

    /// Whether a player is in two datagrams.
    fn has_player_twice(&self) -> bool {
        let mut players = Vec::new();
        for part in &self.datagrams {
            let mut of_part: Vec<_> = part.players().map(Entry::identity).collect();
            of_part.sort_unstable();
            of_part.dedup();
            players.extend(of_part);
        }
        players.sort_unstable();
        players.windows(2).any(|pair| pair.first() == pair.last())
    }

    /// The entries as two replies are compared: sorted, because datagrams overtake each other, and
    /// without values, pings and scores, which change at any time. Rules of one name, such as
    /// mutators, keep their values.
    fn sorted_entries(&self) -> Vec<Entry<'_>> {
        let rules = self.datagrams.iter().flat_map(Datagram::rules);
        let players = self.players().map(|player| Entry {
            number: player.player_num,
            name: player.name.raw(),
            value: &[],
        });
        let mut entries: Vec<_> = rules.chain(players).collect();
        entries.sort_unstable();
        let is_same_name = |a: &Entry<'_>, b: &Entry<'_>| (a.number, a.name) == (b.number, b.name);
        for same in entries.chunk_by_mut(is_same_name) {
            if let [only] = same {
                only.value = &[];
            }
        }
        entries
    }
}

/// A rule by its name and value, or a player by number and name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry<'a> {
    number: i32,
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Entry<'a> {
    /// A player by number, and by name where all players have the number 0.
    fn identity(player: PlayerRecord<'a>) -> Self {
        let name = if player.player_num == 0 {
            player.name.raw()
        } else {
            &[]
        };
        Self {
            number: player.player_num,
            name,
            value: &[],
        }
    }
}

/// Whether sorted entries have every number and name of others.
fn has_names_of(entries: &[Entry<'_>], others: &[Entry<'_>]) -> bool {
    let has = |other: &Entry<'_>| {
        let order = |entry: &Entry<'_>| (entry.number, entry.name).cmp(&(other.number, other.name));
        entries.binary_search_by(order).is_ok()
    };
    others.iter().all(has)
}

/// One datagram of a list.
#[derive(Debug, Clone)]
pub(super) struct Datagram {
    pub(super) bytes: Vec<u8>,
    /// Whole entries in it.
    pub(super) entries: usize,
    is_cut: bool,
}

impl Datagram {
    fn read(datagram: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        let response = Response::parse(datagram, limits)?;
        let entries = match response.body {
            Body::Rules(RuleList(entries)) | Body::Players(PlayerList(entries)) => entries.count,
            Body::Info(_) | Body::SmallPing(_) => 0,
        };
        Ok(Self {
            bytes: datagram.to_vec(),
            entries,
            is_cut: response.is_cut(),
        })
    }

    /// Whether it is short enough to be the last of its list.
    pub(super) const fn is_end(&self) -> bool {
        self.bytes.len() <= FLUSH_LENGTH
    }

    /// Whether it begins with the first rule of the stock game.
    pub(super) fn is_first(&self) -> bool {
        let first = self.rules().next();
        first.is_some_and(|rule| rule.name.eq_ignore_ascii_case(SERVER_MODE.as_bytes()))
    }

    pub(super) fn players(&self) -> impl Iterator<Item = PlayerRecord<'_>> {
        PlayerList(Entries::of(&self.bytes, PLAYERS, self.entries)).iter()
    }

    pub(super) fn player_numbers(&self) -> impl Iterator<Item = i32> {
        self.players().map(|player| player.player_num)
    }

    fn rules(&self) -> impl Iterator<Item = Entry<'_>> {
        let rules = RuleList(Entries::of(&self.bytes, RULES, self.entries));
        rules.iter().map(|(name, value)| Entry {
            number: 0,
            name: name.raw(),
            value: value.raw(),
        })
    }

    /// Whether both are the same part of a list at two times. They begin with the same entry, or
    /// both are the end, with rules of the same names.
    fn is_version_of(&self, other: &Self) -> bool {
        let first_rule = self.rules().next();
        let first_player = self.players().next().map(Entry::identity);
        let has_first_rule = first_rule.is_some() && first_rule == other.rules().next();
        let has_first_player =
            first_player.is_some() && first_player == other.players().next().map(Entry::identity);
        let names = self.rules().map(|rule| rule.name);
        let has_same_names = first_rule.is_some() && names.eq(other.rules().map(|rule| rule.name));
        let are_ends = self.is_end() && other.is_end();
        has_first_rule || has_first_player || (are_ends && has_same_names)
    }
}
