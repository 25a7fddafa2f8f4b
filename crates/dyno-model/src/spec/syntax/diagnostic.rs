//! Errors in a spec: collected instead of returned at the first, and shown with a caret under the
//! position.

use crate::mask::passwords;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

/// A position in one of the texts of a spec: bytes of the file or of a `--set` argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// Index of the text: 0 is the file, 1 and up are the arguments in their order.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

impl Span {
    /// A position in text number `source`.
    pub(in crate::spec) fn new(source: usize, range: Range<usize>) -> Self {
        Self { source, start: range.start, end: range.end }
    }

    /// True when it contains `other`.
    pub(in crate::spec) fn contains(self, other: Self) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }
}

/// One error: message, position, and remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error, with key and value.
    pub message: String,
    /// Position.
    pub span: Span,
    /// Label next to the caret; possibly empty.
    pub label: String,
    /// A related position, e.g. the first of two equal names.
    pub related: Option<(Span, String)>,
    /// Remedy.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a position.
    pub(in crate::spec) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), span, label: String::new(), related: None, help: None }
    }

    pub(in crate::spec) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(in crate::spec) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(in crate::spec) fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }
}

/// A text that diagnostics point into.
#[derive(Debug, Clone)]
pub(in crate::spec) struct Source {
    /// File name, or the option on the command line.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Maximum number of errors that are kept. More errors usually have a common cause, such as a file
/// that is not a spec.
const ERRORS_MAX: usize = 100;

/// Collects the errors of all sections, and the positions of secrets that must not be shown.
#[derive(Debug, Default)]
pub(in crate::spec) struct Problems {
    found: RefCell<Vec<Diagnostic>>,
    secrets: RefCell<Vec<Span>>,
}

impl Problems {
    /// Records an error. The same message at the same position counts once: configurations share
    /// most of their text.
    pub(in crate::spec) fn report(&self, diagnostic: Diagnostic) {
        let mut found = self.found.borrow_mut();
        if found.len() < ERRORS_MAX
            && !found
                .iter()
                .any(|other| other.span == diagnostic.span && other.message == diagnostic.message)
        {
            found.push(diagnostic);
        }
    }

    /// Records an error with its remedy.
    pub(in crate::spec) fn refuse(
        &self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(Diagnostic::new(span, message).help(help));
    }

    /// Records that two things exclude each other.
    pub(in crate::spec) fn refuse_both(&self, span: Span, other: Span, message: impl Into<String>) {
        let diagnostic = Diagnostic::new(span, message).related(other, "the other one");
        self.report(diagnostic.help("remove one of them"));
    }

    /// Hides a position from every message, because it may contain a password.
    pub(in crate::spec) fn hide(&self, span: Span) {
        self.secrets.borrow_mut().push(span);
    }

    pub(in crate::spec) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    pub(in crate::spec) fn into_parts(self) -> (Vec<Diagnostic>, Vec<Span>) {
        (self.found.into_inner(), self.secrets.into_inner())
    }
}

/// All errors of a spec, with the texts that they refer to. Passwords in those texts are masked.
#[derive(Clone)]
pub struct Diagnostics {
    sources: Vec<Source>,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(in crate::spec) fn new(mut sources: Vec<Source>, problems: Problems) -> Self {
        let (mut list, secrets) = problems.into_parts();
        list.sort_by_key(|diagnostic| diagnostic.span);
        mask_passwords(&mut sources, &secrets);
        Self { sources, list }
    }

