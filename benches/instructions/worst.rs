//! Counts the work for the costliest known inputs at three sizes: twice the input, about twice the
//! work.

#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "a benchmark"
)]

use std::collections::BTreeMap;

use kit::hostile;

/// How much more work four times the input may cost. Sorting and maps need up to 4.8 times, and a
/// growing buffer adds a step. Quadratic work costs 16 times as much, or 5.5 times if it is an
/// eighth of the work for the shortest input.
const GROWTH: f64 = 5.5;
/// Shorter inputs are counted but not judged, because headers are a large part of them.
const SHORT: f64 = 1000.0;

/// The beginning of a row's name.
pub const MARK: &str = "worst ";

/// Counts the work for each input. It is a separate library, so that it does not change what the
/// compiler inlines in other cases.
pub fn run(counted: fn(&mut dyn FnMut())) {
    // A second argument of the program selects one case, for a profile.
    let only = std::env::args().nth(2);
    for hostile in &hostile::ALL {
        let is_other = |only: &String| only.strip_prefix(MARK) != Some(hostile.name);
        if only.as_ref().is_some_and(is_other) {
            continue;
        }
        // Exclude initialisation from the count.
        hostile.read(hostile.input(1000));
        for size in [4_000, 8_000, 16_000] {
            let mut input = hostile.input(size);
            counted(&mut || hostile.read(std::mem::take(&mut input)));
            println!("{MARK}{}: {size} bytes", hostile.name);
        }
    }
}

/// Takes the rows of worst inputs out of all counts, and prints them as a table. Returns whether
/// all of them grow as allowed. The row of each largest input stays, to be compared with earlier
/// counts.
pub fn table(counts: &mut Vec<(String, u64)>) -> bool {
    let mut rows: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    counts.retain_mut(|(name, count)| {
        let Some((what, bytes)) = name
            .strip_prefix(MARK)
            .and_then(|name| name.split_once(": "))
        else {
            return true;
        };
        let bytes: f64 = bytes.trim_end_matches(" bytes").parse().expect("bytes");
        let index = names
            .iter()
            .position(|other| other == what)
            .unwrap_or_else(|| {
                names.push(what.to_owned());
                names.len() - 1
            });
        let row = rows.entry(index).or_default();
        row.push((bytes, *count as f64));
        let is_largest = row.len() == 3;
        *name = format!("{MARK}{what}");
        is_largest
    });
    println!(
        "| worst input | bytes | instructions a byte | twice the input | twice again |\n|---|---|---|---|---|"
    );
    let mut is_linear = true;
    for (index, row) in &rows {
        // Divide by the bytes: an input that ends early has less than twice as many.
        let growth =
            |small: (f64, f64), large: (f64, f64)| 2.0 * (large.1 / large.0) / (small.1 / small.0);
        let (first, second) = (growth(row[0], row[1]), growth(row[1], row[2]));
        let (bytes, count) = row[2];
        let mark = if bytes > SHORT && first * second > GROWTH {
            " **not linear**"
        } else {
            ""
        };
        is_linear &= mark.is_empty();
        println!(
            "| {} | {bytes} | {:.0} | {first:.2} | {second:.2}{mark} |",
            names[*index],
            count / bytes
        );
    }
    is_linear
}
