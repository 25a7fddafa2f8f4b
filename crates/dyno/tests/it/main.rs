//! Tests of the program as a whole.

mod commands;
mod documents;
mod life_cycle;
mod loads;
mod program;
mod running;
mod systems;
mod tidy;
mod views;

use commands::init;
use life_cycle::ends;
use loads::{audits, shop};
