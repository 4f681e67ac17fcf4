// Reads PTX that was made at run time, and checks it: see ptx.hpp.

#include "ptx.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <set>

namespace ptx {

namespace {

// CUDA's own limits.
constexpr uint64_t MOST_ARGUMENT = 4096;
constexpr uint64_t MOST_CONSTANT = 64 << 10;
constexpr uint64_t MOST_SHARED = 48 << 10;
// Constant and shared memory begin there, as ld.const and ld.shared see them: no address of anything else, and not 0.
constexpr uint64_t WINDOW = 0x1000;

struct Token {
    std::string text;
    uint32_t line;
};

struct Error {
    std::string text;
};

[[noreturn]] void fail(uint32_t line, const std::string& text) {
    throw Error{"line " + std::to_string(line) + ": " + text};
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(const std::string& text) { return is_letter(text[0]); }

// Words and signs, without comments. A word holds its points: `ld.global.nc.f64`, `%tid.x`, `.reg`.
std::vector<Token> split(const std::string& text) {
    std::vector<Token> tokens;
    uint32_t line = 1;
    for (size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '\n') ++line;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            ++at;
        } else if (text.compare(at, 2, "//") == 0) {
            while (at < text.size() && text[at] != '\n') ++at;
        } else if (text.compare(at, 2, "/*") == 0) {
            const size_t end = text.find("*/", at + 2);
            if (end == std::string::npos) fail(line, "a comment that does not end");
            for (; at < end + 2; ++at) line += text[at] == '\n';
        } else if (is_letter(c) || is_digit(c) || c == '.') {
            size_t end = at;
            while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) || text[end] == '.')) ++end;
            tokens.push_back({text.substr(at, end - at), line});
            at = end;
        } else if (strchr(",;:[]{}()<>@!+-=", c)) {
            tokens.push_back({std::string(1, c), line});
            ++at;
        } else {
            fail(line, std::string("a sign that is not known here: ") + c);
        }
    }
    tokens.push_back({"", line});
    return tokens;
}

// Parses a type such as `.f64`.
bool type_of(const std::string& text, Type& type) {
    static const std::map<std::string, Type> TYPES = {
        {".pred", {PREDICATE, 1}}, {".b8", {BITS, 8}},       {".u8", {UNSIGNED, 8}}, {".s8", {SIGNED, 8}},
        {".b32", {BITS, 32}},      {".u32", {UNSIGNED, 32}}, {".s32", {SIGNED, 32}}, {".f32", {FLOAT, 32}},
        {".b64", {BITS, 64}},      {".u64", {UNSIGNED, 64}}, {".s64", {SIGNED, 64}}, {".f64", {FLOAT, 64}},
    };
    const auto found = TYPES.find(text);
    if (found != TYPES.end()) type = found->second;
    return found != TYPES.end();
}

std::string name_of(Type type) {
    if (type.kind == PREDICATE) return ".pred";
    return std::string(".") + "?busf"[type.kind] + std::to_string(type.bits);
}

// True if a register of one type can be an operand of another.
bool fits(Type has, Type wanted) {
    if (has.bits != wanted.bits) return false;
    if (has.kind == wanted.kind || has.kind == BITS || wanted.kind == BITS) return true;
    return has.kind != FLOAT && wanted.kind != FLOAT;
}

class Reader {
public:
    Reader(const std::string& text, Module& module) : tokens(split(text)), module(module) {}

    void read() {
        read_head();
        while (!peek("")) {
            if (peek(".global") || peek(".const"))
                read_symbol();
            else if (peek(".visible"))
                read_visible();
            else
                fail(line(), "not known here: " + next());
        }
    }

private:
    std::vector<Token> tokens;
    Module& module;
    size_t at = 0;
    std::map<std::string, uint32_t> symbols;
    std::set<std::string> kernels;
    uint64_t constant_end = WINDOW, shared_end = WINDOW;

    // Register of the kernel that is being read.
    struct Register {
        uint32_t slot;
        Type type;
    };
    Kernel* kernel = nullptr;
    std::string parameter;
    uint64_t parameter_align = 1;
    std::map<std::string, Register> registers;
    std::map<std::string, uint32_t> labels;
    struct Branch {
        uint32_t op;
        std::string label;
    };
    std::vector<Branch> branches;
    // A number's place among the numbers; and final slots once all registers are known.
    std::map<uint64_t, uint32_t> numbers;
    uint32_t whole = NONE;  // slot of the result of an instruction with braces, for its registers
    static constexpr uint32_t NUMBER = 1u << 31;

