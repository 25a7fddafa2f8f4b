//! Conditional blocks: checks that they are complete and connects their parts.

use super::command::{Action, Branches, Command};

/// An open block.
struct Open {
    /// Its parts so far.
    parts: Vec<usize>,
    has_else: bool,
}

/// Fills in the branches of all conditional commands.
///
/// # Errors
/// When a block is incomplete: number of the command (from 1) and the error.
pub(super) fn connect(commands: &mut [Command]) -> Result<(), (usize, &'static str)> {
    let mut open: Vec<Open> = Vec::new();
    for index in 0..commands.len() {
        let error = |message| Err((index + 1, message));
        match &commands[index].action {
            Action::If(..) => open.push(Open { parts: vec![index], has_else: false }),
            Action::Elif(..) => match open.last_mut() {
                None => return error("\\elif without matching \\if"),
                Some(block) if block.has_else => return error("\\elif after \\else"),
                Some(block) => block.parts.push(index),
            },
            Action::Else(_) => match open.last_mut() {
                None => return error("\\else without matching \\if"),
                Some(block) if block.has_else => return error("\\else after \\else"),
                Some(block) => {
                    block.has_else = true;
                    block.parts.push(index);
                }
            },
            Action::EndIf => {
                let Some(mut block) = open.pop() else {
                    return error("\\endif without matching \\if");
                };
                block.parts.push(index);
                for pair in block.parts.windows(2) {
                    set(&mut commands[pair[0]].action, Branches { next: pair[1], end: index });
                }
            }
            _ => {}
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err((commands.len() + 1, "\\if without matching \\endif"))
    }
}

fn set(action: &mut Action, to: Branches) {
    if let Action::If(_, branches) | Action::Elif(_, branches) | Action::Else(branches) = action {
        *branches = to;
    }
}
