//! Sources as words, signs and comments, and where their functions end.

use std::fs;
use std::path::Path;

/// Folders and files of the sources, from the root of the package.
const FOLDERS: [&str; 5] = ["benches", "build.rs", "cuda", "src", "tests"];

/// Endings of the sources' names.
const ENDINGS: [&str; 8] = [".rs", ".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp"];

/// Folders of scripts.
const FOLDERS_OF_SCRIPTS: [&str; 5] = ["benches", "examples", "matlab", "packaging", "tests"];

/// A file of the sources.
pub struct File {
    /// From the root of the package.
    pub path: String,
    pub text: String,
    pub tokens: Vec<Token>,
    comments: Vec<Comment>,
}

pub fn is_test(path: &str) -> bool {
    path.starts_with("tests/") || path.ends_with("/tests.rs")
}

/// All sources, in the order of their paths.
pub fn sources() -> Vec<File> {
    files(&FOLDERS, |path| ENDINGS.iter().any(|end| path.ends_with(end)))
}

/// All scripts: of MATLAB and Octave, Python and the shell. Only their comments are read.
pub fn scripts() -> Vec<File> {
    files(&FOLDERS_OF_SCRIPTS, is_script)
}

/// True for the name of a script. Those of the shell have no ending.
fn is_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !name.contains('.') || [".m", ".tst", ".py"].iter().any(|end| name.ends_with(end))
}