    uint32_t line() const { return tokens[at].line; }
    bool peek(const char* text) const { return tokens[at].text == text; }
    std::string next() {
        const std::string& text = tokens[at].text;
        if (at + 1 < tokens.size()) ++at;
        return text;
    }
    bool take(const char* text) {
        if (!peek(text)) return false;
        next();
        return true;
    }
    void want(const char* text) {
        if (!peek(text)) {
            const std::string& there = tokens[at].text;
            fail(line(), std::string("no ") + text + " but " + (there.empty() ? "the end" : there));
        }
        next();
    }
    std::string want_name() {
        if (!is_name(tokens[at].text)) fail(line(), "no name but " + tokens[at].text);
        return next();
    }

    // The number of an unsigned word: decimal or 0x and hexadecimal digits, with or without a U.
    bool number(std::string text, uint64_t& value) {
        if (!text.empty() && text.back() == 'U') text.pop_back();
        const bool hex = text.compare(0, 2, "0x") == 0;
        // PTX takes a 0 ahead of others for octal.
        if (text.empty() || !is_digit(text[0]) || (text.size() > 1 && text[0] == '0' && !hex)) return false;
        char* end;
        errno = 0;
        value = strtoull(text.c_str(), &end, hex ? 16 : 10);
        return errno == 0 && *end == 0;
    }
    uint64_t want_number(uint64_t most) {
        uint64_t value;
        if (!number(tokens[at].text, value)) fail(line(), "no number but " + tokens[at].text);
        if (value > most) fail(line(), tokens[at].text + " is more than " + std::to_string(most));
        next();
        return value;
    }

    // Bits of a number as an operand of that type, or as a variable's initial value.
    uint64_t immediate(Type type) {
        const uint32_t where = line();
        const bool negative = take("-");
        const std::string text = next();
        const std::string wanted = "no number of the type " + name_of(type) + ": ";
        const bool exact = text.size() > 2 && text[0] == '0' && strchr("dDfF", text[1]);
        if (exact) {
            const uint8_t bits = strchr("dD", text[1]) ? 64 : 32;
            const bool of_type = type.bits == bits && (type.kind == FLOAT || type.kind == BITS);
            const bool digits = text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
            if (negative || !of_type || !digits || text.size() != 2u + bits / 4) fail(where, wanted + text);
            return strtoull(text.c_str() + 2, nullptr, 16);
        }
        uint64_t value;
        if (type.kind == FLOAT) fail(where, wanted + text + " (0d and 16 digits, 0f and 8)");
        if (type.kind == PREDICATE || !number(text, value)) fail(where, wanted + text);
        const uint64_t most = type.bits == 64 ? ~0ull : (1ull << type.bits) - 1;
        if (value > (negative ? most / 2 + 1 : most)) fail(where, wanted + (negative ? "-" : "") + text);
        return (negative ? 0 - value : value) & most;
    }

    // ---- the module

    void read_head() {
        want(".version");
        const std::string version = next();
        if (version.find_first_not_of("0123456789.") != std::string::npos || atof(version.c_str()) < 5 ||
            atof(version.c_str()) > 9) {
            fail(line(), "a version of PTX that is not known here: " + version);
        }
        want(".target");
        const std::string target = next();
        if (target.compare(0, 3, "sm_") != 0 || (module.target = (unsigned int)atoi(target.c_str() + 3)) < 50) {
            fail(line(), "a target that is not known here: " + target);
        }
        want(".address_size");
        if (next() != "64") fail(line(), "addresses have 64 bits");
    }

    uint64_t read_align() {
        if (!take(".align")) return 0;
        const uint64_t align = want_number(128);
        if (align == 0 || (align & (align - 1)) != 0) fail(line(), "an alignment that is no power of two");
        return align;
    }

    Type want_type() {
        Type type;
        if (!type_of(tokens[at].text, type)) fail(line(), "no type that is known here: " + tokens[at].text);
        next();
        return type;
    }

    void read_visible() {
        want(".visible");
        if (peek(".entry"))
            read_kernel();
        else if (peek(".global") || peek(".const"))
            read_symbol();
        else
            fail(line(), "not known here: " + next());
    }

    void check_new(const std::string& name) {
        if (symbols.count(name) || kernels.count(name)) fail(line(), name + " is declared twice");
    }

