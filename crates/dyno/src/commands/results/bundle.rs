//! `dyno bundle`: packs the files of a run that a bug report needs, without passwords.

use crate::cli::BundleArguments;
use crate::failure::Failure;
use crate::printer::Printer;
use dyno_model::exit_code;
use dyno_model::mask::masked;
use dyno_store::{HISTORY_FILE, KEY_FILE, Run, masked_json};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a file in a bundle; others are listed.
const FILE_MAX: u64 = 64 << 20;

/// Writes the bundle of a results folder and prints its path.
///
/// # Errors
/// When the folder has no results, a file cannot be read, or the bundle exists or cannot be
/// written.
pub(crate) fn bundle(arguments: &BundleArguments, printer: Printer) -> Result<u8, Failure> {
    let folder = &arguments.results;
    Run::open(folder)?;
    let absolute =
        folder.canonicalize().map_err(|error| Failure::cannot("read", folder, &error))?;
    let name =
        absolute.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    let path = arguments.out.clone().unwrap_or_else(|| format!("{name}-bundle.tar.gz").into());
    let mut files = Vec::new();
    collect(folder, folder, &mut files).map_err(|error| Failure::cannot("read", folder, &error))?;
    files.sort();
    let cannot_write = |error: io::Error| Failure::cannot("write", &path, &error);
    let file = dyno_files::create_new(&path, 0o600).map_err(cannot_write)?;
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    let mut about = format!("dyno {}\nPasswords are replaced by ***.\n", env!("CARGO_PKG_VERSION"));
    for relative in files {
        match content(&folder.join(&relative), &relative) {
            Ok(text) => {
                add(&mut archive, &Path::new(&name).join(&relative), &text)
                    .map_err(cannot_write)?;
            }
            Err(reason) => about.push_str(&format!("left out: {}: {reason}\n", relative.display())),
        }
    }
    add(&mut archive, &Path::new(&name).join("about.txt"), &about).map_err(cannot_write)?;
    let encoder = archive.into_inner().map_err(cannot_write)?;
    encoder.finish().and_then(|mut file| file.flush()).map_err(cannot_write)?;
    printer.result(&path.display().to_string())?;
    printer.note(
        "The bundle contains the spec, host names, statements and server logs, but no passwords. \
         Look through it before you publish it.",
    );
    Ok(exit_code::OK)
}

/// Regular files below a folder, relative to it. Links are not followed: they may lead out of the
/// results. Reports are derived, histories of transactions are large, and a key is secret.
fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_derived = folder == root && name.starts_with("report.");
        if entry.file_type()?.is_dir() {
            collect(root, &path, files)?;
        } else if entry.file_type()?.is_file()
            && !is_derived
            && ![HISTORY_FILE, KEY_FILE].contains(&name.as_str())
        {
            files.push(path.strip_prefix(root).expect("it is below").to_owned());
        }
    }
    Ok(())
}

/// The text of a file without passwords; the error says why it is left out.
fn content(path: &Path, relative: &Path) -> Result<String, String> {
    let bytes = dyno_files::read(path, FILE_MAX).map_err(|error| dyno_files::reason(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    let is_json = relative.extension().is_some_and(|it| it == "json" || it == "jsonl");
    Ok(if is_json { masked_json(&text) } else { masked(&text) }.into_owned())
}

fn add<W: Write>(archive: &mut tar::Builder<W>, path: &Path, text: &str) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, path, text.as_bytes())
}