fn files(folders: &[&str], is_wanted: fn(&str) -> bool) -> Vec<File> {
    fn collect(root: &Path, path: String, is_wanted: fn(&str) -> bool, found: &mut Vec<File>) {
        let at = root.join(&path);
        if at.is_dir() {
            let entries = fs::read_dir(&at).unwrap_or_else(|error| panic!("{path}: {error}"));
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names.into_iter().for_each(|name| collect(root, format!("{path}/{name}"), is_wanted, found));
        } else if is_wanted(&path) {
            let text = fs::read_to_string(&at).unwrap_or_else(|error| panic!("{path}: {error}"));
            found.push(File::new(&path, text));
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        collect(Path::new(env!("CARGO_MANIFEST_DIR")), folder.to_string(), is_wanted, &mut found);
    }
    assert!(found.len() > 150, "only {} files were found in {folders:?}", found.len());
    found
}

/// A word or a sign, and its line, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// A line of a comment without its marker; `alone` if nothing else is ahead of it on the line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Comment {
    text: String,
    line: usize,
    alone: bool,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

impl File {
    pub fn new(path: &str, text: String) -> File {
        let (tokens, comments) = match is_script(path) {
            true => (Vec::new(), comments_of_script(&text)),
            false => lex(&text, path.ends_with(".rs")),
        };
        File { path: path.to_string(), text, tokens, comments }
    }

    /// The lines of comments' paragraphs that begin so. A line of a list begins a paragraph, too.
    pub fn paragraphs_that_begin(&self, words: &str) -> Vec<usize> {
        let mut last: Option<&Comment> = None;
        let mut found = Vec::new();
        for comment in &self.comments {
            let goes_on = last.is_some_and(|last| last.alone && last.line + 1 == comment.line && !last.text.is_empty());
            let item = comment.text.strip_prefix("- ");
            if (!goes_on || !comment.alone || item.is_some()) && item.unwrap_or(&comment.text).starts_with(words) {
                found.push(comment.line);
            }
            last = Some(comment);
        }
        found
    }

    /// The functions that have a body: the name, the first line and the last.
    pub fn functions(&self) -> Vec<(String, usize, usize)> {
        if self.path.ends_with(".rs") { self.rust_functions() } else { self.cuda_functions() }
    }

    fn rust_functions(&self) -> Vec<(String, usize, usize)> {
        let mut found = Vec::new();
        for (at, pair) in self.tokens.windows(2).enumerate() {
            if pair[0].is("fn") && pair[1].is_word() {
                let body = self.find_outside(at + 2, &["{", ";"]);
                if let Some(body) = body.filter(|&body| self.tokens[body].is("{")) {
                    found.push((pair[1].text.clone(), pair[0].line, self.tokens[self.end_of(body)].line));
                }
            }
        }
        found
    }

    /// Returns the items that have a body behind their parameters, at the level of namespaces and structs.
    fn cuda_functions(&self) -> Vec<(String, usize, usize)> {
        const NOT_NAMES: [&str; 4] = ["__launch_bounds__", "__attribute__", "alignas", "requires"];
        let (mut found, mut at, mut begin) = (Vec::new(), 0, 0);
        while at < self.tokens.len() {
            let token = &self.tokens[at];
            if token.is("{") {
                let head = &self.tokens[begin..at];
                let named = |(i, token): (usize, &Token)| {
                    let name = i.checked_sub(1).map(|i| &head[i]).filter(|name| name.is_word())?;
                    (token.is("(") && !NOT_NAMES.contains(&&*name.text)).then(|| name.clone())
                };
                let name = head.iter().enumerate().find_map(named);
                let holds_items =
                    head.iter().any(|token| ["namespace", "struct", "class", "extern"].contains(&&*token.text));
                match name {
                    Some(name) => {
                        let end = self.end_of(at);
                        found.push((name.text.clone(), name.line, self.tokens[end].line));
                        at = end;
                    }
                    None if holds_items || head.is_empty() => {}
                    // An enumeration, or values.
                    None => at = self.end_of(at),
                }
                begin = at + 1;
            } else if token.is(";") || token.is("}") {
                begin = at + 1;
            }
            at += 1;
        }
        found
    }

    /// The first of these signs at or behind a place, outside of brackets that open behind it.
    pub fn find_outside(&self, mut at: usize, signs: &[&str]) -> Option<usize> {
        while at < self.tokens.len() {
            let text = &*self.tokens[at].text;
            if signs.contains(&text) {
                return Some(at);
            }
            if ["(", "[", "{"].contains(&text) {
                at = self.end_of(at);
            }
            at += 1;
        }
        None
    }

    /// The place of the bracket that closes the one here.
    pub fn end_of(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match &*token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        panic!("{}: a bracket of line {} is not closed", self.path, self.tokens[open].line)
    }
}

/// Splits a source into words and signs, and its comments. Texts and characters are left out, and so are lines for the
/// preprocessor.
fn lex(text: &str, rust: bool) -> (Vec<Token>, Vec<Comment>) {
    let bytes = text.as_bytes();
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    let (mut at, mut line, mut fresh) = (0, 1, true);
    let word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80;
    while at < bytes.len() {
        let rest = &text[at..];
        let begin = at;
        if bytes[at].is_ascii_whitespace() {
            fresh |= bytes[at] == b'\n';
            line += usize::from(bytes[at] == b'\n');
            at += 1;
            continue;
        }
        if rest.starts_with("//") || rest.starts_with("/*") {
            at += comment_length(rest, rust);
            for (i, text) in text[begin..at].lines().enumerate() {
                let text = text.trim().trim_start_matches(['/', '*', '!', ' ']).to_string();
                comments.push(Comment { text, line: line + i, alone: fresh || i > 0 });
            }
        } else if !rust && fresh && bytes[at] == b'#' {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += if rest.as_bytes()[at - begin..].starts_with(b"\\\n") { 2 } else { 1 };
            }
        } else if let Some(length) = text_length(rest, rust) {
            at += length;
        } else if word(bytes[at]) {
            // A number may have ' in it.
            let number = bytes[at].is_ascii_digit();
            while at < bytes.len() && (word(bytes[at]) || (number && !rust && bytes[at] == b'\'')) {
                at += 1;
            }
            tokens.push(Token { text: text[begin..at].to_string(), line });
        } else {
            at += if rest.starts_with("::") { 2 } else { 1 };
            tokens.push(Token { text: text[begin..at].to_string(), line });
        }
        line += text[begin..at].matches('\n').count();
        fresh = false;
    }
    (tokens, comments)
}

/// Returns the lines that are comments or begin a docstring. Text that is indented behind its sign, as in help texts,
/// stays so; a command of Texinfo or of the system is an empty line.
fn comments_of_script(text: &str) -> Vec<Comment> {
    let comment = |(i, line): (usize, &str)| {
        let line = line.strip_prefix("%!").unwrap_or(line).trim_start();
        if let Some(text) = line.strip_prefix("\"\"\"") {
            return Some(Comment { text: text.to_string(), line: i + 1, alone: false });
        }
        let text = line.trim_start_matches(['#', '%']);
        let is_command = text.trim_start().starts_with(['@', '!']) || text.starts_with(" -*-");
        let text = if is_command { "" } else { text.strip_prefix(' ').unwrap_or(text) };
        line.starts_with(['#', '%']).then(|| Comment { text: text.to_string(), line: i + 1, alone: true })
    };
    text.lines().enumerate().filter_map(comment).collect()
}

