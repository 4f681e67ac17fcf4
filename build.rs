//! Inputs of the library besides Rust: the host's `mex.h` and the kernels' PTX.
//!
//! - `api.rs`: a table of function pointers for the `mx*` and `mex*` functions that `src/mex` names, with the
//!   signatures of the header on this machine. A table and not `extern` blocks, because the symbols are looked up when
//!   the library runs: one library then serves hosts that export different names, and test programs link with no host
//!   at all.
//! - `arguments.rs`: the structs and numbers of `cuda/arguments.cuh`, which kernels and Rust share.
//! - `catalogue.rs`: what `cuda/modules.txt` says of the modules between which Rust chooses.
//! - `archive.rs`: the archive `cuda/kernels.bin` and where each module's PTX is in it, once it is certain that it was
//!   made from the sources beside it.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use quote::quote;
use regex::Regex;
use sha2::{Digest, Sha256};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Functions that `src/mex` calls. A header that lacks one of these cannot be built against.
const FUNCTIONS: &[&str] = &[
    "mexAtExit",
    "mexCallMATLAB",
    "mexCallMATLABWithTrap",
    "mexErrMsgIdAndTxt",
    "mexEvalString",
    "mexFunctionName",
    "mexPrintf",
    "mexWarnMsgIdAndTxt",
    "mxCreateDoubleScalar",
    "mxCreateLogicalArray",
    "mxCreateLogicalScalar",
    "mxCreateString",
    "mxCreateStructMatrix",
    "mxCreateUninitNumericArray",
    "mxDestroyArray",
    "mxGetClassID",
    "mxGetCell",
    "mxGetClassName",
    "mxGetData",
    "mxGetDimensions",
    "mxGetImagData",
    "mxGetNumberOfDimensions",
    "mxGetProperty",
    "mxGetString",
    "mxIsChar",
    "mxIsComplex",
    "mxIsNumeric",
    "mxIsSparse",
    "mxSetFieldByNumber",
];

