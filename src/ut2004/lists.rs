//! The lists of one query, and the table that decides when they are complete.
//!
//! The [module](super) explains the table of [`Lists::decide`]. Replies are never merged: a
//! datagram of another moment can contradict the rest.

use super::list_reply::{Datagram, Facts, ListReply, Relation, Size};
use super::wire::lists::{PLAYERS, RULES, TYPE_AT};
use super::wire::{Body, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::MissingParts;

/// The error for a datagram that does not answer the request.
pub(super) const UNEXPECTED: ParseError =
    ParseError::new(ParseErrorKind::Unexpected("the reply asked for"), TYPE_AT);

/// How often both lists are requested. Some servers change them with every reply.
const MAX_ROUNDS: u8 = 5;

/// The minimum number of people in a full datagram whose names have 20 bytes at most: twelve rows,
/// of which two can be scores of teams.
const MIN_FULL_ROWS: usize = 10;

/// The info record and both lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    /// The newest info record.
    pub(super) info: Option<Datagram>,
    /// Players as the server counts them; `None` before the info, and for a negative number.
    player_count: Option<usize>,
    /// Whether the info is the same as the one before.
    is_same_info: bool,
    pub(super) rules: List,
    pub(super) players: List,
    /// Whether each list has a request of its own.
    pub(super) is_separate: bool,
    /// How often the lists were requested.
    rounds: u8,
}

/// The replies to the requests for one list.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    /// The reply to the current request. After its end, only a reply that was not taken over.
    reply: ListReply,
    /// Whether the reply has not ended.
    is_awaited: bool,
    /// Whether the request has arrived: a list without a datagram is empty.
    is_answered: bool,
    /// Whether this round has not requested it.
    is_due: bool,
    /// The newest reply that lacks nothing of the one before.
    best: ListReply,
    /// What `best` shows.
    facts: Facts,
    /// How many replies have the entries of `best`: 0 if it proves nothing.
    equal_replies: u8,
    /// Whether the newest reply has other entries than the one before.
    is_new: bool,
    moment: Moment,
    /// Whether the list is requested no more: it is longer than the limits allow, or its requests
    /// get no reply.
    pub(super) is_over: bool,
}

/// When the best reply came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Moment {
    /// Before the info.
    #[default]
    Before,
    /// Before the info, and a later reply lacks entries of it.
    Doubted,
    /// After it.
    After,
    /// Before and after the info, with the same bytes.
    Copied,
    /// Between two equal infos.
    Enclosed,
}

/// How many equal replies prove a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Proof {
    /// Nothing can be missing.
    Once = 1,
    /// A datagram in the middle of the rules can be missing.
    Twice = 2,
    /// Any datagram can be missing.
    Thrice = 3,
    /// The first rule of every stock game is missing.
    FourTimes = 4,
    /// Something is missing, however many replies are equal.
    Never = u8::MAX,
}

/// The next step of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Complete,
    AskInfo,
    AskLists,
    /// The answer stays incomplete.
    End,
}

/// The kind of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    Info,
    Lists,
}

impl Lists {
    /// Ends the awaited replies, and decides on the next step.
    pub(super) fn end(&mut self, ended: Reply) -> Decision {
        self.end_lists();
        if ended == Reply::Info {
            for list in [&mut self.rules, &mut self.players] {
                if self.is_same_info {
                    list.confirm_moment();
                } else {
                    list.restart();
                }
            }
        }
        self.decide(ended)
    }

    /// The table of the module's documentation: the first row that fits decides.
    fn decide(&self, ended: Reply) -> Decision {
        let (rules, players) = (self.rules_proof(), self.players_proof());
        let are_proved = self.rules.is_proved(rules) && self.players.is_proved(players);
        let lacks_players = players == Proof::Never;
        let is_new = self.rules.is_new || self.players.is_new;
        if self.rules.is_over || self.players.is_over {
            return Decision::End; // Row 1.
        }
        if self.is_complete() {
            return Decision::Complete; // Row 2.
        }
        if ended == Reply::Lists && (are_proved || is_new || lacks_players) {
            return Decision::AskInfo; // Row 3.
        }
        if lacks_players && self.players.is_repeated() {
            return Decision::End; // Row 4.
        }
        if self.rounds < MAX_ROUNDS {
            Decision::AskLists // Row 5.
        } else {
            Decision::End // Row 6.
        }
    }

    fn is_complete(&self) -> bool {
        let (rules, players) = (self.rules.moment, self.players.moment);
        // A list of before the info and one of after it are not of one moment.
        let is_mixed = matches!(
            (rules, players),
            (Moment::Before, Moment::Enclosed)
                | (Moment::Enclosed, Moment::Before | Moment::Doubted)
        );
        !is_mixed && self.are_rules_settled() && self.are_players_settled()
    }

