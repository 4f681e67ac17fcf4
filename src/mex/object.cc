// Arrays of ours as values of a type of Octave's own: built by matlab/build-mex for one
// version of Octave, and opened by object.rs, where its purpose is described.
//
// Operators, indexing and the like are passed straight to the library, through a function
// that it has registered here, without a call of the interpreter. Functions of the host
// on such a value are files of the folder @DeviceArray, which Octave finds by the type's
// class name.
//
// Linked with no library, like lend.cc: the running Octave provides the symbols.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <octave/oct.h>
#include <octave/interpreter.h>
#include <octave/ov-base.h>
#include <octave/ov-typeinfo.h>
#include <octave/parse.h>
// The class before the functions: only then do these take it for their array.
#include <octave/mxarray.h>

#include <octave/mexproto.h>

#include "object_host.hpp"
#include "object_saving.hpp"

namespace {
const char UNSUPPORTED[] = "DeviceArray:unsupported";

// A verb of DeviceArray_CUDA: its name, the number of requested outputs, the inputs after
// it, the outputs, and buffers for an error's identifier and text. Returns 0, or 1 for an
// error. The caller owns the results. It may raise an error of the host's.
using Verb = int (*)(const char* verb, int outputs, std::size_t inputs, const mxArray* const* arguments, mxArray** out,
                     char* identifier, char* text);

Verb library_verb = nullptr;

// Releases the array with this number.
using Gone = void (*)(std::uint64_t);

// An array of the library's, known by its number, and kept alive by this.
class Held {
public:
    Held(std::uint64_t number, Gone gone) : m_number(number), m_gone(gone) {}

    Held(const Held&) = delete;

    Held& operator=(const Held&) = delete;

    ~Held() {
        if (m_gone) m_gone(m_number);
    }

    std::uint64_t number() const { return m_number; }

    // Leaves the release of the number to the caller.
    void silence() { m_gone = nullptr; }

private:
    std::uint64_t m_number;
    Gone m_gone;
};

// True if the library can use it outside of a MEX call: only in a call does the host
// track what it makes of other arrays when their parts are accessed.
bool is_plain(const octave_value& value) {
    return (value.isnumeric() || value.islogical() || value.is_string()) && !value.iscomplex() && !value.issparse();
}

// Calls a verb, and returns its outputs. Raises its errors in the host.
octave_value_list ask(const char* verb, const octave_value_list& inputs, int outputs = 1) {
    std::vector<std::unique_ptr<mxArray>> arrays;
    std::vector<const mxArray*> arguments;
    for (octave_idx_type i = 0; i < inputs.length(); i++) {
        const octave_value value = inputs(i).is_magic_colon() ? octave_value(":") : inputs(i);
        if (!is_plain(value)) {
            const char* kind = value.iscomplex() ? "complex " : value.issparse() ? "sparse " : "";
            error_with_id("DeviceArray:dataType", "%s%s is no operand and no index of a DeviceArray.", kind,
                          value.class_name().c_str());
        }
        arrays.push_back(std::make_unique<mxArray>(false, value));
        arguments.push_back(arrays.back().get());
    }
    std::vector<mxArray*> out(std::max(outputs, 1), nullptr);
    char identifier[128];
    char text[2048];
    const int status = library_verb(verb, outputs, arguments.size(), arguments.data(), out.data(), identifier, text);
    octave_value_list results;
    for (mxArray* array : out) {
        if (!array) break;
        results.append(answered(array));
        // If a MEX file has called this code, the array is tracked by that call.
        mxDestroyArray(array);
    }
    if (status != 0) error_with_id(identifier, "%s", text);
    return results;
}

// Returns its first output; without outputs the list is extended by an undefined value.
octave_value ask_one(const char* verb, const octave_value_list& inputs) { return ask(verb, inputs)(0); }

[[noreturn]] void refuse(const std::string& what, const std::string& instead) {
    error_with_id(UNSUPPORTED, "Not supported for a DeviceArray: %s. Gather it first: %s.", what.c_str(),
                  instead.c_str());
    throw;  // never reached: no version's header says so of error_with_id
}

class device_array : public ordinary_in_files {
public:
    device_array() : m_dims(0, 0), m_class("double") {}

