//! SQLite, which is no server: its database is a file, and nobody else can be asked about it.

mod observer;
pub(crate) mod settings;

use super::questions::Questions;

pub(super) const QUESTIONS: Questions =
    Questions { settings: settings::SETTINGS, observe: Some(observer::observe), server: None };
