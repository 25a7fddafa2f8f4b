//! The languages that there are.

use super::en::{ENGLISH, Texts};
use super::ja::JAPANESE;
use super::ko::KOREAN;
use super::message::{self, Language};

/// A language of reports.
pub type Lang = &'static Language<Texts>;

/// A message that every language has.
pub(crate) type Message = message::Message<Texts>;

/// The default.
pub const EN: Lang = &ENGLISH;

/// All of them, in the order of the command line.
pub const LANGUAGES: [Lang; 3] = [EN, &JAPANESE, &KOREAN];