    device_array(std::shared_ptr<Held> held, const dim_vector& dims, std::string class_of_elements)
        : m_held(std::move(held)), m_dims(dims), m_class(std::move(class_of_elements)) {}

    // A copy is another name of one array: no array ever changes, unless it has only one
    // name.
    octave_base_value* clone() const override { return new device_array(*this); }

    octave_base_value* empty_clone() const override { return new device_array(); }

    // Replaces this value by the other one.
    void become(const device_array& other) {
        m_held = other.m_held;
        m_dims = other.m_dims;
        m_class = other.m_class;
    }

    // Number of the array in the library; 0 without an array.
    std::uint64_t number() const { return m_held ? m_held->number() : 0; }

    // ---- Properties

    bool is_defined() const override { return true; }

    bool is_constant() const override { return true; }

    bool isobject() const override { return true; }

    bool is_matrix_type() const override { return true; }

    bool isnumeric() const override { return m_class != "logical"; }

    bool isreal() const override { return true; }

    bool isfloat() const override { return m_class == "double" || m_class == "single"; }

    bool islogical() const override { return m_class == "logical"; }

    // Not `isinteger': functions of the host that get true from it then look for one of
    // their own integer classes, and end the session. isinteger.m of the type returns it,
    // and this tells `isa'.
    bool is_instance_of(const std::string& name) const override { return name == "integer" && is_of_integers(); }

    // Without a size, the library raises a better error.
    dim_vector dims() const override {
        if (m_dims(0) < 0) ask("size", octave_value_list(self()));
        return m_dims;
    }
    bool is_one() const { return m_dims.numel() == 1; }
    std::size_t byte_size() const override {
        const std::size_t bytes = m_class == "double" ? 8 : m_class == "single" ? 4 : m_class == "logical" ? 1 : 0;
        // The name of an integer class contains the number of bits.
        return m_dims.numel() * (bytes ? bytes : std::stoul(m_class.substr(m_class.find("int") + 3)) / 8);
    }

    bool is_true() const override {
        // The library has an error of its own for a value of a step.
        ask("condition", octave_value_list(self()));
        refuse("a condition", "if (all (u(:) > 0)), if (any (u(:))), or if (gather (u))");
    }

    // Compared by the host in a switch.
    octave_value all(int) const override { return ask_one("all", octave_value_list(self()).append(octave_value(-1))); }

    bool is_of_integers() const { return m_class.find("int") != std::string::npos; }

    // ---- Elements

    octave_value subsref(const std::string& type, const std::list<octave_value_list>& idx) override {
        return subsref(type, idx, 1)(0);
    }

    octave_value_list subsref(const std::string& type, const std::list<octave_value_list>& idx, int nargout) override {
        switch (type[0]) {
            case '(': {
                octave_value picked = do_index_op(idx.front());
                return type.size() == 1 ? octave_value_list(picked) : picked.next_subsref(nargout, type, idx);
            }
            case '.': return member(type, idx, nargout);
            default:
                error_with_id("DeviceArray:index", "'{' is for cell arrays: write u(...) for values of a DeviceArray.");
        }
        return {};
    }

    octave_value do_index_op(const octave_value_list& idx, bool = false) override {
        if (idx.length() == 0) return octave_value(clone());
        octave_value_list inputs(self());
        return ask_one("pick", inputs.append(idx));
    }

    octave_value subsasgn(const std::string& type, const std::list<octave_value_list>& idx,
                          const octave_value& rhs) override {
        if (!m_held) assigned_to_ordinary(*this, {}, *this);
        if (type.size() != 1 || type[0] != '(')
            error_with_id(UNSUPPORTED, "A DeviceArray has elements only: u(...) = value, no fields and no cells.");
        const octave_value me = self();
        octave_value_list inputs(me);
        if (rhs.isnull()) return ask_one("remove", inputs.append(idx.front()));
        // If the value has no other holder, nor the array another value, it may change in
        // place: the host holds it once, and this function twice.
        const bool alone = me.get_count() == 3 && m_held.use_count() == 1;
        inputs.append(rhs);
        inputs.append(idx.front());
        return ask_one(alone ? "write" : "put", inputs);
    }

