//! PTX code: registers, instructions, and the argument of the kernel.

use std::collections::HashMap;
use std::fmt::Write;

/// Kinds of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Predicate,
    Word,
    Long,
    Single,
    Double,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Predicate, Kind::Word, Kind::Long, Kind::Single, Kind::Double];

    /// Returns the prefix of its registers, and the type of their declaration.
    fn names(self) -> [&'static str; 2] {
        match self {
            Kind::Predicate => ["%p", "pred"],
            Kind::Word => ["%r", "b32"],
            Kind::Long => ["%rd", "b64"],
            Kind::Single => ["%f", "f32"],
            Kind::Double => ["%fd", "f64"],
        }
    }

    /// Returns the kind for numbers.
    pub(super) fn of_numbers(single: bool) -> Kind {
        if single { Kind::Single } else { Kind::Double }
    }

    /// Returns the type in instructions on numbers.
    pub(super) fn number(self) -> &'static str {
        if self == Kind::Single { "f32" } else { "f64" }
    }
}

/// Returns a number as an operand.
pub(super) fn literal(kind: Kind, value: f64) -> Register {
    match kind {
        Kind::Single => Register::of(&format!("0f{:08X}", (value as f32).to_bits())),
        _ => Register::of(&format!("0d{:016X}", value.to_bits())),
    }
}

/// A register by its name, or a number. It is copied, so that the code that writes code drops no texts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Register {
    len: u8,
    text: [u8; Register::MAX_LEN],
}

impl Register {
    const MAX_LEN: usize = 23;

    /// Returns the register or number of this text.
    #[inline(never)]
    pub(super) fn of(name: &str) -> Register {
        let mut text = [0; Register::MAX_LEN];
        text[..name.len()].copy_from_slice(name.as_bytes());
        Register { len: name.len() as u8, text }
    }

    /// Returns an empty name.
    pub(super) const fn new() -> Register {
        Register { len: 0, text: [0; Register::MAX_LEN] }
    }
}

impl std::ops::Deref for Register {
    type Target = str;

    #[inline(never)]
    fn deref(&self) -> &str {
        str::from_utf8(&self.text[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl std::borrow::Borrow<str> for Register {
    fn borrow(&self) -> &str {
        self
    }
}

impl std::fmt::Display for Register {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self)
    }
}

impl std::fmt::Debug for Register {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self)
    }
}

/// Code under construction. An instruction without effects is written once in a scope and those inside it: a second
/// request for it gets the same register.
#[derive(Debug, Default)]
pub(super) struct Code {
    text: String,
    /// Text before the main one; `is_ahead` while it is written.
    ahead: String,
    is_ahead: bool,
    counts: [usize; 5],
    known: Vec<HashMap<String, Register>>,
    labels: usize,
    tables: Vec<&'static [u64]>,
    /// Name of a block's shared memory, and its bytes.
    shared: Option<(&'static str, usize)>,
}

impl Code {
    pub(super) fn new() -> Code {
        Code { known: vec![HashMap::new()], ..Code::default() }
    }

    /// Returns a new register.
    #[inline(never)]
    pub(super) fn register(&mut self, kind: Kind) -> Register {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        Register::of(&format!("{}{}", kind.names()[0], *count - 1))
    }

    /// Returns the result of an instruction: `name result, operands`.
    #[inline(never)]
    pub(super) fn of(&mut self, kind: Kind, name: &str, operands: &[&str]) -> Register {
        let key = format!("{name} {}", operands.join(", "));
        if let Some(known) = self.known.iter().rev().find_map(|scope| scope.get(&key)) {
            return *known;
        }
        let register = self.register(kind);
        self.line(&format!("{name} {register}, {}", operands.join(", ")));
        self.remember(key, &register);
        register
    }

    /// Returns the result of an instruction on a register and a whole number.
    #[inline(never)]
    pub(super) fn by(&mut self, kind: Kind, name: &str, operand: &str, number: impl ToString) -> Register {
        self.of(kind, name, &[operand, &number.to_string()])
    }

    /// Returns the register of a key, from this scope or one around it.
    #[inline(never)]
    pub(super) fn recall(&self, key: &str) -> Option<Register> {
        self.known.iter().rev().find_map(|scope| scope.get(key)).cloned()
    }

    #[inline(never)]
    pub(super) fn remember(&mut self, key: String, register: &Register) {
        if let Some(scope) = self.known.last_mut() {
            scope.insert(key, *register);
        }
    }

    /// Writes an instruction with an effect.
    #[inline(never)]
    pub(super) fn line(&mut self, instruction: &str) {
        self.text.push('\t');
        self.text.push_str(instruction);
        self.text.push_str(";\n");
    }

    /// Branches to a place in the code, if a predicate is true.
    #[inline(never)]
    pub(super) fn branch(&mut self, when: &str, label: &str) {
        self.line(&format!("@{when} bra {label}"));
    }

    /// Branches to a place in the code.
    #[inline(never)]
    pub(super) fn jump(&mut self, label: &str) {
        self.line(&format!("bra {label}"));
    }