    /// The same errors with each line of the first text as a separate text with the given name: for
    /// a spec that was generated from a command line.
    #[must_use]
    pub fn by_line(mut self, name: impl Fn(&str) -> &'static str) -> Self {
        let text = self.sources[0].text.clone();
        let starts: Vec<usize> = text
            .split_inclusive('\n')
            .scan(0, |next, line| Some(std::mem::replace(next, *next + line.len())))
            .collect();
        let first = self.sources.len();
        let lines =
            text.lines().map(|line| Source { name: name(line).to_owned(), text: line.to_owned() });
        self.sources.extend(lines);
        let moved = |span: &mut Span| {
            if span.source == 0 && !starts.is_empty() {
                let line = starts.partition_point(|start| *start <= span.start) - 1;
                let start = starts[line];
                *span = Span::new(first + line, span.start - start..span.end.saturating_sub(start));
            }
        };
        for diagnostic in &mut self.list {
            moved(&mut diagnostic.span);
            diagnostic.related.iter_mut().for_each(|(span, _)| moved(span));
        }
        self
    }

    /// The errors, in the order of their positions.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Number of errors; at least 1.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Always false for the result of [`crate::spec::parse`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All errors as text for a terminal without colours, or a file.
    #[must_use]
    pub fn render_plain(&self) -> String {
        self.render(&Renderer::plain())
    }

    /// All errors with colours (ANSI escape sequences).
    #[must_use]
    pub fn render_styled(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let rendered: Vec<String> =
            self.list.iter().map(|diagnostic| renderer.render(&self.report(diagnostic))).collect();
        rendered.join("\n\n")
    }

    fn report<'a>(&'a self, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
        let primary = AnnotationKind::Primary
            .span(self.visible(diagnostic.span))
            .label((!diagnostic.label.is_empty()).then_some(diagnostic.label.as_str()));
        let mut snippet = self.snippet(diagnostic.span.source).annotation(primary);
        let mut other = None;
        if let Some((span, label)) = &diagnostic.related {
            let context = AnnotationKind::Context.span(self.visible(*span)).label(label.as_str());
            if span.source == diagnostic.span.source {
                snippet = snippet.annotation(context);
            } else {
                other = Some(self.snippet(span.source).annotation(context));
            }
        }
        let mut group = Level::ERROR.primary_title(diagnostic.message.as_str()).element(snippet);
        if let Some(other) = other {
            group = group.element(other);
        }
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        vec![group]
    }

    fn snippet<'a>(&'a self, source: usize) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let source = &self.sources[source];
        Snippet::source(source.text.as_str()).path(source.name.as_str())
    }

    /// The position clipped to the text and to character boundaries, and to its first line, so that
    /// a missing key does not underline a whole table.
    fn visible(&self, span: Span) -> Range<usize> {
        let text = &self.sources[span.source].text;
        let floor = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(span.start.min(text.len()));
        let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |length| start + length);
        let end = floor(span.end.min(line_end)).max(start);
        start..end
    }
}

/// One line per error, for tests and logs: `rush.toml:3:7: message`.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            let source = &self.sources[diagnostic.span.source];
            let before = &source.text[..self.visible(diagnostic.span).start];
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{line}:{column}: {}", source.name, diagnostic.message)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Diagnostics({self})")
    }
}

impl std::error::Error for Diagnostics {}

/// Masks known passwords, and text that looks like a password in a URL.
pub(in crate::spec) fn mask_passwords(sources: &mut [Source], secrets: &[Span]) {
    for source in &mut *sources {
        for range in passwords(&source.text) {
            black_out(&mut source.text, range);
        }
    }
    for span in secrets {
        black_out(&mut sources[span.source].text, span.start..span.end);
    }
}

/// Replaces a range by as many asterisks as it has bytes, so that all other spans remain valid.
fn black_out(text: &mut String, range: Range<usize>) {
    let range = range.start.min(text.len())..range.end.min(text.len());
    if text.is_char_boundary(range.start) && text.is_char_boundary(range.end) {
        let stars = "*".repeat(range.len());
        text.replace_range(range, &stars);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blacking_out_keeps_every_other_byte_where_it_was() {
        let mut text = "a:비밀@b".to_owned();
        black_out(&mut text, 2..8);
        assert_eq!(text, "a:******@b");
    }
}
