//! Pages, experiments and schemas of the repository.

mod ci;
mod experiments;
mod json_schema;
mod pages;
