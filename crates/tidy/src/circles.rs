//! Circles of files: files of a crate that name each other's items, from the first to the last and back.
//!
//! A file names another by an import or a path that leads to an item defined there; a name that a module
//! shows from below leads to the file below. A file that only shows names of others, and doesn't use them,
//! doesn't depend on them. Methods of one type that call each other from several files aren't found.

use crate::paths::{Import, Named, Names};
use crate::source::Source;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Where a path leads that goes through this many modules that show it, or further.
const SHOWN_MAX: usize = 8;

/// The files of a crate.
struct Crate<'s> {
    files: Vec<(&'s str, Vec<String>, Names)>,
    /// The file of each module by the module's names.
    modules: HashMap<Vec<String>, usize>,
}

/// A glob import, or a file in a circle with the files of the circle that it names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// `circle` or `glob`.
    what: &'static str,
    /// Relative to the crate.
    file: String,
    why: String,
}

/// All circles and globs of all crates.
pub fn findings(sources: &[Source]) -> Vec<String> {
    let root = |source: &Source| {
        let folder = source.path.strip_suffix("lib.rs").or(source.path.strip_suffix("main.rs"))?;
        folder.ends_with("/src/").then(|| folder.to_owned())
    };
    let folders: BTreeSet<String> = sources.iter().filter_map(root).collect();
    let of_crate = |folder: String| {
        let found = Crate::read(&folder, sources).findings();
        found.into_iter().map(move |one| format!("{folder}: {} {}, which {}", one.what, one.file, one.why))
    };
    folders.into_iter().flat_map(of_crate).collect()
}

impl<'s> Crate<'s> {
    /// Reads the sources below `folder`, which ends with `/src/`.
    fn read(folder: &str, sources: &'s [Source]) -> Self {
        let has_lib = sources.iter().any(|source| source.path == format!("{folder}lib.rs"));
        let mut files = Vec::new();
        for source in sources.iter().filter(|source| !source.is_of_tests()) {
            let Some(path) = source.path.strip_prefix(folder) else { continue };
            // A program beside a library is a crate of its own.
            if path.starts_with("bin/") || (path == "main.rs" && has_lib) {
                continue;
            }
            let mut module: Vec<String> =
                path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
            let names = Names::read(&module, &source.text);
            files.push((path, module, names));
        }
        let of_tests: HashSet<Vec<String>> =
            files.iter().flat_map(|(_, _, names)| names.of_tests.iter().cloned()).collect();
        files.retain(|(_, module, _)| !of_tests.iter().any(|of_tests| module.starts_with(of_tests)));
        let modules = files.iter().enumerate().map(|(at, (_, module, _))| (module.clone(), at)).collect();
        Self { files, modules }
    }

    /// All findings, in order.
    fn findings(&self) -> Vec<Finding> {
        let arrows: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|at| self.arrows(at)).collect();
        let reached: Vec<HashSet<usize>> = (0..arrows.len()).map(|at| reach(&arrows, at)).collect();
        let mut findings = Vec::new();
        for (at, (file, _, names)) in self.files.iter().enumerate() {
            let in_circle = arrows[at].iter().filter(|&&other| reached[other].contains(&at));
            let others: Vec<&str> = in_circle.map(|&other| self.files[other].0).collect();
            let finding = |what, why| Finding { what, file: (*file).to_owned(), why };
            if !others.is_empty() {
                findings.push(finding("circle", format!("names {}", others.join(", "))));
            }
            let globs = names.imports.iter().filter(|import| import.alias.is_none());
            let of_modules = globs.filter(|import| {
                self.absolute(at, &import.named).is_some_and(|path| self.modules.contains_key(&path))
            });
            findings.extend(
                of_modules.map(|import| finding("glob", format!("uses {}::*", import.named.path.join("::")))),
            );
        }
        findings.sort();
        findings
    }

    /// The other files that a file names.
    fn arrows(&self, at: usize) -> BTreeSet<usize> {
        let names = &self.files[at].2;
        let is_used = |import: &&Import| {
            !import.is_shown || import.alias.as_ref().is_none_or(|alias| names.words.contains(alias))
        };
        let imported = names.imports.iter().filter(is_used).map(|import| &import.named);
        let targets = imported.chain(&names.paths).filter_map(|named| {
            let path = self.absolute(at, named)?;
            // An import of a module: the paths that begin with its name say what is used.
            if self.modules.contains_key(&path) { self.namesake(&path) } else { self.target(path, SHOWN_MAX) }
        });
        let globs = names.imports.iter().filter(|import| import.alias.is_none() && !import.is_shown);
        let of_globs = globs.filter_map(|import| self.target(self.absolute(at, &import.named)?, SHOWN_MAX));
        targets.chain(of_globs).filter(|&other| other != at).collect()
    }

    /// The file that defines the function or macro that a module has beside a module of this name.
    fn namesake(&self, path: &[String]) -> Option<usize> {
        let (name, above) = path.split_last()?;
        let at = *self.modules.get(above)?;
        let names = &self.files[at].2;
        if names.defined.contains(name) {
            return Some(at);
        }
        let import = names.imports.iter().find(|import| {
            import.alias.as_ref() == Some(name) && import.named.module == above && import.named.path.len() > 1
        })?;
        self.target(self.absolute(at, &import.named)?, SHOWN_MAX)
    }

    /// A path from the crate's root; none if it leads to another crate.
    fn absolute(&self, at: usize, named: &Named) -> Option<Vec<String>> {
        let Named { module, path } = named;
        let (first, rest) = path.split_first()?;
        let below = |module: &[String], rest: &[String]| Some([module, rest].concat());
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => below(module, rest),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                below(&module[..module.len().checked_sub(ups)?], &path[ups..])
            }
            _ if self.modules.contains_key(&[&module[..], &path[..1]].concat()) => below(module, path),
            _ => {
                let imports = self.files[at].2.imports.iter();
                let import = imports.clone().find(|import| {
                    import.alias.as_ref() == Some(first)
                        && import.named != *named
                        && import.named.module == *module
                })?;
                // An import of the same name: `use rand::rand`.
                if import.named.path.first() == Some(first) {
                    return None;
                }
                [self.absolute(at, &import.named)?, rest.to_vec()].concat().into()
            }
        }
    }

    /// The file that defines what a path from the root leads to.
    fn target(&self, path: Vec<String>, left: usize) -> Option<usize> {
        let (len, at) =
            (0..=path.len()).rev().find_map(|len| Some((len, *self.modules.get(&path[..len])?)))?;
        let names = &self.files[at].2;
        let Some(name) = path.get(len).filter(|name| left > 0 && !names.defined.contains(*name)) else {
            return Some(at);
        };
        let here = names.imports.iter().filter(|import| import.named.module == path[..len]);
        let (named, globs): (Vec<_>, Vec<_>) = here.partition(|import| import.alias.is_some());
        if let Some(import) = named.iter().find(|import| import.alias.as_ref() == Some(name)) {
            let through = [self.absolute(at, &import.named)?, path[len + 1..].to_vec()].concat();
            return self.target(through, left - 1);
        }
        let through = |import: &&Import| {
            let other = self.target(self.absolute(at, &import.named)?, left - 1)?;
            self.files[other].2.defined.contains(name).then_some(other)
        };
        Some(globs.iter().find_map(through).unwrap_or(at))
    }
}

