//! The list of supported languages.

pub(super) mod en;
pub(super) mod ja;
mod ko;

use super::message::{self, Language};
use en::{ENGLISH, Texts};
use ja::JAPANESE;
use ko::KOREAN;

/// A language of reports.
pub type Lang = &'static Language<Texts>;

/// A message that every language has.
pub(crate) type Message = message::Message<Texts>;

/// The default.
pub const EN: Lang = &ENGLISH;

/// All of them, in the order of the command line.
pub const LANGUAGES: [Lang; 3] = [EN, &JAPANESE, &KOREAN];
