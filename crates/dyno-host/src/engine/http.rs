//! Services that answer HTTP: whatever can be asked of them, the workload asks. The database behind one is a system of its own.

use super::null;
use super::questions::Questions;

pub(super) const QUESTIONS: Questions = null::QUESTIONS;
