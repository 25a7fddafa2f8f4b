//! Commands besides `run`, and what users type.

mod addresses;
mod command_line;
mod compare;
mod diagnosis;
mod first_contact;
mod import;
pub(crate) mod init;
mod languages;
mod plan;
mod preflight;
mod secrets;
mod spec_errors;