/// The files that one reaches by arrows.
fn reach(arrows: &[BTreeSet<usize>], from: usize) -> HashSet<usize> {
    let (mut reached, mut left) = (HashSet::new(), vec![from]);
    while let Some(at) = left.pop() {
        left.extend(arrows[at].iter().filter(|&&other| reached.insert(other)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(format!("crates/x/src/{path}"), *text)).collect();
        let findings = Crate::read("crates/x/src/", &sources).findings();
        findings.iter().map(|one| format!("{} {} {}", one.what, one.file, one.why)).collect()
    }

    #[test]
    fn a_circle_is_found_through_what_a_module_shows() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;\npub use b::B;"),
            ("a.rs", "use crate::B;\npub struct A;"),
            ("b.rs", "mod below;\npub use below::B;"),
            ("b/below.rs", "use super::super::c;\npub struct B(c::C);"),
            ("c.rs", "pub struct C; fn f() { crate::a::A; }"),
        ];
        let expected =
            ["circle a.rs names b/below.rs", "circle b/below.rs names c.rs", "circle c.rs names a.rs"];
        assert_eq!(found(&files), expected);
    }

    #[test]
    fn a_parent_that_uses_its_child_and_is_used_by_it_is_a_circle_and_one_that_shows_it_is_not() {
        let child = ("a/child.rs", "use super::Own;\npub struct Child(Own);");
        let shows = "mod child;\npub(crate) use child::Child;\nstruct Own;";
        assert_eq!(found(&[("a.rs", shows), child]), [""; 0]);
        let uses = format!("{shows}\nfn f(_: Child) {{}}");
        assert_eq!(found(&[("a.rs", &uses), child]).len(), 2);
        let by_path = "mod child;\nstruct Own;\nfn f(_: child::Child) {}";
        assert_eq!(found(&[("a.rs", by_path), child]).len(), 2);
    }

    #[test]
    fn a_function_that_is_called_as_its_module_is_found() {
        let shows = ("a.rs", "mod bars; mod curves; pub use bars::bars; pub use curves::WIDTH;");
        let curves = ("a/curves.rs", "pub const WIDTH: f64 = 1.0; fn f() { super::bars(); }");
        let bars = ("a/bars.rs", "use super::curves::WIDTH; pub fn bars() {}");
        let expected =
            ["circle a/bars.rs names a/curves.rs", "circle a/curves.rs names a/bars.rs"].map(str::to_owned);
        assert_eq!(found(&[shows, curves, bars]), expected);
        let module = ("a/curves.rs", "use super::bars; pub const WIDTH: f64 = 1.0;");
        assert_eq!(found(&[("a.rs", "mod bars; mod curves;"), module, bars]), [""; 0]);
    }

    #[test]
    fn globs_are_found_and_tests_are_not() {
        let files = [
            (
                "a.rs",
                "mod child; mod tests_of_it; #[cfg(test)] mod only;\nstruct Own;\nfn f(_: child::Child) {}",
            ),
            ("a/child.rs", "use super::*;\npub struct Child;\n#[cfg(test)]\nmod tests { use super::*; }"),
            ("a/only.rs", "use super::*;"),
            ("b.rs", "#[cfg(test)]\nmod tests { use crate::c::C; }"),
            (
                "c.rs",
                "use std::fmt::*;\nuse crate::b::B;\nuse crate::a::*;\nenum E { F }\nfn f() { use E::*; }",
            ),
        ];
        let expected = [
            "circle a.rs names a/child.rs",
            "circle a/child.rs names a.rs",
            "glob a/child.rs uses super::*",
            "glob c.rs uses crate::a::*",
        ];
        assert_eq!(found(&files), expected);
    }
}
