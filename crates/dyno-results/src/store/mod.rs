//! The results folder.

pub mod environment;
