//! Which modules of a crate name which. Files are read as tokens, since macros hide paths from
//! whoever reads syntax.
//!
//! A module is a file; what stands in braces inside of it belongs to the file, and tests are left
//! out. A path counts for the module in which the named thing is defined: a folder that only
//! declares its modules and hands their names on uses none of them, and whoever takes such a name
//! uses the module that it comes from.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The modules of a crate; the first is its root.
pub(super) struct Modules {
    modules: Vec<Module>,
    files: Vec<PathBuf>,
}

#[derive(Default)]
struct Module {
    file: usize,
    parent: usize,
    children: BTreeMap<String, usize>,
    /// Names that `use` brings in, with their paths: a module and an item may have the same name.
    imports: BTreeMap<String, Vec<Vec<String>>>,
    /// Modules of which everything is brought in.
    globs: Vec<Vec<String>>,
    /// What is defined here.
    items: BTreeSet<String>,
    /// Paths in the code, with their lines.
    named: Vec<(Vec<String>, usize)>,
}

/// A file that uses another of its crate, and where it does so first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    pub(super) user: PathBuf,
    pub(super) used: PathBuf,
    pub(super) line: usize,
    pub(super) path: String,
}

/// Files that use each other, directly or by way of others of them, and the uses that make it so.
/// Every set is as large as it can be.
pub(super) fn circles(uses: &[Use]) -> Vec<(BTreeSet<PathBuf>, Vec<Use>)> {
    let reached = |from: &PathBuf| {
        let (mut found, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = open.pop() {
            let next = uses.iter().filter(|one| one.user == file).map(|one| one.used.clone());
            open.extend(next.filter(|used| found.insert(used.clone())));
        }
        found
    };
    let files: BTreeSet<&PathBuf> = uses.iter().map(|one| &one.user).collect();
    let reach: BTreeMap<&PathBuf, BTreeSet<PathBuf>> =
        files.into_iter().map(|file| (file, reached(file))).collect();
    let circle_of = |file: &PathBuf| -> BTreeSet<PathBuf> {
        let returns = |other: &&PathBuf| reach.get(other).is_some_and(|back| back.contains(file));
        reach[file].iter().filter(returns).cloned().collect()
    };
    let sets: BTreeSet<_> =
        reach.keys().map(|file| circle_of(file)).filter(|set| !set.is_empty()).collect();
    let inside = |set: &BTreeSet<PathBuf>| {
        let is_inside = |one: &&Use| set.contains(&one.user) && set.contains(&one.used);
        uses.iter().filter(is_inside).cloned().collect()
    };
    sets.into_iter().map(|set| (set.clone(), inside(&set))).collect()
}

/// The same uses between entries of folders: each file is replaced by what contains it in the
/// innermost folder that contains both, a file or a folder. A folder's own `mod.rs` (of a crate:
/// its root) is no entry, since it re-exports what the entries define.
pub(super) fn between_entries(uses: &[Use]) -> Vec<Use> {
    let entries = |one: &Use| {
        let (user, used): (Vec<_>, Vec<_>) =
            (one.user.components().collect(), one.used.components().collect());
        let common = user.iter().zip(&used).take_while(|(a, b)| a == b).count();
        let entry = |path: &[Component<'_>]| path[..=common].iter().collect::<PathBuf>();
        let (user, used) = (entry(&user), entry(&used));
        let is_root = |path: &PathBuf| {
            ["mod.rs", "lib.rs", "main.rs"].into_iter().any(|root| path.ends_with(root))
        };
        (!is_root(&user) && !is_root(&used)).then(|| Use { user, used, ..one.clone() })
    };
    let mut pairs = BTreeMap::new();
    for one in uses.iter().filter_map(entries) {
        pairs.entry((one.user.clone(), one.used.clone())).or_insert(one);
    }
    pairs.into_values().collect()
}

impl Modules {
    /// Reads a crate from the file of its root.
    pub(super) fn read(root: &Path) -> Self {
        let mut all = Self { modules: Vec::new(), files: Vec::new() };
        let folder = root.parent().expect("a crate's root lies in a folder");
        all.read_file(root, folder, 0);
        all
    }

    /// Who uses whom, once per pair of files.
    pub(super) fn uses(&self) -> Vec<Use> {
        let mut pairs = BTreeMap::new();
        for (at, module) in self.modules.iter().enumerate() {
            for (path, line) in &module.named {
                let Some((found, Some(_))) = self.resolve(at, path, 0) else { continue };
                let (user, used) = (module.file, self.modules[found].file);
                if user != used {
                    let first = pairs.entry((user, used)).or_insert((*line, path.join("::")));
                    if *line < first.0 {
                        *first = (*line, path.join("::"));
                    }
                }
            }
        }
        let shown = |((user, used), (line, path)): ((usize, usize), (usize, String))| Use {
            user: self.files[user].clone(),
            used: self.files[used].clone(),
            line,
            path,
        };
        pairs.into_iter().map(shown).collect()
    }

    /// Reads a file with all that it declares; `folder` is where the files of its modules lie.
    fn read_file(&mut self, path: &Path, folder: &Path, parent: usize) -> usize {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let stream: TokenStream =
            text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        self.files.push(path.to_owned());
        let module = Module { file: self.files.len() - 1, parent, ..Module::default() };
        self.modules.push(module);
        let at = self.modules.len() - 1;
        self.walk(&tokens, at, folder);
        at
    }

    fn walk(&mut self, tokens: &[Token], at: usize, folder: &Path) {
        let mut here = 0;
        let mut before = "";
        while here < tokens.len() {
            let token = &tokens[here];
            let next = tokens.get(here + 1).map_or("", |token| &token.text);
            let after = tokens.get(here + 2).map_or("", |token| &token.text);
            if token.text == "#" && is_for_tests(&tokens[here..]) {
                here += item_length(&tokens[here..]);
            } else if token.text == "mod" && after == "{" {
                let end = closing(tokens, here + 2);
                let file = self.modules[at].file;
                self.modules.push(Module { file, parent: at, ..Module::default() });
                let child = self.modules.len() - 1;
                self.modules[at].children.insert(next.to_owned(), child);
                self.walk(&tokens[here + 3..end], child, &folder.join(next));
                here = end + 1;
            } else if token.text == "mod" && after == ";" {
                let (plain, inside) =
                    (folder.join(format!("{next}.rs")), folder.join(next).join("mod.rs"));
                let path = if plain.exists() { plain } else { inside };
                let child = self.read_file(&path, &folder.join(next), at);
                self.modules[at].children.insert(next.to_owned(), child);
                here += 3;
            } else if token.text == "use" && next != "<" {
                let end = here
                    + tokens[here..]
                        .iter()
                        .position(|token| token.text == ";")
                        .expect("`use` ends");
                let is_handed_on =
                    before == "pub" || before == ")" && is_visibility(&tokens[..here]);
                self.take_use(&tokens[here + 1..end], Vec::new(), at, is_handed_on);
                here = end + 1;
            } else if token.is_word && before != "." {
                let mut path = vec![token.text.clone()];
                let line = token.line;
                while tokens.get(here + 1).is_some_and(|token| token.text == "::")
                    && tokens.get(here + 2).is_some_and(|token| token.is_word)
                {
                    path.push(tokens[here + 2].text.clone());
                    here += 2;
                }
                let defines = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"]
                    .contains(&before);
                if defines
                    || before == "!"
                        && path.len() == 1
                        && here > 1
                        && tokens[here - 2].text == "macro_rules"
                {
                    self.modules[at].items.insert(token.text.clone());
                } else if before != "::" {
                    self.modules[at].named.push((path, line));
                }
                here += 1;
            } else {
                here += 1;
            }
            before = here
                .checked_sub(1)
                .and_then(|last| tokens.get(last))
                .map_or("", |token| &token.text);
        }
    }

    /// Takes what stands between `use` and its end. Whatever is not handed on is used here.
    fn take_use(&mut self, tokens: &[Token], mut path: Vec<String>, at: usize, is_handed_on: bool) {
        let line = tokens.first().map_or(0, |token| token.line);
        let mut here = 0;
        while here < tokens.len() {
            match tokens[here].text.as_str() {
                "::" => {}
                "{" => {
                    let end = closing(tokens, here);
                    for part in parts(&tokens[here + 1..end]) {
                        self.take_use(part, path.clone(), at, is_handed_on);
                    }
                    return;
                }
                "*" => {
                    self.modules[at].globs.push(path);
                    return;
                }
                "as" => {
                    let alias = tokens[here + 1].text.clone();
                    return self.import(alias, path, at, is_handed_on, line);
                }
                "self" if !path.is_empty() => {}
                word => path.push(word.to_owned()),
            }
            here += 1;
        }
        if let Some(name) = path.last().cloned() {
            self.import(name, path, at, is_handed_on, line);
        }
    }

    fn import(
        &mut self,
        name: String,
        path: Vec<String>,
        at: usize,
        is_handed_on: bool,
        line: usize,
    ) {
        if !is_handed_on {
            self.modules[at].named.push((path.clone(), line));
        }
        self.modules[at].imports.entry(name).or_default().push(path);
    }

    /// The module that a path means, and the first word of it that is no module. `None`: nothing of
    /// this crate, or of this file's own by its bare name.
    fn resolve(
        &self,
        from: usize,
        path: &[String],
        depth: usize,
    ) -> Option<(usize, Option<String>)> {
        assert!(depth < 32, "{path:?} leads to itself");
        let mut words = path.iter();
        let mut at = match words.as_slice().first()?.as_str() {
            "crate" => {
                words.next();
                0
            }
            "self" => {
                words.next();
                from
            }
            "super" => {
                words.next();
                self.modules[from].parent
            }
            _ => {
                // A name that this module neither declares nor takes is a local one, or that of
                // another crate.
                let word = words.next().filter(|word| !word.starts_with("dyno_"))?;
                match self.step(from, word, !words.as_slice().is_empty(), path, depth)? {
                    (at, None) => at,
                    item => return Some(item),
                }
            }
        };
        while let Some(word) = words.next() {
            if word == "super" {
                at = self.modules[at].parent;
                continue;
            }
            match self.step(at, word, !words.as_slice().is_empty(), path, depth) {
                Some((next, None)) => at = next,
                Some(item) => return Some(item),
                None => return Some((at, Some(word.clone()))),
            }
        }
        Some((at, None))
    }

    /// One word further: a child, or a name that is taken from elsewhere; a module if the path
    /// continues behind it.
    fn step(
        &self,
        at: usize,
        word: &str,
        continues: bool,
        path: &[String],
        depth: usize,
    ) -> Option<(usize, Option<String>)> {
        let module = &self.modules[at];
        if let Some(child) = module.children.get(word) {
            return Some((*child, None));
        }
        // `use name::name` or `use name` of another crate says nothing further.
        let paths = module.imports.get(word).into_iter().flatten();
        let taken: Vec<_> = paths.filter(|taken| *taken != path).collect();
        if !taken.is_empty() {
            let meanings = taken.into_iter().filter_map(|taken| self.resolve(at, taken, depth + 1));
            return meanings.max_by_key(|(_, item)| item.is_none() == continues);
        }
        module.globs.iter().find_map(|glob| {
            let (found, _) = self.resolve(at, glob, depth + 1)?;
            let is_own = found != at && self.modules[found].items.contains(word);
            let own = is_own.then(|| (found, Some(word.to_owned())));
            own.or_else(|| {
                if found == at { None } else { self.step(found, word, continues, path, depth + 1) }
            })
        })
    }
}

struct Token {
    text: String,
    line: usize,
    is_word: bool,
}

/// The tokens of a file in their order, brackets among them; literals are an empty text.
fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |text: String, line, is_word| tokens.push(Token { text, line, is_word });
        match tree {
            TokenTree::Ident(word) => push(word.to_string(), line, true),
            // A module that a macro makes is one, whatever it will be called.
            TokenTree::Punct(mark) if mark.as_char() == '$' => {}
            TokenTree::Literal(_) => push(String::new(), line, false),
            TokenTree::Punct(mark) => {
                let is_second = mark.as_char() == ':'
                    && tokens.last().is_some_and(|last| last.text == ":joint");
                if is_second {
                    tokens.last_mut().expect("there is one").text = "::".to_owned();
                } else {
                    let is_first = mark.as_char() == ':' && mark.spacing() == Spacing::Joint;
                    let text =
                        if is_first { ":joint".to_owned() } else { mark.as_char().to_string() };
                    tokens.push(Token { text, line, is_word: false });
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned(), line, false);
                flatten(group.stream(), tokens);
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.to_owned(), line, is_word: false });
            }
        }
    }
}