    /// Branches back to a place in the code while a comparison of registers that change is true.
    #[inline(never)]
    pub(super) fn repeat(&mut self, comparison: &str, [a, b]: [&str; 2], label: &str) {
        let more = self.register(Kind::Predicate);
        self.line(&format!("{comparison} {more}, {a}, {b}"));
        self.branch(&more, label);
    }

    /// Changes a register by an operation on its value and an operand.
    #[inline(never)]
    pub(super) fn change(&mut self, name: &str, register: &str, operand: &str) {
        self.line(&format!("{name} {register}, {register}, {operand}"));
    }

    /// Assigns a value to a register.
    #[inline(never)]
    pub(super) fn set(&mut self, kind: Kind, register: &str, value: &str) {
        let class = kind.names()[1];
        self.line(&format!("mov.{class} {register}, {value}"));
    }

    /// Returns a new name for a place in the code.
    #[inline(never)]
    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    pub(super) fn place(&mut self, label: &str) {
        self.text.push_str(label);
        self.text.push_str(":\n");
    }

    /// Returns the name of a table of constants.
    pub(super) fn table(&mut self, table: &'static [u64]) -> String {
        let known = self.tables.iter().position(|known| *known == table);
        let number = known.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        });
        format!("table{number}")
    }

    /// Declares shared memory of this name and number of bytes.
    pub(super) fn shared(&mut self, name: &'static str, bytes: usize) {
        self.shared = Some((name, bytes));
    }

    /// Opens a scope for code that may not be run: its results are not known behind it.
    pub(super) fn scope(&mut self) {
        self.known.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.known.pop();
    }

    /// Returns the number of open scopes.
    pub(super) fn scopes(&self) -> usize {
        self.known.len()
    }

    /// Writes to the text ahead from now on; its results are known in `scopes` scopes. The result is for
    /// [`Code::come_back`].
    pub(super) fn go_ahead(&mut self, scopes: usize) -> Option<Vec<HashMap<String, Register>>> {
        if self.is_ahead {
            return None;
        }
        self.is_ahead = true;
        std::mem::swap(&mut self.text, &mut self.ahead);
        Some(self.known.split_off(scopes))
    }

    pub(super) fn come_back(&mut self, inner: Option<Vec<HashMap<String, Register>>>) {
        if let Some(inner) = inner {
            self.is_ahead = false;
            std::mem::swap(&mut self.text, &mut self.ahead);
            self.known.extend(inner);
        }
    }

    /// Takes the text ahead.
    pub(super) fn take_ahead(&mut self) -> String {
        std::mem::take(&mut self.ahead)
    }

    /// Takes the text written so far, for [`Code::put`].
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// Appends text that was taken.
    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Returns the whole module: one kernel, with registers limited such that a multiprocessor can hold `blocks`
    /// blocks; 0 for the assembler's choice.
    pub(super) fn module(self, name: &str, argument: usize, threads: [usize; 2], blocks: usize) -> String {
        let mut module = String::from("// generated\n.version 6.0\n.target sm_60\n.address_size 64\n");
        for (number, table) in self.tables.iter().enumerate() {
            let entries: Vec<String> = table.iter().map(|entry| format!("0x{entry:016X}")).collect();
            let _ =
                writeln!(module, ".global .align 8 .b64 table{number}[{}] = {{{}}};", table.len(), entries.join(", "));
        }
        let [columns, rows] = threads;
        let _ = write!(
            module,
            ".visible .entry {name}(\n\t.param .align 8 .b8 {name}_param_0[{argument}]\n)\n.maxntid {columns}, {rows}, 1\n"
        );
        if blocks > 0 {
            let _ = writeln!(module, ".minnctapersm {blocks}");
        }
        module.push_str("{\n");
        if let Some((name, bytes)) = self.shared {
            let _ = writeln!(module, "\t.shared .align 8 .b8 {name}[{bytes}];");
        }
        for kind in Kind::ALL {
            let [prefix, class] = kind.names();
            let count = self.counts[kind as usize];
            if count > 0 {
                let _ = writeln!(module, "\t.reg .{class} {prefix}<{count}>;");
            }
        }
        module + &self.text + "\tret;\n}\n"
    }
}

/// Argument of a kernel: addresses, sizes and numbers, which are no part of its code.
#[derive(Debug, Default, Clone)]
pub(super) struct Argument {
    pub(super) bytes: Vec<u8>,
}

impl Argument {
    fn push(&mut self, bytes: &[u8]) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        at
    }

    /// Adds eight bytes, as a whole number.
    pub(super) fn long(&mut self, value: i64) -> usize {
        self.push(&value.to_le_bytes())
    }

    /// Adds a number, in eight bytes of either class.
    pub(super) fn number(&mut self, kind: Kind, value: f64) -> usize {
        match kind {
            Kind::Single => self.long(i64::from((value as f32).to_bits())),
            _ => self.push(&value.to_bits().to_le_bytes()),
        }
    }
}