    /// Whether the rules are proved and of the info's moment.
    fn are_rules_settled(&self) -> bool {
        let proof = self.rules_proof();
        // One reply came before the info, so those rules are proved only if one is enough.
        let is_of_info = match self.rules.moment {
            Moment::Before | Moment::Copied | Moment::Enclosed => true,
            Moment::Doubted | Moment::After => false,
        };
        self.rules.is_proved(proof) && is_of_info
    }

    /// Whether the players are proved and of the info's moment.
    fn are_players_settled(&self) -> bool {
        let proof = self.players_proof();
        // As in `are_rules_settled`.
        let is_of_info = match self.players.moment {
            Moment::Before | Moment::Doubted => self.are_counted(),
            Moment::After => false,
            Moment::Copied | Moment::Enclosed => true,
        };
        self.players.is_proved(proof) && is_of_info
    }

    /// Whether the players are exactly those that the info counts. A count of 0 can be that of the
    /// next map, which begins without players, and one with bots can be less by those who left.
    fn are_counted(&self) -> bool {
        let has_bots = self.rules.facts.has_bots();
        let counted = self.player_count.filter(|count| *count > 0 && !has_bots);
        counted.is_some_and(|count| self.players.facts.playing() == Some(count))
    }

    const fn rules_proof(&self) -> Proof {
        rules_proof(&self.rules.facts)
    }

    fn players_proof(&self) -> Proof {
        players_proof(&self.players.facts, &self.rules.facts, self.player_count)
    }

    /// Begins a round of requests for both lists.
    pub(super) const fn begin_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
        self.rules.is_due = true;
        self.players.is_due = true;
    }

    /// Whether this round has not requested both lists.
    pub(super) const fn is_round_open(&self) -> bool {
        self.rules.is_due || self.players.is_due
    }

    /// Which list to request next, if each has its own request. The players come first, and then the
    /// rules and the info: if as many are listed as counted, all are of one moment. In later rounds,
    /// the list that lacks a proof comes first.
    pub(super) fn are_rules_next(&self) -> bool {
        let are_first = self.info.is_some() && !self.are_rules_settled();
        self.rules.is_due && (are_first || !self.players.is_due)
    }

    /// Takes a datagram of an awaited list, or the info if it is awaited. Returns which it is.
    ///
    /// # Errors
    /// The error of the datagram. After [`ParseErrorKind::Limit`], the list takes no more
    /// datagrams.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
        awaits_info: bool,
        limits: &Limits,
    ) -> Result<Reply, ParseError> {
        let size = self.size();
        let (list, max_entries) = match datagram.get(TYPE_AT) {
            Some(&RULES) if self.rules.is_awaited => (&mut self.rules, limits.max_rules()),
            Some(&PLAYERS) if self.players.is_awaited => (&mut self.players, limits.max_players()),
            _ => return self.take_info(datagram, awaits_info, limits),
        };
        let taken = list.take(datagram, size, max_entries, limits);
        // The request for both lists has arrived. If no datagram follows, a list is empty.
        if !self.is_separate && (taken.is_ok() || list.is_over) {
            self.rules.set_answered();
            self.players.set_answered();
        }
        taken.map(|()| Reply::Lists)
    }

    fn take_info(
        &mut self,
        datagram: &[u8],
        is_awaited: bool,
        limits: &Limits,
    ) -> Result<Reply, ParseError> {
        let response = Response::parse(datagram, limits)?;
        match response.body {
            Body::Info(info) if is_awaited => {
                let datagram = Some(Datagram::new(datagram, &response));
                self.is_same_info = self.info == datagram;
                self.info = datagram;
                self.player_count = usize::try_from(info.current_players).ok();
                Ok(Reply::Info)
            }
            _ => Err(UNEXPECTED),
        }
    }

    /// The datagrams that have arrived for the current requests, and their bytes.
    fn size(&self) -> Size {
        let info = self.info.as_ref().map(Datagram::size);
        self.size_of_lists().plus(info.unwrap_or_default())
    }

    /// The same without the info.
    pub(super) fn size_of_lists(&self) -> Size {
        self.rules.reply.size().plus(self.players.reply.size())
    }

    /// Ends the replies that are awaited.
    pub(super) fn end_lists(&mut self) {
        self.rules.end_reply(false, rules_proof);
        // Players of the info's moment need no newer values, if the rules have none.
        let keeps_players = self.rules.moment == Moment::Copied && self.are_players_settled();
        let (rules, count) = (self.rules.facts, self.player_count);
        let proof_of = |facts: &_| players_proof(facts, &rules, count);
        self.players.end_reply(keeps_players, proof_of);
    }

    /// Ends the only replies to unknown requests. Datagrams before and after the info are not of
    /// one round.
    pub(super) fn end_only_round(&mut self, is_one_round: bool) {
        self.rules.reply.keep_first_versions();
        self.players.reply.keep_first_versions();
        self.end_lists();
        if is_one_round {
            self.rules.moment = Moment::Before;
            self.players.moment = Moment::Before;
        }
    }

    /// Whether a datagram of a list has arrived.
    pub(super) fn have_begun(&self) -> bool {
        self.rules.has_begun() || self.players.has_begun()
    }

    /// Whether all awaited replies have every entry of the best ones.
    pub(super) fn look_whole(&self) -> bool {
        let lists = [&self.rules, &self.players];
        let mut awaited = lists.into_iter().filter(|list| list.is_awaited);
        // Names are compared only when the last datagram has arrived.
        awaited.clone().all(List::has_as_many) && awaited.all(List::has_names)
    }

    /// Whether the rules are proved, so that an absent rule is not set.
    pub(super) fn has_all_rules(&self) -> bool {
        !self.rules.is_over && self.rules.is_proved(self.rules_proof())
    }

    /// The parts of the answer that are missing, except the info.
    pub(super) fn missing(&self) -> MissingParts {
        let is_over = self.rules.is_over || self.players.is_over;
        if !is_over && self.is_complete() {
            return MissingParts::NOTHING;
        }
        let (rules, players) = (self.rules_proof(), self.players_proof());
        let lacks_rules = self.rules.is_over || rules == Proof::Never;
        // Without the info, nobody knows whether an empty list is whole.
        let count = self.player_count.unwrap_or(1);
        let lacks_players = self.players.is_over || self.players.facts.listed < count;
        let rules_are_open = !lacks_rules && !self.rules.is_proved(rules);
        let players_are_open = !lacks_players && !self.players.is_proved(players);
        MissingParts {
            rules: lacks_rules,
            players: lacks_players,
            end: rules_are_open || players_are_open || !(lacks_rules || lacks_players),
            ..MissingParts::NOTHING
        }
    }
}