    octave_value reshape(const dim_vector& dims) const override { return with_sizes("reshape", dims); }

    octave_value permute(const Array<int>& order, bool inverse = false) const override {
        RowVector row(order.numel());
        for (octave_idx_type i = 0; i < order.numel(); i++) {
            if (inverse)
                row(order(i)) = i + 1;
            else
                row(i) = order(i) + 1;
        }
        octave_value_list inputs(self());
        return ask_one("permute", inputs.append(octave_value(row)));
    }

    octave_value squeeze() const override {
        dim_vector dims = m_dims.squeeze();
        // A single remaining dimension of several becomes a column.
        if (m_dims.ndims() > 2 && dims(0) == 1) std::swap(dims(0), dims(1));
        return with_sizes("reshape", dims);
    }

    octave_value resize(const dim_vector& dims, bool) const override { return with_sizes("resize", dims); }

    octave_value full_value() const override { return self(); }

    octave_value as_double() const override { return converted("double"); }
    octave_value as_single() const override { return converted("single"); }
    octave_value as_int8() const override { return converted("int8"); }
    octave_value as_int16() const override { return converted("int16"); }
    octave_value as_int32() const override { return converted("int32"); }
    octave_value as_uint8() const override { return converted("uint8"); }
    octave_value as_uint16() const override { return converted("uint16"); }
    octave_value as_uint32() const override { return converted("uint32"); }
    octave_value as_int64() const override { return converted("int64"); }
    octave_value as_uint64() const override { return converted("uint64"); }

    octave_value map(unary_mapper_t function) const override {
        // Functions with a verb, which has the host's name except for one.
        static constexpr unary_mapper_t OWN[] = {
            umap_abs,  umap_sqrt,   umap_isnan, umap_isinf, umap_isfinite, umap_floor, umap_ceil,  umap_round,
            umap_fix,  umap_signum, umap_exp,   umap_expm1, umap_log,      umap_log2,  umap_log10, umap_log1p,
            umap_sin,  umap_cos,    umap_tan,   umap_asin,  umap_acos,     umap_atan,  umap_sinh,  umap_cosh,
            umap_tanh, umap_asinh,  umap_acosh, umap_atanh, umap_cbrt,     umap_erf,   umap_erfc,
        };
        if (function == umap_real || function == umap_conj) return +self();
        const std::string name = function == umap_signum ? "sign" : get_umap_name(function);
        if (std::find(std::begin(OWN), std::end(OWN), function) == std::end(OWN)) refuse(name, name + " (gather (u))");
        return ask_one(name.c_str(), octave_value_list(self()));
    }

    WANTED_BY_THE_HOST(refuse("its values where ordinary ones are wanted", "gather (u)"))

    // ---- Display, inside of structs and cells; @DeviceArray/display shows it alone

    void print(std::ostream& os, bool) override { print_raw(os); }

    void print_raw(std::ostream& os, bool = false) const override {
        os << "DeviceArray, " << m_dims.str() << ' ' << m_class;
        const_cast<device_array*>(this)->newline(os);
    }

    bool print_name_tag(std::ostream& os, const std::string& name) const override {
        indent(os);
        os << name << " = ";
        return false;
    }

    void short_disp(std::ostream& os) const override { os << m_dims.str() << ' ' << m_class; }

    // ---- As an index of an ordinary array

    octave::idx_vector index_vector(bool = false) const override {
        error_with_id("DeviceArray:index", "A DeviceArray cannot be an index of an ordinary array: x(gather (u)).");
        return octave::idx_vector();
    }

    // ---- The type

    int type_id() const override { return s_type; }

    static int static_type_id() { return s_type; }

    static void register_with(octave::type_info& types) {
        s_type = types.register_type(TYPE_NAME, CLASS_NAME, octave_value(new device_array()));
    }

protected:
    const std::string& class_of_elements() const override { return m_class; }

    octave_value values() const override {
        octave::symbol_table& symbols = octave::interpreter::the_interpreter()->get_symbol_table();
        return octave::feval(symbols.find_method("gather", CLASS_NAME), octave_value_list(self()), 1)(0);
    }

