//! The style sheet of the pages: light or dark, as the browser prefers.

use std::fmt::Write;

/// The backgrounds of the two schemes in `style.css`.
const LIGHT: [u8; 3] = [0xff, 0xff, 0xff];
const DARK: [u8; 3] = [0x16, 0x18, 0x1d];
/// The colour of the text in the light scheme.
const TEXT: [u8; 3] = [0x1b, 0x1d, 0x22];
/// The least contrast of a text and its background. WCAG 2.1 asks for 4.5.
const CONTRAST: f64 = 4.6;

/// The class of a colour: its place in a cube of 6 × 6 × 6 colours.
pub(crate) fn class(rgb: [u8; 3]) -> String {
    let [red, green, blue] = rgb.map(|part| part.saturating_add(25) / 51);
    format!("c{red}{green}{blue}")
}

/// The style sheet: that of the page, and a class for each colour of a name.
pub(crate) fn text() -> String {
    let mut css = include_str!("style.css").to_owned();
    let parts = || (0..=255_u8).step_by(51);
    for (red, green, blue) in parts()
        .flat_map(|red| parts().flat_map(move |green| parts().map(move |blue| (red, green, blue))))
    {
        let rgb = [red, green, blue];
        // White is the usual colour of a text, and would be a grey on white.
        let light = match rgb {
            [204, 204, 204] | [255, 255, 255] => TEXT,
            rgb => legible(rgb, 0, LIGHT),
        };
        let (light, dark) = (hex(light), hex(legible(rgb, 255, DARK)));
        let _ = writeln!(css, ".{}{{color:light-dark({light},{dark})}}", class(rgb));
    }
    css
}

/// The colour, mixed with black (0) or white (255) until it can be read on the background.
fn legible(rgb: [u8; 3], end: u8, background: [u8; 3]) -> [u8; 3] {
    let mix = |share: u16| {
        rgb.map(|part| {
            let sum = u16::from(part) * (20 - share) + u16::from(end) * share;
            u8::try_from(sum / 20).unwrap_or(end)
        })
    };
    (0..20)
        .map(mix)
        .find(|mixed| contrast(*mixed, background) >= CONTRAST)
        .unwrap_or([end; 3])
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The contrast of two colours by WCAG 2.1, from 1 to 21.
pub(crate) fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(rgb: [u8; 3]) -> f64 {
    let [red, green, blue] = rgb.map(|part| {
        let part = f64::from(part) / 255.0;
        match part <= 0.04045 {
            true => part / 12.92,
            false => ((part + 0.055) / 1.055).powf(2.4),
        }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}
