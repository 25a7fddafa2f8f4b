//! What reports look like: formats, languages, charts, glyphs, and layout in a browser.

mod charts;
mod glyphs;
mod languages;
mod layout;
mod readable;
mod tiles;