    void refuse_values() const override { refuse("its values where ordinary ones are wanted", "gather (u)"); }

private:
    // This value: one more reference, and no copy.
    octave_value self() const { return octave_value(const_cast<device_array*>(this), true); }

    octave_value with_sizes(const char* verb, const dim_vector& dims) const {
        RowVector row(dims.ndims());
        for (int i = 0; i < dims.ndims(); i++) row(i) = static_cast<double>(dims(i));
        octave_value_list inputs(self());
        return ask_one(verb, inputs.append(octave_value(row)));
    }

    octave_value converted(const char* to) const {
        octave_value_list inputs(self());
        return ask_one("convert", inputs.append(octave_value(to)));
    }

    // u.NAME (...) is NAME (u, ...). For a value without an array, as in
    // DeviceArray.zeros (3), it is NAME (...).
    octave_value_list member(const std::string& type, const std::list<octave_value_list>& idx, int nargout) {
        const std::string name = idx.front()(0).string_value();
        octave_value_list inputs;
        if (m_held) inputs.append(self());
        std::size_t used = 1;
        if (type.size() > 1 && type[1] == '(') {
            inputs.append(*std::next(idx.begin()));
            used = 2;
        }
        octave::symbol_table& symbols = octave::interpreter::the_interpreter()->get_symbol_table();
        const octave_value found = m_held ? symbols.find_function(name, inputs) : symbols.find_method(name, CLASS_NAME);
        if (name == "DeviceArray" || !found.is_defined())
            error_with_id(UNSUPPORTED, "A DeviceArray has no field or method %s.", name.c_str());
        const octave_value_list results = octave::feval(found, inputs, type.size() > used ? 1 : nargout);
        if (type.size() == used || results.length() == 0) return results;
        octave_value result = results(0);
        return result.subsref(type.substr(used), std::list<octave_value_list>(std::next(idx.begin(), used), idx.end()),
                              nargout);
    }

    std::shared_ptr<Held> m_held;
    dim_vector m_dims;
    std::string m_class;

