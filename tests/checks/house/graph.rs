//! Dependencies between files, by the names that they use of each other.
//!
//! A file depends on another if it names an item that is defined there, in a path (`super::pace::UNIT`,
//! `memory::zeros`) or by a `use` of its own. Not counted are:
//! - a re-export (`pub use`, `pub(crate) use`): a path through it leads to the file of the definition;
//! - names that a parent (`mod.rs`, `lib.rs`) uses of the modules below it: it puts them together, and they may name its
//!   definitions;
//! - the name of a module, and methods;
//! - code under `#[cfg(test)]`.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{File, Token};

/// A module of the crate, and the file that it is in.
#[derive(Debug, Default)]
struct Module {
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    /// Items that a `use` imports, by name; several if functions have their own `use`.
    uses: Vec<(String, Vec<String>)>,
    /// The modules from which a `use` imports all.
    globs: Vec<Vec<String>>,
    /// Each path that is named here, but for re-exports.
    named: BTreeSet<Vec<String>>,
}

/// Target of a path.
enum Target {
    Module(usize),
    /// An item of this name, in the file of this module.
    Item(usize, String),
}

/// Dependencies of each file, with the names that cause them.
pub struct Graph(BTreeMap<String, BTreeMap<String, BTreeSet<String>>>);

/// Files that depend on each other.
pub struct Cycle {
    pub files: Vec<String>,
    pub told: String,
}

impl Graph {
    /// Makes the graph of the crate whose root is `src/lib.rs`.
    pub fn of_crate(files: &[File]) -> Graph {
        let files: BTreeMap<&str, &File> = files.iter().map(|file| (&*file.path, file)).collect();
        let mut modules = Vec::new();
        Module::read(&files, "src/lib.rs", None, &mut modules);
        let mut graph = Graph(BTreeMap::new());
        for (index, module) in modules.iter().enumerate() {
            for path in &module.named {
                if let Some(Target::Item(owner, name)) = resolve(&modules, index, path, 0)
                    && !is_within(&modules, owner, index)
                {
                    let edges = graph.0.entry(module.file.clone()).or_default();
                    edges.entry(modules[owner].file.clone()).or_default().insert(name);
                }
            }
        }
        graph
    }

    /// All groups of files that depend on each other, directly or not.
    pub fn circles(&self) -> Vec<Cycle> {
        let reach: BTreeMap<&str, BTreeSet<&str>> = self.0.keys().map(|file| (&**file, self.reached(file))).collect();
        let reaches = |a: &str, b: &str| reach.get(a).is_some_and(|reached| reached.contains(b));
        let mut circles: Vec<Cycle> = Vec::new();
        for file in self.0.keys().filter(|file| reaches(file, file)) {
            if circles.iter().any(|circle| circle.files.contains(file)) {
                continue;
            }
            let files: Vec<String> =
                self.0.keys().filter(|other| reaches(file, other) && reaches(other, file)).cloned().collect();
            let inside = self.0.iter().filter(|(from, _)| files.contains(from)).flat_map(|(from, edges)| {
                let edges = edges.iter().filter(|(to, _)| files.contains(to));
                edges.map(move |(to, names)| {
                    let names: Vec<_> = names.iter().map(String::as_str).collect();
                    format!("    {from} -> {to}: {}", names.join(", "))
                })
            });
            let told = format!("files that depend on each other:\n{}\n", inside.collect::<Vec<_>>().join("\n"));
            circles.push(Cycle { files, told });
        }
        circles
    }

    fn reached(&self, file: &str) -> BTreeSet<&str> {
        let (mut reached, mut next) = (BTreeSet::new(), vec![file]);
        while let Some(from) = next.pop() {
            for to in self.0.get(from).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(&**to) {
                    next.push(to);
                }
            }
        }
        reached
    }
}