/// The suffixes that a header's macros put on names to tell the versions of the API apart.
const SUFFIXES: [&str; 2] = ["_730", "_800"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Err(error) = run() {
        // The last line a user reads should be the advice, not a backtrace.
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let header = Header::find()?;
    fs::write(out.join("api.rs"), host_api(&header)?)?;
    fs::write(out.join("archive.rs"), kernel_archive(Path::new("cuda"))?)?;
    fs::write(out.join("catalogue.rs"), catalogue(Path::new("cuda"))?)?;
    fs::write(out.join("arguments.rs"), kernel_arguments(Path::new("cuda/arguments.cuh"))?)?;
    println!("cargo:rustc-env=STENCIL_BUILD={}", build_line(&header)?);
    Ok(())
}

/// Place of `mex.h`.
struct Header {
    origin: String,
    clang_args: Vec<String>,
}

impl Header {
    /// MATLAB's, where `MATLAB_ROOT` says there is one; else Octave's, as `mkoctfile` tells.
    fn find() -> Result<Header> {
        println!("cargo:rerun-if-env-changed=MATLAB_ROOT");
        println!("cargo:rerun-if-env-changed=MKOCTFILE");
        if let Some(root) = env::var_os("MATLAB_ROOT").filter(|root| !root.is_empty()) {
            let include = Path::new(&root).join("extern/include");
            if !include.join("mex.h").is_file() {
                return Err(format!("MATLAB_ROOT is set, but there is no {}", include.join("mex.h").display()).into());
            }
            println!("cargo:rerun-if-changed={}", include.display());
            // The separate-complex API is what the library is written for: it has been there in every MATLAB.
            let clang_args = vec![format!("-I{}", include.display()), "-DMATLAB_MEXCMD_RELEASE=700".into()];
            return Ok(Header { origin: "mex.h of MATLAB".into(), clang_args });
        }
        let mkoctfile = env::var("MKOCTFILE").unwrap_or_else(|_| "mkoctfile".into());
        let print = |what: &str| -> Result<String> {
            let advice = "the host's mex.h is needed: install octave-dev (apt-get install octave-dev), \
                          or set MATLAB_ROOT to MATLAB's folder";
            let output = Command::new(&mkoctfile)
                .args(["-p", what])
                .output()
                .map_err(|error| format!("{mkoctfile}: {error}; {advice}"))?;
            if !output.status.success() {
                return Err(format!("{mkoctfile} -p {what} failed; {advice}").into());
            }
            Ok(String::from_utf8(output.stdout)?.trim().to_owned())
        };
        let clang_args = print("INCFLAGS")?.split_whitespace().map(str::to_owned).collect();
        let version = print("OCTAVE_VERSION").unwrap_or_default();
        Ok(Header { origin: format!("mex.h of Octave {version}"), clang_args })
    }
}

/// Undoes what the header's macros do to the names.
#[derive(Debug)]
struct PlainNames;

impl bindgen::callbacks::ParseCallbacks for PlainNames {
    fn generated_name_override(&self, item: bindgen::callbacks::ItemInfo<'_>) -> Option<String> {
        SUFFIXES.iter().find_map(|suffix| item.name.strip_suffix(suffix)).map(str::to_owned)
    }
}

/// The types, constants and signatures of the header, the functions as the fields of a `struct Api`.
fn host_api(header: &Header) -> Result<String> {
    let mut builder = bindgen::Builder::default()
        .header_contents("host.h", "#include <mex.h>")
        .clang_args(&header.clang_args)
        .parse_callbacks(Box::new(bindgen::CargoCallbacks::new()))
        .parse_callbacks(Box::new(PlainNames))
        // A host raises errors as C++ exceptions: they must be able to pass.
        .override_abi(bindgen::Abi::CUnwind, ".*")
        .opaque_type("mxArray.*")
        .prepend_enum_name(false)
        .generate_comments(false)
        .merge_extern_blocks(true)
        .layout_tests(false)
        .formatter(bindgen::Formatter::None)
        .allowlist_type("mxClassID|mxComplexity|mxArray|mwSize");
    for name in FUNCTIONS {
        builder = builder.allowlist_function(format!("{name}({})?", SUFFIXES.join("|")));
    }
    let bindings = syn::parse_file(&builder.generate()?.to_string())?;

    let mut types = Vec::new();
    let mut functions = BTreeMap::new();
    for item in bindings.items {
        let syn::Item::ForeignMod(block) = item else {
            types.push(item);
            continue;
        };
        for item in block.items {
            if let syn::ForeignItem::Fn(function) = item {
                functions.insert(function.sig.ident.to_string(), function.sig);
            }
        }
    }
    let mut fields = Vec::new();
    let mut initialisers = Vec::new();
    for &name in FUNCTIONS {
        let signature = functions.get(name).ok_or_else(|| format!("{}: no function {name}", header.origin))?;
        let (ident, inputs, output, variadic) =
            (&signature.ident, &signature.inputs, &signature.output, signature.variadic.as_ref().map(|_| quote!(...)));
        fields.push(quote!(pub #ident: unsafe extern "C-unwind" fn(#inputs #variadic) #output));
        // SAFETY (of what is generated): the caller of `load` promises that a name's address is that of the function so
        // declared.
        initialisers.push(
            quote!(#ident: unsafe { ::core::mem::transmute::<*mut ::libc::c_void, _>(lookup(#name).ok_or(#name)?) }),
        );
    }
    let file = quote! {
        #(#types)*
        /// The host's functions, each as the header declares it.
        #[derive(Clone, Copy)]
        pub struct Api { #(#fields),* }
        impl Api {
            /// Fills the table. The error is the name of the first function that the host lacks.
            ///
            /// # Safety
            /// An address that `lookup` returns for a name must be that of the host's function of that name.
            pub unsafe fn load(
                lookup: impl Fn(&'static str) -> Option<*mut ::libc::c_void>,
            ) -> Result<Api, &'static str> {
                Ok(Api { #(#initialisers),* })
            }
        }
    };
    Ok(file.to_string())
}

/// A module of `modules.txt`.
struct Module<'a> {
    source: &'a str,
    name: &'a str,
    /// Its definitions, in capitals, and what was measured.
    numbers: Vec<(&'a str, &'a str)>,
    is_measured: bool,
}

impl Module<'_> {
    /// Its name, source and definitions, as `kernels.lock` has them.
    fn compiled(&self) -> String {
        let is_definition = |key: &str| key.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let definitions = self.numbers.iter().filter(|(key, _)| is_definition(key));
        let definitions: Vec<_> = definitions.map(|(key, value)| format!("{key}={value}")).collect();
        let definitions = if definitions.is_empty() { "-".into() } else { definitions.join(",") };
        format!("{} {} {definitions}", self.name, self.source)
    }

    /// As an `Entry` of `src/cuda/catalogue.rs`.
    fn entry(&self) -> String {
        let number = |&(key, value): &(&str, &str)| Some(format!("({key:?}, {:?})", value.parse::<f64>().ok()?));
        let numbers: Vec<_> = self.numbers.iter().filter_map(number).collect();
        let (name, is_float) = (self.name, self.numbers.contains(&("REAL", "float")));
        format!("Entry {{ name: {name:?}, is_float: {is_float}, numbers: &[{}] }}", numbers.join(", "))
    }
}

/// The modules of `modules.txt` that say what was measured: a constant list for each of their sources. Refuses definitions
/// that are others than those that the archive was compiled with.
fn catalogue(folder: &Path) -> Result<String> {
    let path = folder.join("modules.txt");
    let text = fs::read_to_string(&path)?;
    let mut modules: Vec<Module> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = words.iter().filter_map(|word| word.split_once('='));
        match (&words[..], modules.last_mut()) {
            (["measured", ..], Some(module)) => {
                module.numbers.extend(numbers);
                module.is_measured = true;
            }
            ([source, name, ..], _) if source.ends_with(".cu") => {
                modules.push(Module { source, name, numbers: numbers.collect(), is_measured: false });
            }
            _ => return Err(format!("{}: {line:?} is no module", path.display()).into()),
        }
    }
    let lock = fs::read_to_string(folder.join("kernels.lock"))?;
    let compiled = lock.lines().filter_map(|line| line.strip_prefix("module "));
    let compiled = compiled.map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" "));
    if !compiled.eq(modules.iter().map(Module::compiled)) {
        let path = path.display();
        return Err(format!("{path} and kernels.lock differ: run `make kernels` to compile the kernels again").into());
    }
    let mut entries: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for module in modules.iter().filter(|module| module.is_measured) {
        let stem = Path::new(module.source).file_stem().ok_or("a source without a name")?;
        entries.entry(stem.to_string_lossy().to_uppercase()).or_default().push(module.entry());
    }
    let lists = entries.iter().map(|(stem, entries)| {
        format!("pub(crate) const {stem}: [Entry; {}] = [\n{}\n];\n", entries.len(), entries.join(",\n"))
    });
    Ok(lists.collect())
}

/// Traits of all structs of arguments.
#[derive(Debug)]
struct PlainData;

impl bindgen::callbacks::ParseCallbacks for PlainData {
    fn add_derives(&self, _: &bindgen::callbacks::DeriveInfo<'_>) -> Vec<String> {
        ["PartialEq", "::bytemuck::Pod", "::bytemuck::Zeroable"].map(str::to_owned).into()
    }
}

/// The arguments of the kernels, as their header declares them. A struct with hidden padding does not compile.
fn kernel_arguments(header: &Path) -> Result<String> {
    let bindings = bindgen::Builder::default()
        .header(header.to_str().ok_or("a path that is no text")?)
        .clang_args(["-x", "c++", "-std=c++17", "-DFOR_RUST"])
        .parse_callbacks(Box::new(PlainData))
        .constified_enum_module(".*Op")
        .prepend_enum_name(false)
        .generate_comments(false)
        .layout_tests(false)
        .formatter(bindgen::Formatter::None);
    Ok(bindings.generate()?.to_string())
}

/// A comment, white space or a token of CUDA: `TOKEN` of `cuda/make-ptx`, which says more.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let choices = [
        r"//[^\n]*",
        r"/\*(?s:.*?)\*/",
        r"[ \t\r]+",
        r"\n",
        r#"(?:u8|[uUL])?R"(?s:.*)"#,
        r#""(?:\\.|[^"\\\n])*""#,
        r"'(?:\\.|[^'\\\n])*'",
        r"\.?[0-9](?:[eEpP][-+]|'?[0-9A-Za-z_]|\.)*",
        r"#[ \t]*define[ \t]+[0-9A-Za-z_]+\(?",
        r"[0-9A-Za-z_]+",
        r"\+\+|--|&&|\|\||<<|>>|::|##|->|[-+*/%&|^!=<>]=",
        r".",
    ];
    Regex::new(&choices.join("|")).expect("a regular expression")
});