    static inline int s_type = -1;
};

// ---- Operators

const device_array* own_array(const octave_value& value) {
    return value.type_id() == device_array::static_type_id() ? static_cast<const device_array*>(&value.get_rep())
                                                             : nullptr;
}

octave_value value_of(const octave_base_value& operand) {
    return octave_value(const_cast<octave_base_value*>(&operand), true);
}

octave_value_list both(const octave_base_value& a, const octave_base_value& b) {
    octave_value_list inputs;
    inputs.append(value_of(a));
    inputs.append(value_of(b));
    return inputs;
}

enum Needs { NOTHING, A_SCALAR, SCALAR_AHEAD, SCALAR_BEHIND, SCALARS };

struct BinaryOperator {
    octave_value::binary_op op;
    const char* verb;
    bool swapped;  // the second operand is the verb's first
    Needs needs;
    const char* refused;  // without the scalar
    const char* instead;
};

constexpr BinaryOperator BINARY[] = {
    {octave_value::op_add, "plus", false, NOTHING, nullptr, nullptr},
    {octave_value::op_sub, "minus", false, NOTHING, nullptr, nullptr},
    {octave_value::op_el_mul, "times", false, NOTHING, nullptr, nullptr},
    {octave_value::op_el_div, "rdivide", false, NOTHING, nullptr, nullptr},
    {octave_value::op_el_ldiv, "rdivide", true, NOTHING, nullptr, nullptr},
    {octave_value::op_el_pow, "power", false, NOTHING, nullptr, nullptr},
    {octave_value::op_lt, "lt", false, NOTHING, nullptr, nullptr},
    {octave_value::op_le, "le", false, NOTHING, nullptr, nullptr},
    {octave_value::op_eq, "eq", false, NOTHING, nullptr, nullptr},
    {octave_value::op_ge, "ge", false, NOTHING, nullptr, nullptr},
    {octave_value::op_gt, "gt", false, NOTHING, nullptr, nullptr},
    {octave_value::op_ne, "ne", false, NOTHING, nullptr, nullptr},
    {octave_value::op_el_and, "and", false, NOTHING, nullptr, nullptr},
    {octave_value::op_el_or, "or", false, NOTHING, nullptr, nullptr},
    {octave_value::op_mul, "times", false, A_SCALAR, "the product of two matrices",
     "gather (u) * v, or for elementwise products .*, for dot products DOT"},
    {octave_value::op_div, "rdivide", false, SCALAR_BEHIND, "division by a matrix",
     "gather (u) / v, or for elementwise division ./"},
    {octave_value::op_ldiv, "rdivide", true, SCALAR_AHEAD, "division by a matrix",
     "u \\ gather (v), or for elementwise division .\\"},
    {octave_value::op_pow, "power", false, SCALARS, "^", "gather (u) ^ k, or for elementwise powers .^"},
};

bool is_one(const octave_base_value& operand) {
    const device_array* own = own_array(value_of(operand));
    return own ? own->is_one() : operand.numel() == 1;
}

template <std::size_t which>
octave_value binary(const octave_base_value& a, const octave_base_value& b) {
    constexpr BinaryOperator OPERATOR = BINARY[which];
    const bool ahead = is_one(a), behind = is_one(b);
    const bool allowed = OPERATOR.needs == NOTHING || (OPERATOR.needs == SCALARS && ahead && behind) ||
                         (OPERATOR.needs == A_SCALAR && (ahead || behind)) ||
                         (OPERATOR.needs == SCALAR_AHEAD && ahead) || (OPERATOR.needs == SCALAR_BEHIND && behind);
    if (OPERATOR.op == octave_value::op_mul && !allowed && is_dot(a, b)) return ask_one("dot", both(a, b));
    if (!OPERATOR.verb || !allowed) refuse(OPERATOR.refused, OPERATOR.instead);
    if (b.is_int64_type() || b.is_uint64_type())
        error_with_id("DeviceArray:dataType", "Integers of 64 bits are no operand of a DeviceArray: %s.",
                      b.class_name().c_str());
    const device_array* own = own_array(value_of(a));
    if (OPERATOR.op == octave_value::op_el_pow && own && !own->is_of_integers() && b.is_single_type() && behind) {
        // With a number the verb keeps the array's class, and the result is single, as in
        // the host.
        octave_value_list inputs(value_of(a).as_single());
        return ask_one(OPERATOR.verb, inputs.append(value_of(b)));
    }
    return ask_one(OPERATOR.verb, OPERATOR.swapped ? both(b, a) : both(a, b));
}

// Returns the value itself, but truth values become numbers, and a single element a
// number of the host's.
octave_value uplus(const octave_base_value& a) {
    octave_value numbers = a.islogical() ? a.as_double() : value_of(a);
    return a.numel() == 1 ? ask_one("pick", octave_value_list(numbers).append(octave_value(1))) : numbers;
}

octave_value uminus(const octave_base_value& a) { return ask_one("uminus", octave_value_list(value_of(a))); }

octave_value logical_not(const octave_base_value& a) { return ask_one("not", octave_value_list(value_of(a))); }

// u++ and u--: the value changes in place.
template <int step>
void add(octave_base_value& a) {
    octave_value_list inputs(value_of(a));
    const octave_value sum = ask_one("plus", inputs.append(octave_value(double(step))));
    const device_array* own = own_array(sum);
    if (!own) refuse("++ or -- of one element", "u = gather (u) + 1");
    static_cast<device_array&>(a).become(*own);
}

octave_value transpose(const octave_base_value& a) { return ask_one("transpose", octave_value_list(value_of(a))); }

// Other operands of an operator with a DeviceArray: the library refuses unsupported ones.
const char* const OPERANDS[] = {
    "scalar",
    "matrix",
    "float scalar",
    "float matrix",
    "bool",
    "bool matrix",
    "int8 scalar",
    "int8 matrix",
    "int16 scalar",
    "int16 matrix",
    "int32 scalar",
    "int32 matrix",
    "int64 scalar",
    "int64 matrix",
    "uint8 scalar",
    "uint8 matrix",
    "uint16 scalar",
    "uint16 matrix",
    "uint32 scalar",
    "uint32 matrix",
    "uint64 scalar",
    "uint64 matrix",
    "complex scalar",
    "complex matrix",
    "float complex scalar",
    "float complex matrix",
    "sparse matrix",
    "sparse bool matrix",
    "string",
};

template <std::size_t... which>
void install_binary(octave::type_info& types, int left, int right, std::index_sequence<which...>) {
    (types.install_binary_op(BINARY[which].op, left, right, binary<which>), ...);
}

void install_operators(octave::type_info& types) {
    constexpr auto ALL = std::make_index_sequence<std::size(BINARY)>();
    const int own = device_array::static_type_id();
    install_binary(types, own, own, ALL);
    for (const char* name : OPERANDS) {
        const octave_value other = types.lookup_type(name);
        if (!other.is_defined()) continue;
        install_binary(types, own, other.type_id(), ALL);
        install_binary(types, other.type_id(), own, ALL);
        types.install_assign_op(octave_value::op_asn_eq, other.type_id(), own, assigned_to_ordinary);
    }
    types.install_unary_op(octave_value::op_uplus, own, uplus);
    types.install_unary_op(octave_value::op_uminus, own, uminus);
    types.install_unary_op(octave_value::op_not, own, logical_not);
    types.install_non_const_unary_op(octave_value::op_incr, own, add<1>);
    types.install_non_const_unary_op(octave_value::op_decr, own, add<-1>);
    types.install_unary_op(octave_value::op_transpose, own, transpose);
    types.install_unary_op(octave_value::op_hermitian, own, transpose);
}

mxArray* array_of(const octave_value& value) {
    const std::unique_ptr<mxArray> made(new mxArray(false, value));
    // In a call only the host can register an array: an unregistered one is never freed.
    // A copy that the host makes is registered, and it copies the value, not the array.
    return mxDuplicateArray(made.get());
}
}  // namespace

