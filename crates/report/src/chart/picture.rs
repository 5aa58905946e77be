//! Shapes and words as SVG elements.
//!
//! In: places in pixels, and inks. Out: elements whose colours are the literal ones of a light
//! page, so that any program shows them. The style of a page, or of a file of its own, has a rule
//! for each literal colour that makes it dark.

use std::fmt::Write as _;

use crate::escape;

/// Inks of layers, after which they repeat.
pub(super) const LAYERS: usize = 6;

/// Lengths of dashes and gaps of each layer's line; the first line is solid.
const DASHES: [&str; LAYERS] = ["", "8 4", "3 3", "12 3", "6 6", "2 5"];

/// Half the side of a square mark, and the radius of a dot.
const HALF: i32 = 3;

/// How far the base line of letters is below their middle.
const BASE_LINE: i32 = 4;

/// A place in a picture.
pub(super) type Pixel = (i32, i32);

/// What something is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Text,
    Soft,
    Grid,
    Axis,
    /// The background, which separates neighbours.
    Ground,
    /// Of the layer with this index.
    Layer(usize),
}

impl Ink {
    /// Every ink.
    const ALL: [Ink; 11] = [
        Ink::Ground,
        Ink::Text,
        Ink::Soft,
        Ink::Grid,
        Ink::Axis,
        Ink::Layer(0),
        Ink::Layer(1),
        Ink::Layer(2),
        Ink::Layer(3),
        Ink::Layer(4),
        Ink::Layer(5),
    ];

    /// Returns its colours on a light and on a dark page.
    ///
    /// The contrast of each layer to the background is at least 3 to 1, as graphics need, and that
    /// of text at least 4.5 to 1.
    fn colors(self) -> (&'static str, &'static str) {
        match self {
            Ink::Ground => ("#ffffff", "#14171c"),
            Ink::Text => ("#1d2129", "#e6e8eb"),
            Ink::Soft => ("#535b67", "#a9b1bc"),
            Ink::Grid => ("#e3e6ea", "#2b3038"),
            Ink::Axis => ("#6b7280", "#8b93a0"),
            Ink::Layer(index) => [
                ("#0b63b0", "#62aef0"),
                ("#b4510b", "#f0964f"),
                ("#0f7b5f", "#4cc3a1"),
                ("#8a3ea8", "#c790e0"),
                ("#5f6672", "#a4acb8"),
                ("#a81f4c", "#f07a9e"),
            ][index % LAYERS],
        }
    }

    /// Returns its colour in a picture.
    pub(super) fn color(self) -> &'static str {
        self.colors().0
    }
}

/// Returns the style that makes a picture dark where everything around it is.
pub(super) fn dark_style() -> String {
    let mut style = "@media (prefers-color-scheme:dark){".to_owned();
    for (light, dark) in Ink::ALL.map(Ink::colors) {
        put(&mut style, format_args!("[fill=\"{light}\"]{{fill:{dark}}}"));
        put(&mut style, format_args!("[stroke=\"{light}\"]{{stroke:{dark}}}"));
    }
    style + "}"
}

/// The side of words that is at their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The elements of a picture.
pub(super) struct Picture {
    /// The name of the chart, which begins the ids of patterns.
    name: String,
    body: String,
    /// The layers whose pattern is used.
    hatched: [bool; LAYERS],
}

impl Picture {
    pub(super) fn new(name: &str) -> Picture {
        Picture { name: escape::markup(name), body: String::new(), hatched: [false; LAYERS] }
    }

    /// Returns the elements, the patterns that they use first.
    pub(super) fn into_elements(self) -> String {
        let used = (0..LAYERS).filter(|index| self.hatched[*index]);
        let hatches: String = used.map(|index| hatch(&self.name, index)).collect();
        match hatches.as_str() {
            "" => self.body,
            _ => format!("<defs>{hatches}</defs>{}", self.body),
        }
    }