/// Where the bracket closes that opens at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    unreachable!("brackets come in pairs")
}

/// The parts between commas, outside of brackets.
fn parts(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut found, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 0 => {
                found.push(&tokens[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&tokens[begin..]);
    found.retain(|part| !part.is_empty());
    found
}

/// True at an attribute `#[cfg(test)]`, with other features or without.
fn is_for_tests(tokens: &[Token]) -> bool {
    let is_condition = tokens.len() > 4 && tokens[1].text == "[" && tokens[2].text == "cfg";
    is_condition && {
        let words: Vec<&str> =
            tokens[..closing(tokens, 1)].iter().map(|token| token.text.as_str()).collect();
        words.contains(&"test") && !words.contains(&"not")
    }
}

/// How long an item is with the attributes before it.
fn item_length(tokens: &[Token]) -> usize {
    let mut here = 0;
    while here < tokens.len() {
        match tokens[here].text.as_str() {
            "{" => return closing(tokens, here) + 1,
            "(" | "[" => here = closing(tokens, here),
            ";" => return here + 1,
            _ => {}
        }
        here += 1;
    }
    here
}

/// True when these tokens end in `pub(...)`.
fn is_visibility(tokens: &[Token]) -> bool {
    let open = tokens.iter().rposition(|token| token.text == "(");
    open.is_some_and(|open| open > 0 && tokens[open - 1].text == "pub")
}