// Registers the type in this Octave, once; its operators call `verb'. The number in the
// name is the version of the interface with object.rs: change both together. Returns 0,
// or 2 if this Octave does not work as expected, or has the type from another folder's
// library.
extern "C" __attribute__((visibility("default"))) int stencil_install_2(Verb verb) {
    try {
        if (!library_verb) {
            octave::interpreter* interpreter = octave::interpreter::the_interpreter();
            if (!interpreter) return 2;
            // A second registration would end the process.
            if (interpreter->get_type_info().lookup_type(TYPE_NAME).is_defined()) return 2;
            device_array::register_with(interpreter->get_type_info());
            install_operators(interpreter->get_type_info());
            install_rows(interpreter->get_symbol_table());
        }
        library_verb = verb;
        return 0;
    } catch (...) {
        return 2;
    }
}

// Makes a value for the array with this number, of `count' dimensions and this class, or
// one without an array for number 0. When the last value of the array is destroyed,
// `gone' is called with the number. Returns 0, or 2 if this Octave does not work as
// expected: then `gone' is never called. It may raise an error of the host's, such as an
// interrupt.
extern "C" __attribute__((visibility("default"))) int stencil_object(std::uint64_t number, Gone gone,
                                                                     const char* class_of_elements, std::size_t count,
                                                                     const std::size_t* sizes, mxArray** out) {
    *out = nullptr;
    std::shared_ptr<Held> held;
    octave_value made;
    try {
        if (number == 0) {
            made = octave_value(new device_array());
        } else {
            dim_vector dims = dim_vector::alloc(static_cast<int>(count));
            for (std::size_t i = 0; i < count; i++) dims.xelem(i) = static_cast<octave_idx_type>(sizes[i]);
            held = std::make_shared<Held>(number, gone);
            made = octave_value(new device_array(held, dims, class_of_elements));
        }
    } catch (...) {
        if (held) held->silence();
        return 2;
    }
    *out = array_of(made);
    return 0;
}

// Reads the number of a value that `stencil_object' made: 0, or 2 for any other.
extern "C" __attribute__((visibility("default"))) int stencil_number(const mxArray* array, std::uint64_t* number) {
    try {
        // Another array would be copied.
        if (!array->is_octave_value()) return 2;
        const octave_value value = mxArray::as_octave_value(array);
        const device_array* own = own_array(value);
        if (!own) return 2;
        *number = own->number();
        return 0;
    } catch (...) {
        return 2;
    }
}