    /// Writes words, whose middle is at the height of `y`.
    pub(super) fn text(&mut self, words: &str, (x, y): Pixel, anchor: Anchor, ink: Ink) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (words, y, color) = (escape::markup(words), y + BASE_LINE, ink.color());
        put(
            &mut self.body,
            format_args!("<text x=\"{x}\" y=\"{y}\"{anchor} fill=\"{color}\">{words}</text>"),
        );
    }

    /// Draws straight lines, each from one place to another.
    pub(super) fn lines(&mut self, ends: &[(Pixel, Pixel)], ink: Ink, width: u32) {
        let path = ends.iter().map(|((x, y), (to_x, to_y))| match (x == to_x, y == to_y) {
            (true, _) => format!("M{x} {y}V{to_y}"),
            (_, true) => format!("M{x} {y}H{to_x}"),
            _ => format!("M{x} {y}L{to_x} {to_y}"),
        });
        self.stroke(&path.collect::<String>(), ink, width, "");
    }

    /// Draws a dashed line upright.
    pub(super) fn dashed_line(&mut self, x: i32, (top, bottom): (i32, i32), ink: Ink) {
        self.stroke(&format!("M{x} {top}V{bottom}"), ink, 1, "4 3");
    }

    /// Draws a line through places; dashed from the second layer on.
    pub(super) fn course(&mut self, places: &[Pixel], layer: usize) {
        let path = places.iter().enumerate().map(|(at, (x, y))| {
            let to = if at == 0 { 'M' } else { 'L' };
            format!("{to}{x} {y}")
        });
        let dashes = DASHES[layer % LAYERS];
        self.stroke(&path.collect::<String>(), Ink::Layer(layer), 2, dashes);
    }

    fn stroke(&mut self, path: &str, ink: Ink, width: u32, dashes: &str) {
        if path.is_empty() {
            return;
        }
        let dashes = match dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let color = ink.color();
        put(
            &mut self.body,
            format_args!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" \
                 stroke-width=\"{width}\"{dashes}/>"
            ),
        );
    }

    /// Draws rectangles in the colour of a layer, hatched from the second layer on. `outline` is
    /// the ink around them.
    pub(super) fn areas(&mut self, ends: &[(Pixel, Pixel)], layer: usize, outline: Option<Ink>) {
        let path: String = ends.iter().map(|(one, other)| rectangle(*one, *other)).collect();
        if path.is_empty() {
            return;
        }
        let index = layer % LAYERS;
        self.hatched[index] |= index > 0;
        let fill = match index {
            0 => Ink::Layer(0).color().to_owned(),
            _ => format!("url(#{}-hatch-{})", self.name, index + 1),
        };
        let outline = outline.map(|ink| format!(" stroke=\"{}\"", ink.color()));
        let outline = outline.unwrap_or_default();
        put(&mut self.body, format_args!("<path d=\"{path}\" fill=\"{fill}\"{outline}/>"));
    }

    /// Draws a polygon in a light tint of a layer's colour.
    pub(super) fn band(&mut self, corners: &[Pixel], layer: usize) {
        let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let (corners, color) = (corners.join(" "), Ink::Layer(layer).color());
        put(
            &mut self.body,
            format_args!("<polygon points=\"{corners}\" fill=\"{color}\" opacity=\"0.18\"/>"),
        );
    }

    /// Draws a mark at each place, in the shape of a layer. Those of many places are translucent.
    pub(super) fn marks(&mut self, places: &[Pixel], layer: usize, is_solid: bool) {
        let path: String = places.iter().map(|place| mark(*place, layer)).collect();
        if path.is_empty() {
            return;
        }
        let color = Ink::Layer(layer).color();
        let style = match layer % LAYERS {
            // A dot is a line of almost no length with round ends.
            0 => format!(
                "fill=\"none\" stroke=\"{color}\" stroke-width=\"{}\" stroke-linecap=\"round\"",
                2 * HALF + 2 * i32::from(is_solid)
            ),
            1 | 4 => format!("fill=\"{color}\""),
            5 => format!("fill=\"none\" stroke=\"{color}\""),
            _ => format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"2\""),
        };
        let opacity = if is_solid { "" } else { " opacity=\"0.6\"" };
        put(&mut self.body, format_args!("<path d=\"{path}\" {style}{opacity}/>"));
    }
}

/// Returns the path of a mark in the shape of a layer.
fn mark((x, y): Pixel, layer: usize) -> String {
    match layer % LAYERS {
        0 => format!("M{x} {y}h.1"),
        1 => format!("M{x} {}l5 8h-10z", y - 5),
        2 => format!("M{} {}l6 6m0-6l-6 6", x - HALF, y - HALF),
        3 => format!("M{} {y}a4 4 0 1 0 8 0a4 4 0 1 0-8 0", x - 4),
        _ => rectangle((x - HALF, y - HALF), (x + HALF, y + HALF)),
    }
}

fn rectangle((x, y): Pixel, (to_x, to_y): Pixel) -> String {
    format!("M{x} {y}H{to_x}V{to_y}H{x}z")
}

/// Returns the pattern of a layer's areas: lines of its colour over a light tint of it.
fn hatch(chart: &str, index: usize) -> String {
    let color = Ink::Layer(index).color();
    let (angle, gap) = [(45, 6), (45, 6), (-45, 6), (90, 5), (0, 5), (45, 3)][index];
    format!(
        "<pattern id=\"{chart}-hatch-{}\" width=\"{gap}\" height=\"{gap}\" \
         patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate({angle})\">\
         <rect width=\"{gap}\" height=\"{gap}\" fill=\"{color}\" opacity=\"0.35\"/>\
         <rect width=\"2\" height=\"{gap}\" fill=\"{color}\"/></pattern>",
        index + 1
    )
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page shows the same colours as a picture that is a file of its own.
    #[test]
    fn pages_have_a_rule_for_each_color_of_a_picture() {
        let variables = ["ground", "ink", "soft", "grid", "axis"].map(str::to_owned);
        let layers = (1..=LAYERS).map(|index| format!("chart-{index}"));
        for (name, ink) in variables.into_iter().chain(layers).zip(Ink::ALL) {
            let (light, dark) = ink.colors();
            let short = if light == "#ffffff" { "#fff" } else { light };
            let style = crate::html::STYLE;
            for value in [short, dark] {
                assert!(style.contains(&format!("--{name}:{value}")), "{name}: {value}");
            }
            for what in ["fill", "stroke"] {
                let rule = format!(".picture [{what}=\"{light}\"]{{{what}:var(--{name})}}");
                assert!(style.contains(&rule), "{rule}");
            }
        }
    }
}
