//! Sorts the fields of a reply into rows, whatever order they come in.

use std::collections::BTreeMap;

use super::row::{RowField, Rows};
use super::row_key::RowKey;

/// Rows under way. Servers write row after row or column after column: the row of the field before and the one after
/// it are looked at first.
#[derive(Debug, Default)]
pub(super) struct RowCollector<'a> {
    /// In the order of the wire.
    fields: Vec<RowField<'a>>,
    /// In the order of their first fields.
    rows: Vec<Collected>,
    /// The row of each field; kept from where a field came that does not belong to the latest row.
    rows_of_fields: Vec<u32>,
    /// Rows by their number; kept from where one was looked for that is none of the neighbours.
    by_number: BTreeMap<Number, usize>,
    current: usize,
    highest: Number,
}

/// Whether a team's, and the number of the row: two kinds of rows that count for themselves.
type Number = (bool, u32);

/// What is known of a row.
#[derive(Debug)]
struct Collected {
    number: Number,
    fields: usize,
}

/// Bytes of a field on most servers, separators included, and somewhat less.
const USUAL_FIELD: usize = 16;

impl<'a> RowCollector<'a> {
    /// With room for the fields of so many bytes.
    pub(super) fn for_bytes(length: usize) -> Self {
        Self { fields: Vec::with_capacity(length / USUAL_FIELD), ..Self::default() }
    }

    /// Adds a field.
    #[inline]
    pub(super) fn add(&mut self, row: RowKey<'a>, key: &'a [u8], value: &'a [u8]) {
        let number = (row.is_team(), row.index);
        let row_count = self.rows.len();
        let place = self.place(number);
        if place.saturating_add(1) < row_count && self.rows_of_fields.is_empty() {
            // Not in the latest row: until now, each field was.
            let each =
                self.rows.iter().zip(0..).flat_map(|(row, place)| std::iter::repeat_n(place, row.fields));
            self.rows_of_fields.extend(each);
        }
        if !self.rows_of_fields.is_empty() {
            self.rows_of_fields.push(u32::try_from(place).unwrap_or(u32::MAX));
        }
        if let Some(row) = self.rows.get_mut(place) {
            row.fields = row.fields.saturating_add(1);
        }
        self.fields.push(RowField { name: row.name, key, value });
        self.current = place;
    }

    /// Which row this is, a new one where there is none yet.
    #[inline]
    fn place(&mut self, number: Number) -> usize {
        let is = |place: usize| self.rows.get(place).is_some_and(|row| row.number == number);
        let after = self.current.saturating_add(1);
        if is(self.current) {
            return self.current;
        }
        if is(after) {
            return after;
        }
        // Most servers count up.
        if self.rows.is_empty() || number > self.highest {
            self.highest = number;
        } else {
            if self.by_number.len() < self.rows.len() {
                self.by_number = self.rows.iter().map(|row| row.number).zip(0..).collect();
            }
            if let Some(&place) = self.by_number.get(&number) {
                return place;
            }
        }
        let place = self.rows.len();
        self.rows.push(Collected { number, fields: 0 });
        if !self.by_number.is_empty() {
            self.by_number.insert(number, place);
        }
        place
    }

    /// The rows, the fields of each together.
    pub(super) fn finish(self) -> Rows<'a> {
        let fields = if self.rows_of_fields.is_empty() { self.fields } else { self.sorted() };
        Rows::collected(fields, self.rows.iter().map(|row| (row.number.0, row.number.1, row.fields)))
    }

    /// The fields row by row, those of a row in the order of the wire.
    fn sorted(&self) -> Vec<RowField<'a>> {
        let mut next = 0_usize;
        let mut places: Vec<usize> = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            places.push(next);
            next = next.saturating_add(row.fields);
        }
        let mut sorted = vec![RowField::default(); self.fields.len()];
        for (field, row) in self.fields.iter().zip(&self.rows_of_fields) {
            let Some(place) = places.get_mut(*row as usize) else { continue };
            if let Some(slot) = sorted.get_mut(*place) {
                *slot = *field;
            }
            *place = place.saturating_add(1);
        }
        sorted
    }
}
