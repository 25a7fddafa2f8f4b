//! Pages, experiments and schemas of the repository.

mod experiments;
mod json_schema;
mod pages;