impl Module {
    /// Reads the module in a file, and those below it. Its number is where it stands among all.
    fn read(files: &BTreeMap<&str, &File>, path: &str, parent: Option<usize>, modules: &mut Vec<Module>) -> usize {
        let file = files.get(path).unwrap_or_else(|| panic!("there is no {path}"));
        let index = modules.len();
        modules.push(Module { file: path.to_string(), parent, ..Module::default() });
        let mut module = Module::default();
        let mut children = Vec::new();
        let tokens = &file.tokens;
        let (mut at, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            if is_for_tests(&tokens[at..]) {
                at = end_of_item(file, at);
                continue;
            }
            let token = &tokens[at];
            let next = tokens.get(at + 1).filter(|next| next.is_word());
            match (&*token.text, next) {
                ("(" | "[" | "{", _) => depth += 1,
                (")" | "]" | "}", _) => depth -= 1,
                ("use", _) => at = module.read_use(file, at),
                ("mod", Some(name)) if depth == 0 && tokens[at + 2].is(";") => children.push(name.text.clone()),
                ("fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" | "mod", Some(name))
                    if depth == 0 =>
                {
                    module.items.insert(name.text.clone());
                    // A name is no use of it; `const fn` is followed by its name.
                    at += usize::from(!name.is("fn") && !name.is("unsafe"));
                }
                ("macro_rules", _) if depth == 0 => drop(module.items.insert(tokens[at + 2].text.clone())),
                _ if token.is_word() && !at.checked_sub(1).is_some_and(|ahead| tokens[ahead].is(".")) => {
                    let path = path_at(&tokens[at..]);
                    at += 2 * (path.len() - 1);
                    module.named.insert(path);
                }
                _ => {}
            }
            at += 1;
        }
        let folder = match path.strip_suffix("/mod.rs").or(path.strip_suffix("/lib.rs")) {
            Some(folder) => folder.to_string(),
            None => path.trim_end_matches(".rs").to_string(),
        };
        for name in children {
            let choices = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
            let child = choices.iter().find(|path| files.contains_key(&***path));
            let child = child.unwrap_or_else(|| panic!("{path}: there is no file for the module {name}"));
            module.children.insert(name, Module::read(files, child, Some(index), modules));
        }
        modules[index] = Module { file: path.to_string(), parent, ..module };
        index
    }

    /// Reads a `use`, up to its `;`.
    fn read_use(&mut self, file: &File, at: usize) -> usize {
        let tokens = &file.tokens;
        let exports = at.checked_sub(1).is_some_and(|ahead| tokens[ahead].is("pub") || tokens[ahead].is(")"));
        let end = file.find_outside(at, &[";"]).expect("a `use` ends");
        let mut leaves = Vec::new();
        read_tree(&tokens[at + 1..end], &[], &mut leaves);
        for (path, name) in leaves {
            if name == "*" {
                self.globs.push(path);
                continue;
            }
            if !exports {
                self.named.insert(path.clone());
            }
            self.uses.push((name, path));
        }
        end
    }
}

/// The leaves of a tree of a `use`: each with its name here, `*` for all of a module.
fn read_tree(tokens: &[Token], ahead: &[String], leaves: &mut Vec<(Vec<String>, String)>) {
    let mut path = ahead.to_vec();
    let mut at = 0;
    while at < tokens.len() {
        match &*tokens[at].text {
            "{" => {
                let inside = &tokens[at + 1..tokens.len() - 1];
                let mut depth = 0;
                let branches = inside.split(|token| {
                    depth += i32::from(token.is("{")) - i32::from(token.is("}"));
                    depth == 0 && token.is(",")
                });
                return branches
                    .filter(|branch| !branch.is_empty())
                    .for_each(|branch| read_tree(branch, &path, leaves));
            }
            "*" => return leaves.push((path, "*".to_string())),
            "as" => return leaves.push((path, tokens[at + 1].text.clone())),
            "self" if !path.is_empty() => {}
            "::" => {}
            name => path.push(name.to_string()),
        }
        at += 1;
    }
    let name = path.last().cloned().unwrap_or_default();
    leaves.push((path, name));
}

/// The path that begins here: words with `::` between them.
fn path_at(tokens: &[Token]) -> Vec<String> {
    let mut path = vec![tokens[0].text.clone()];
    let mut rest = &tokens[1..];
    while let [colons, word, ..] = rest
        && colons.is("::")
        && word.is_word()
    {
        path.push(word.text.clone());
        rest = &rest[2..];
    }
    path
}