/// The part of a file's text that counts: of CUDA its tokens, a line each; of others the lines that are no comments.
fn essence(path: &Path, text: &str) -> String {
    if !path.extension().is_some_and(|kind| kind == "cu" || kind == "cuh") {
        let lines = text.split('\n').filter(|line| !line.trim_start_matches(' ').starts_with('#'));
        return lines.collect::<Vec<_>>().join("\n");
    }
    let text = text.replace("\\\n", "");
    let (mut kept, mut in_directive) = (Vec::new(), false);
    for token in TOKEN.find_iter(&text).map(|token| token.as_str()) {
        let says_nothing = ["//", "/*", " ", "\t", "\r"].iter().any(|start| token.starts_with(start));
        if !says_nothing && (token != "\n" || in_directive) {
            kept.push(token);
        }
        in_directive = token.starts_with('#') || (in_directive && token != "\n");
    }
    kept.join("\n")
}

/// The archive of PTX and a table of its frames, by name, as `kernels.lock` tells; refuses an archive that is another,
/// or that was made from other sources than those beside it, but for their comments and white space.
fn kernel_archive(folder: &Path) -> Result<String> {
    const ADVICE: &str = "run `make kernels` to compile the kernels again";
    println!("cargo:rerun-if-changed={}", folder.display());
    let lock_path = folder.join("kernels.lock");
    let lock = fs::read_to_string(&lock_path).map_err(|error| format!("{}: {error}; {ADVICE}", lock_path.display()))?;
    let read = |name: &str| -> Result<(PathBuf, Vec<u8>)> {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}; {ADVICE}", path.display()))?;
        Ok((path, bytes))
    };
    // Refuses a file if its hash is not the one that the lock has.
    let verify = |path: &Path, bytes: &[u8], sum: &str| -> Result<()> {
        let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if digest != sum {
            let (path, lock) = (path.display(), lock_path.display());
            return Err(format!("{path} is not the file that {lock} describes: {ADVICE}").into());
        }
        Ok(())
    };

    let mut listed = vec![lock_path.clone(), folder.join("modules.txt")];
    let mut archive = None;
    let mut dictionary = None;
    let mut modules = Vec::new();
    let mut end = 0;
    for line in lock.lines() {
        // The frames follow each other without a gap.
        let mut frame = |bytes: &str, offset: &str, packed: &str| -> Result<String> {
            let (bytes, offset, packed): (usize, usize, usize) = (bytes.parse()?, offset.parse()?, packed.parse()?);
            if offset != end {
                return Err(format!("a frame begins at {offset}, where the one before ends at {end}").into());
            }
            end += packed;
            Ok(format!("Frame {{ offset: {offset}, packed: {packed}, bytes: {bytes} }}"))
        };
        let words: Vec<&str> = line.split_whitespace().collect();
        let read = match words[..] {
            [] | ["compiler" | "packer", ..] => Ok(()),
            [first, ..] if first.starts_with('#') => Ok(()),
            ["source", name, sum] => {
                let (path, bytes) = read(name)?;
                verify(&path, essence(&path, &String::from_utf8(bytes)?).as_bytes(), sum)?;
                listed.push(path);
                Ok(())
            }
            ["archive", name, sum, _] => {
                let (path, bytes) = read(name)?;
                verify(&path, &bytes, sum)?;
                listed.push(path.clone());
                archive = Some((path, bytes.len()));
                Ok(())
            }
            ["dictionary", _, bytes, offset, packed] => {
                frame(bytes, offset, packed).map(|frame| dictionary = Some(frame))
            }
            ["module", name, _, _, _, _, bytes, offset, packed] => {
                frame(bytes, offset, packed).map(|frame| modules.push(format!("({name:?}, {frame}),")))
            }
            _ => Err("not a line of cuda/make-ptx".into()),
        };
        read.map_err(|error| format!("{}: {error}: {line:?}; {ADVICE}", lock_path.display()))?;
    }
    let (Some((archive, length)), Some(dictionary)) = (archive, dictionary) else {
        return Err(format!("{} names no archive or no dictionary; {ADVICE}", lock_path.display()).into());
    };
    if end != length {
        return Err(format!("{}: its frames end at {end} of {length} bytes; {ADVICE}", lock_path.display()).into());
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !listed.contains(&path) {
                return Err(format!("{} is new: {ADVICE}", path.display()).into());
            }
        }
    }
    Ok(format!(
        "static ARCHIVE: &[u8] = include_bytes!({:?});\n\
         static DICTIONARY: Frame = {dictionary};\n\
         static MODULES: &[(&str, Frame)] = &[\n{}\n];\n",
        archive.canonicalize()?,
        modules.join("\n")
    ))
}

/// Build that `ConstantMemoryDevice_CUDA` reports: commit and header. Without the commit in a build for development,
/// which every commit would compile again.
fn build_line(header: &Header) -> Result<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if env::var("PROFILE")? != "release" {
        return Ok(format!("development build, {}", header.origin));
    }
    // Written by every commit and checkout, but not by `git status`.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
    // A fixed length: git's own choice grows with the clone, and the same commit is to give the same bytes.
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    Ok(format!("{}, release, {}", commit.as_deref().unwrap_or("no commit"), header.origin))
}