    void read_symbol() {
        Symbol symbol;
        const std::string space = next();
        symbol.space = space == ".global" ? GLOBAL : space == ".const" ? CONSTANT : SHARED;
        const uint64_t align = read_align();
        const Type type = want_type();
        if (type.kind == PREDICATE) fail(line(), "a variable of predicates");
        const uint64_t size = type.bits / 8;
        symbol.align = align ? align : size;
        if (symbol.align < size) fail(line(), "an alignment that is less than an element");
        symbol.name = want_name();
        check_new(symbol.name);
        uint64_t count = 1;
        const bool array = take("[");
        if (array) {
            count = want_number(1 << 30);
            want("]");
        }
        if (count == 0) fail(line(), symbol.name + " has no element");
        symbol.bytes = count * size;
        symbol.initial.assign(symbol.bytes, 0);
        if (symbol.space != SHARED && take("=")) read_initial(symbol, type, array, count);
        want(";");
        if (symbol.space == CONSTANT) {
            put_in_window(symbol, constant_end);
            if (constant_end - WINDOW > MOST_CONSTANT) fail(line(), "more constant memory than 64 KiB");
        } else if (symbol.space == SHARED) {
            put_in_window(symbol, shared_end);
            module.shared_bytes = shared_end - WINDOW;
            if (module.shared_bytes > MOST_SHARED) fail(line(), "more shared memory than 48 KiB");
            symbol.address = symbol.window - WINDOW;
        }
        symbols[symbol.name] = (uint32_t)module.symbols.size();
        module.symbols.push_back(symbol);
    }

    static void put_in_window(Symbol& symbol, uint64_t& end) {
        symbol.window = (end + symbol.align - 1) / symbol.align * symbol.align;
        end = symbol.window + symbol.bytes;
    }

    void read_initial(Symbol& symbol, Type type, bool array, uint64_t count) {
        if (array) want("{");
        for (uint64_t i = 0;; ++i) {
            if (i == count) fail(line(), symbol.name + " has fewer elements than that");
            // Little-endian, here and there.
            const uint64_t value = immediate(type);
            memcpy(&symbol.initial[i * (type.bits / 8)], &value, type.bits / 8);
            if (!array || !take(",")) break;
        }
        if (array) want("}");
    }

    // ---- kernels

    void read_kernel() {
        want(".entry");
        module.kernels.emplace_back();
        kernel = &module.kernels.back();
        kernel->name = want_name();
        check_new(kernel->name);
        kernels.insert(kernel->name);
        registers.clear();
        labels.clear();
        branches.clear();
        numbers.clear();
        whole = NONE;
        for (uint32_t& one : kernel->specials) one = NONE;
        want("(");
        want(".param");
        parameter_align = read_align();
        if (parameter_align == 0) parameter_align = 1;
        want(".b8");
        parameter = want_name();
        want("[");
        kernel->argument_bytes = (uint32_t)want_number(MOST_ARGUMENT);
        if (kernel->argument_bytes == 0) fail(line(), "an argument of no bytes");
        want("]");
        want(")");
        read_directives();
        want("{");
        while (!take("}")) read_statement();
        finish_kernel();
    }

    void read_directives() {
        for (;;) {
            if (peek(".maxntid") || peek(".reqntid")) {
                next();
                uint64_t threads = want_number(1024);
                for (int i = 0; i < 2 && take(","); ++i) threads *= want_number(1024);
                if (threads == 0 || threads > 1024) fail(line(), "blocks of so many threads there are none");
                kernel->most_threads = (uint32_t)threads;
            } else if (peek(".minnctapersm") || peek(".maxnreg")) {
                next();
                want_number(1024);
            } else {
                return;
            }
        }
    }

    void read_statement() {
        if (peek("")) fail(line(), "the kernel " + kernel->name + " does not end");
        if (take(".reg")) {
            read_registers();
        } else if (peek(".shared")) {
            read_symbol();
        } else if (is_name(tokens[at].text) && tokens[at + 1].text == ":") {
            const std::string name = next();
            if (!labels.emplace(name, (uint32_t)kernel->ops.size()).second) fail(line(), name + " is there twice");
            want(":");
        } else {
            read_instruction();
        }
    }

    void read_registers() {
        const Type type = want_type();
        if (type.bits == 8) fail(line(), "registers of 8 bits are not known here");
        do {
            const std::string name = want_name();
            if (take("<")) {
                const uint64_t count = want_number(1 << 20);
                want(">");
                for (uint64_t i = 0; i < count; ++i) declare(name + std::to_string(i), type);
            } else {
                declare(name, type);
            }
        } while (take(","));
        want(";");
    }

    void declare(const std::string& name, Type type) {
        const Register one = {(uint32_t)kernel->registers.size(), type};
        if (!registers.emplace(name, one).second) fail(line(), name + " is declared twice");
        kernel->registers.push_back(name);
    }