/// True if `#[cfg(test)]` begins here, or another condition that asks for tests.
fn is_for_tests(tokens: &[Token]) -> bool {
    let [hash, open, cfg, ..] = tokens else { return false };
    if !(hash.is("#") && open.is("[") && cfg.is("cfg")) {
        return false;
    }
    let condition: Vec<_> =
        tokens.iter().skip(3).take_while(|token| !token.is("]")).map(|token| &*token.text).collect();
    condition.contains(&"test") && !condition.contains(&"not")
}

/// Behind the item whose attribute is here: at its `;`, its block, or the comma behind it.
fn end_of_item(file: &File, at: usize) -> usize {
    let attribute = file.find_outside(at, &["["]).map(|open| file.end_of(open) + 1).expect("an attribute ends");
    match file.find_outside(attribute, &[";", "{", ","]) {
        Some(end) if file.tokens[end].is("{") && !file.tokens[attribute..end].iter().any(|token| token.is("use")) => {
            file.end_of(end) + 1
        }
        Some(end) if file.tokens[end].is("{") => file.end_of(end) + 2,
        Some(end) => end + 1,
        None => file.tokens.len(),
    }
}

/// True if a module is another one, or below it.
fn is_within(modules: &[Module], module: usize, other: usize) -> bool {
    module == other || modules[module].parent.is_some_and(|parent| is_within(modules, parent, other))
}

/// Returns the target of a path, named in a module; `None` if it is outside the crate.
fn resolve(modules: &[Module], scope: usize, path: &[String], depth: usize) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let mut target = match &**first {
        "crate" => Target::Module(0),
        "self" => Target::Module(scope),
        "super" => Target::Module(modules[scope].parent?),
        name => look_up(modules, scope, name, depth)?,
    };
    for name in rest {
        target = match target {
            // A variant, or another member of an item.
            Target::Item(..) => return Some(target),
            Target::Module(module) if name == "super" => Target::Module(modules[module].parent?),
            Target::Module(module) => look_up(modules, module, name, depth)?,
        };
    }
    Some(target)
}

/// Returns the target of a name in a module.
fn look_up(modules: &[Module], scope: usize, name: &str, depth: usize) -> Option<Target> {
    /// Re-exports of re-exports; more would be a `use` that leads to itself.
    const DEEPEST: usize = 12;
    if depth > DEEPEST {
        return None;
    }
    let module = &modules[scope];
    if module.items.contains(name) {
        return Some(Target::Item(scope, name.to_string()));
    }
    if let Some(&child) = module.children.get(name) {
        return Some(Target::Module(child));
    }
    let used = module.uses.iter().filter(|(of, path)| of == name && path.len() > 1);
    used.map(|(_, path)| path).find_map(|path| resolve(modules, scope, path, depth + 1)).or_else(|| {
        module.globs.iter().find_map(|path| match resolve(modules, scope, path, depth + 1)? {
            Target::Module(other) if other != scope => look_up(modules, other, name, depth + 1),
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::{RUST, file};
    use super::*;

    #[test]
    fn circles_are_found_with_the_names_that_tie_them() {
        let crate_of = |b: &str| {
            let root = "//! A page.\nmod a; mod b; mod c; mod d;\npub use a::long;\nuse d::Tested;";
            let files = [
                file("src/lib.rs", root),
                file("src/a.rs", RUST),
                file("src/b.rs", b),
                file("src/c.rs", "use super::a; pub struct Exported; pub fn calls() { a::long() }"),
                file("src/d.rs", "pub struct Tested;"),
            ];
            Graph::of_crate(&files).circles()
        };
        let things = "pub enum Thing { Variant } pub fn value(_: Thing) {}";
        assert_eq!(crate_of(things).len(), 0, "a re-export is no dependency, and tests are left out");
        // Through the root's re-export.
        let circles = crate_of(&format!("{things} fn back() {{ crate::long() }}"));
        assert_eq!(circles.len(), 1);
        assert_eq!(circles[0].files, ["src/a.rs", "src/b.rs"]);
        assert!(circles[0].told.contains("src/a.rs -> src/b.rs: Thing, value\n"), "{}", circles[0].told);
        assert!(circles[0].told.contains("src/b.rs -> src/a.rs: long\n"), "{}", circles[0].told);
        assert_eq!(crate_of(&format!("{things} use crate::a::*; fn back() {{ long() }}")).len(), 1, "a glob");
        assert_eq!(crate_of(&format!("{things} use crate::c::calls;")).len(), 1, "two ways round");
    }
}