const fn rules_proof(rules: &Facts) -> Proof {
    match rules.datagrams {
        0 => Proof::Never,
        _ if !rules.has_first_rule => Proof::FourTimes,
        _ if !rules.has_end => Proof::Thrice,
        1 => Proof::Once,
        _ => Proof::Twice,
    }
}

/// The proof of the players, if the rules show this and the info counts so many.
fn players_proof(players: &Facts, rules: &Facts, count: Option<usize>) -> Proof {
    let Some(count) = count else {
        return Proof::Thrice;
    };
    let are_enough = players.listed >= count;
    let has_bots = rules.has_bots();
    // The game can admit one spectator more.
    let spectators = rules.max_spectators.unwrap_or(usize::MAX).saturating_add(1);
    let with_another = players.listed.saturating_add(MIN_FULL_ROWS);
    let fits_another = players.has_long_names || with_another <= count.saturating_add(spectators);
    if !are_enough && !has_bots {
        return Proof::Never;
    }
    if players.has_end && !fits_another {
        return Proof::Once;
    }
    Proof::Thrice
}

/// An error if a reply exceeds the limits.
fn check(
    size: Size,
    entries: usize,
    max_entries: usize,
    limits: &Limits,
) -> Result<(), ParseError> {
    bound(size.datagrams, limits.max_fragments(), "datagrams")?;
    bound(size.bytes, limits.max_answer_bytes(), "bytes of one answer")?;
    bound(entries, max_entries, "entries of one list")
}

/// An error if there is more of `what` than a limit allows.
fn bound(size: usize, max: usize, what: &'static str) -> Result<(), ParseError> {
    if size > max {
        Err(ParseError::limit(what, max, 0))
    } else {
        Ok(())
    }
}

impl List {
    /// Begins a new reply.
    pub(super) fn begin(&mut self) {
        self.reply = ListReply::default();
        self.is_awaited = true;
        self.is_due = false;
        self.is_answered = false;
    }

    /// Notes that the request has arrived: if no datagram follows, the list is empty.
    pub(super) const fn set_answered(&mut self) {
        self.is_answered = true;
    }

    /// Whether nothing has arrived for the current request.
    pub(super) const fn is_silent(&self) -> bool {
        self.reply.datagram_count() == 0 && !self.is_answered
    }