    void read_instruction() {
        Op op;
        op.line = line();
        if (take("@")) {
            op.unless = take("!");
            op.guard = register_of(want_name(), {PREDICATE, 1});
        }
        const std::string name = next();
        const Form* form = form_of(name + braces());
        if (!form) form = form_of(name);
        if (!form) fail(op.line, "no instruction that is known here: " + name);
        op.run = form->run;
        int sources = 0;
        std::vector<uint32_t> vector;
        for (size_t i = 0; i < form->operands.size(); ++i) {
            if (i > 0) want(",");
            const Operand& operand = form->operands[i];
            switch (operand.role) {
                case 'd': op.to = register_of(want_name(), operand.type); break;
                case 's': op.from[sources++] = source(*form, operand.type); break;
                case 'p':
                    op.inverted = take("!");
                    op.from[sources++] = register_of(want_name(), operand.type);
                    break;
                case 'a': read_address(*form, operand.type, op, sources); break;
                case 'w':
                case 'r': vector = read_vector(*form, operand); break;
                case 'm': read_mask(); break;
                case 'b': read_barrier(); break;
                case 'l': branches.push_back({(uint32_t)kernel->ops.size(), want_name()}); break;
            }
        }
        if (!peek(";")) fail(line(), name + " has no operand more: " + tokens[at].text);
        want(";");
        if (!form->element) {
            for (const uint32_t slot : vector) op.from[sources++] = slot;
            kernel->ops.push_back(op);
        } else {
            push_elements(*form, op, vector);
        }
    }

    // Braces make another instruction of a mov, by their place.
    std::string braces() const {
        if (tokens[at].text == "{") return " {}";
        return at + 2 < tokens.size() && tokens[at + 2].text == "{" ? " from {}" : "";
    }

    // The slots of registers in braces. An assembler wants them of one type, too.
    std::vector<uint32_t> read_vector(const Form& form, const Operand& operand) {
        std::vector<uint32_t> slots;
        std::vector<Type> types;
        want("{");
        for (uint32_t i = 0; i < form.elements; ++i) {
            if (i > 0) want(",");
            const std::string name = want_name();
            const uint32_t slot = register_of(name, operand.type);
            const Type type = registers.at(name).type;
            for (uint32_t j = 0; j < i; ++j) {
                if (!fits(types[j], type)) fail(line(), name + " is of another type than others in its braces");
                if (operand.role == 'w' && slots[j] == slot) fail(line(), name + " is written twice");
            }
            slots.push_back(slot);
            types.push_back(type);
        }
        want("}");
        return slots;
    }

    // An instruction that finds something for all registers in its braces, and one for each of them.
    void push_elements(const Form& form, Op op, const std::vector<uint32_t>& vector) {
        if (whole == NONE) whole = new_slot();
        op.to = whole;
        kernel->ops.push_back(op);
        op.run = form.element;
        op.from[0] = whole;
        op.offset = 0;
        for (const Operand& operand : form.operands) {
            if (operand.role != 'w' && operand.role != 'r') continue;
            for (const uint32_t slot : vector) {
                (operand.role == 'w' ? op.to : op.from[1]) = slot;
                kernel->ops.push_back(op);
                op.offset += operand.type.bits / 8;
            }
        }
    }

    void read_mask() {
        if (is_name(tokens[at].text) || immediate({BITS, 32}) != 0xffffffff) {
            fail(line(), "a mask of lanes but 0xffffffff is not known here");
        }
        kernel->shuffles = true;
    }

    void read_barrier() {
        if (is_name(tokens[at].text) || immediate({BITS, 32}) != 0) fail(line(), "a barrier but 0 is not known here");
        kernel->barriers = true;
    }

    uint32_t register_of(const std::string& name, Type type) {
        const auto found = registers.find(name);
        if (found == registers.end()) fail(line(), name + " is no register that was declared");
        if (!fits(found->second.type, type)) {
            fail(line(),
                 name + " was declared as " + name_of(found->second.type) + ", and is used as " + name_of(type));
        }
        return found->second.slot;
    }

    uint32_t slot_of_number(uint64_t value) {
        const auto [found, is_new] = numbers.emplace(value, (uint32_t)kernel->numbers.size());
        if (is_new) kernel->numbers.push_back(value);
        return NUMBER | found->second;
    }

    // A separate slot, filled elsewhere.
    uint32_t new_slot() {
        kernel->numbers.push_back(0);
        return NUMBER | (uint32_t)(kernel->numbers.size() - 1);
    }

    uint32_t slot_of_symbol(uint32_t number) {
        const Symbol& symbol = module.symbols[number];
        if (symbol.space != GLOBAL) return slot_of_number(symbol.window);
        for (const auto& [slot, one] : kernel->addresses) {
            if (one == number) return slot;
        }
        kernel->addresses.push_back({new_slot(), number});
        return kernel->addresses.back().first;
    }