fn comment_length(rest: &str, nests: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < rest.len() {
        let pair = &rest.as_bytes()[at..rest.len().min(at + 2)];
        match pair {
            b"*/" => (at, depth) = (at + 2, depth - 1),
            b"/*" if nests => (at, depth) = (at + 2, depth + 1),
            _ => at += 1,
        }
    }
    at
}

/// Length of the string or character literal that begins here, if one does. (In Rust a lifetime is neither: its quote
/// is a token.)
fn text_length(rest: &str, rust: bool) -> Option<usize> {
    let ahead =
        rest.find(|c: char| !matches!(c, 'r' | 'R' | 'b' | 'c' | 'u' | 'L' | '8')).filter(|&ahead| ahead <= 3)?;
    let (prefix, rest) = rest.split_at(ahead);
    let length = match (rest.as_bytes()[0], prefix.contains(['r', 'R'])) {
        (b'"' | b'#', true) if rust => {
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            let inside = rest[hashes..].strip_prefix('"')?;
            let close = format!("\"{}", "#".repeat(hashes));
            hashes + 1 + inside.find(&close)? + close.len()
        }
        (b'"', true) => {
            let (mark, inside) = rest[1..].split_once('(')?;
            let close = format!("){mark}\"");
            1 + mark.len() + 1 + inside.find(&close)? + close.len()
        }
        (quote @ (b'"' | b'\''), _) => {
            let second = rest.chars().nth(2);
            if rust && quote == b'\'' && second != Some('\'') && !rest.starts_with("'\\") {
                return None;
            }
            let mut escaped = false;
            let end = rest.bytes().skip(1).position(|byte| {
                let ends = byte == quote && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            });
            end? + 2
        }
        _ => return None,
    };
    Some(ahead + length)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const RUST: &str = r##"
//! A page.
use crate::b::{self, Thing as Other};
pub use crate::c::Exported;
/// The same, at the beginning.
/// The same, in the middle of a sentence.
///
/// The same, in a paragraph of its own.
const fn short<'a>(text: &'a str) -> char { /* The same } */ '}' }
fn long() {
    let text = "{ \" fn not_one() {"; let raw = r#"{"}"#;
    format!("{}", b::value(Other::Variant)); // The same, behind code.
}
#[cfg(test)]
mod tests { use crate::d::Tested; fn of_tests() {} }
"##;

    pub fn file(path: &str, text: &str) -> File {
        File::new(path, text.to_string())
    }

    #[test]
    fn functions_of_rust_end_where_they_do() {
        let found = file("src/a.rs", RUST).functions();
        let expected = [("short", 9, 9), ("long", 10, 13), ("of_tests", 15, 15)];
        assert_eq!(found, expected.map(|(name, first, last)| (name.to_string(), first, last)));
    }

    #[test]
    fn functions_of_cuda_end_where_they_do() {
        let text = "#define BLOCK(x) \\\n { x\nnamespace a {\nstruct S {\n    int x{3};\n    __device__ int get() const {\n        \
                    return x;\n    }\n};\nenum E { A, B };\n} // namespace\nextern \"C\" __global__ void \
                    __launch_bounds__(1'024, 2)\nkernel(const S s, char c = '{') {\n    auto f = [&](int i) {\n        \
                    return i; };\n}\nint declared(int);\n";
        let found = file("cuda/a.cu", text).functions();
        assert_eq!(found, [("get".to_string(), 6, 8), ("kernel".to_string(), 13, 16)]);
    }

    #[test]
    fn paragraphs_are_told_from_lines() {
        assert_eq!(file("src/a.rs", RUST).paragraphs_that_begin("The same"), [5, 8, 9, 12]);
    }
    #[test]
    fn paragraphs_of_scripts_are_told_from_lines() {
        let text = "## -*- texinfo -*-\n## @deftypefn\n## What it is.\n## What goes on.\n##\n##   What a help text has.\n\
                    %!test # What a name is\n%! ## What is tested.\n    \"\"\"What a docstring says.\"\"\"\nx = 'What';\n";
        assert_eq!(file("tests/octave/a.tst", text).paragraphs_that_begin("What "), [3, 8, 9]);
        assert_eq!(file("tests/run", "#!/bin/sh\n# Of this.\n").paragraphs_that_begin("Of "), [2]);
    }
}