    fn has_begun(&self) -> bool {
        self.is_over || self.best.datagram_count() > 0 || self.reply.datagram_count() > 0
    }

    /// Whether the reply has as many datagrams as the best one.
    const fn has_as_many(&self) -> bool {
        self.equal_replies > 0 && self.reply.datagram_count() == self.best.datagram_count()
    }

    fn has_names(&self) -> bool {
        self.reply.has_names_of(&self.best)
    }

    const fn is_proved(&self, proof: Proof) -> bool {
        self.equal_replies >= proof as u8
    }

    /// Whether two replies and two infos are the same.
    fn is_repeated(&self) -> bool {
        self.equal_replies > 1 && matches!(self.moment, Moment::Copied | Moment::Enclosed)
    }

    /// Adds a datagram to the current reply. `size` is that of all datagrams that arrived before
    /// it.
    fn take(
        &mut self,
        datagram: &[u8],
        size: Size,
        max_entries: usize,
        limits: &Limits,
    ) -> Result<(), ParseError> {
        // A list over its limit takes nothing more, and a copy adds nothing. Such a datagram is
        // still a reply, if it can be read.
        if self.is_over || self.reply.has(datagram) {
            return Response::parse(datagram, limits).map(drop);
        }
        let taken = Datagram::read(datagram, limits).and_then(|datagram| {
            let entries = self
                .reply
                .entry_count()
                .saturating_add(datagram.entry_count);
            check(size.plus(datagram.size()), entries, max_entries, limits)?;
            self.reply.push(datagram);
            Ok(())
        });
        if let Err(error) = &taken {
            self.is_over = matches!(error.kind, ParseErrorKind::Limit { .. });
        }
        taken
    }

    /// Ends the current reply and compares it with the best one. With `keeps_best`, an equal reply
    /// only confirms the entries. A reply that one such reply proves lacks nothing.
    fn end_reply(&mut self, keeps_best: bool, proof_of: impl Fn(&Facts) -> Proof) {
        if !self.is_awaited {
            return;
        }
        self.is_awaited = false;
        self.is_new = false;
        if self.is_silent() {
            return;
        }
        let is_copy = self.equal_replies > 0 && self.reply.is_copy_of(&self.best);
        if is_copy {
            self.equal_replies = self.equal_replies.saturating_add(1);
            self.confirm_bytes();
            return;
        }
        let facts = self.reply_facts();
        if !facts.is_sound {
            // It proves nothing, and is better than nothing.
            if self.equal_replies == 0 && self.reply.entry_count() > self.best.entry_count() {
                self.take_over(facts);
            }
            return;
        }
        let relation = if self.equal_replies == 0 {
            Relation::Other
        } else {
            self.reply.relation_to(&self.best)
        };
        if relation == Relation::Lacking && proof_of(&facts) != Proof::Once {
            if self.moment == Moment::Before {
                self.moment = Moment::Doubted;
            }
            return;
        }
        self.is_new = relation != Relation::Equal;
        self.equal_replies = if self.is_new {
            1
        } else {
            self.equal_replies.saturating_add(1)
        };
        if self.is_new || !keeps_best {
            self.take_over(facts);
            self.moment = Moment::After;
        }
    }

    /// What the reply shows. If an earlier one had long names, a datagram that is missing can have
    /// some.
    fn reply_facts(&self) -> Facts {
        let mut facts = self.reply.facts();
        facts.has_long_names |= self.facts.has_long_names;
        facts
    }

    fn take_over(&mut self, facts: Facts) {
        self.best = std::mem::take(&mut self.reply);
        self.facts = facts;
        self.is_answered = false;
    }

    /// The same bytes came before and after the info.
    fn confirm_bytes(&mut self) {
        if matches!(self.moment, Moment::Before | Moment::Doubted) {
            self.moment = Moment::Copied;
        }
    }

    /// The same info came before and after the reply.
    fn confirm_moment(&mut self) {
        if self.moment == Moment::After {
            self.moment = Moment::Enclosed;
        }
    }

    /// The info is another one: only the last reply can belong to it. If that proves nothing, the
    /// list of an earlier one does not either.
    fn restart(&mut self) {
        self.equal_replies = self.equal_replies.min(1);
        self.moment = Moment::Before;
        if self.is_silent() {
            return;
        }
        let facts = self.reply_facts();
        if facts.is_sound {
            self.take_over(facts);
        } else {
            self.equal_replies = 0;
        }
    }

    /// The datagrams of the answer.
    pub(super) fn into_datagrams(self) -> Vec<Datagram> {
        self.best.into_ordered()
    }
}