    // A register or a number; for mov a special register or a symbol, too.
    uint32_t source(const Form& form, Type type) {
        const std::string text = tokens[at].text;
        if (!is_name(text)) return slot_of_number(immediate(type));
        const bool whole = type.kind != FLOAT && type.kind != PREDICATE;
        if (const int special = special_of(text); special >= 0) {
            if (!form.moves || !whole || type.bits != 32) fail(line(), text + " is for mov.u32");
            next();
            uint32_t& slot = kernel->specials[special];
            if (slot == NONE) slot = new_slot();
            return slot;
        }
        if (const auto found = symbols.find(text); found != symbols.end() && !registers.count(text)) {
            if (!form.moves || !whole || type.bits != 64) fail(line(), "the address of " + text + " is for mov.u64");
            next();
            return slot_of_symbol(found->second);
        }
        return register_of(next(), type);
    }

    static int special_of(const std::string& text) {
        static const char* const NAMES[SPECIALS] = {"%tid.x",   "%tid.y",    "%tid.z",    "%ntid.x",
                                                    "%ntid.y",  "%ntid.z",   "%ctaid.x",  "%ctaid.y",
                                                    "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z"};
        for (int i = 0; i < SPECIALS; ++i) {
            if (text == NAMES[i]) return i;
        }
        return -1;
    }

    // [register], [symbol], and either with a number behind it, as in [%rd1+-8]. Checks as much as is known now.
    void read_address(const Form& form, Type type, Op& op, int& sources) {
        want("[");
        const std::string base = want_name();
        if (take("+")) {
            const bool negative = take("-");
            op.offset = (int64_t)want_number(1u << 31);
            if (negative) op.offset = -op.offset;
            if (op.offset != (int32_t)op.offset) fail(line(), "an offset of more than 32 bits");
        }
        want("]");
        const uint64_t bytes = form.elements * type.bits / 8;
        const auto inside = [&](uint64_t size, uint64_t align) {
            if (op.offset < 0 || (uint64_t)op.offset + bytes > size) fail(line(), "beyond the bytes of " + base);
            if (op.offset % (int64_t)bytes != 0 || align < bytes) fail(line(), "off its alignment in " + base);
        };
        if (form.space == PARAMETER) {
            if (base != parameter) fail(line(), base + " is not the parameter");
            inside(kernel->argument_bytes, parameter_align);
            return;
        }
        if (const auto found = symbols.find(base); found != symbols.end() && !registers.count(base)) {
            const Symbol& symbol = module.symbols[found->second];
            if (symbol.space != form.space) fail(line(), base + " lies in another space");
            inside(symbol.bytes, symbol.align);
            op.from[sources++] = slot_of_symbol(found->second);
            return;
        }
        op.from[sources++] = register_of(base, {UNSIGNED, 64});
    }

    // Gives numbers their slots behind the registers, and branches their targets.
    void finish_kernel() {
        if (kernel->ops.empty() || !ends(kernel->ops.back())) {
            fail(line(), "the kernel " + kernel->name + " ends in no ret, exit or branch");
        }
        const uint32_t first = (uint32_t)kernel->registers.size();
        const auto place = [&](uint32_t& slot) {
            if (slot != NONE && (slot & NUMBER)) slot = first + (slot & ~NUMBER);
        };
        for (Op& op : kernel->ops) {
            for (uint32_t& slot : op.from) place(slot);
            place(op.to);
        }
        for (uint32_t& slot : kernel->specials) place(slot);
        for (auto& one : kernel->addresses) place(one.first);
        for (const Branch& branch : branches) {
            Op& op = kernel->ops[branch.op];
            const auto found = labels.find(branch.label);
            if (found == labels.end()) fail(op.line, branch.label + " is no label of the kernel");
            if (found->second == kernel->ops.size()) fail(op.line, "nothing comes behind " + branch.label);
            op.target = found->second;
        }
    }

    static bool ends(const Op& op) {
        for (const char* name : {"ret", "exit", "bra"}) {
            if (op.guard == NONE && op.run == form_of(name)->run) return true;
        }
        return false;
    }
};

}  // namespace

bool is_generated(const std::string& text) {
    static const char FIRST[] = "// generated";
    const size_t length = sizeof FIRST - 1;
    return text.compare(0, length, FIRST) == 0 && (text.size() == length || text[length] == '\n');
}

std::string read(const std::string& text, Module& module) {
    try {
        Reader(text, module).read();
    } catch (const Error& error) {
        return error.text;
    }
    return "";
}

}  // namespace ptx
