// Values of the host together with arrays of ours, for object.cc, which includes this: numbers as results, rows of
// numbers in brackets, brackets that fail, assignments to ordinary arrays, ranges.

#ifndef STENCIL_OBJECT_HOST_HPP
#define STENCIL_OBJECT_HOST_HPP

#include <octave/oct.h>
#include <octave/error.h>
#include <octave/interpreter.h>
#include <octave/ov-base.h>
#include <octave/ov-typeinfo.h>
#include <octave/symtab.h>
// The class before the functions: only then do these take it for their array.
#include <octave/mxarray.h>

#include <octave/mexproto.h>

#include <memory>
#include <string>

namespace {
// Result of brackets that fail. The host replaces any error of its brackets by its own ("method failed"), so the error
// is kept in a value, and is raised when the host first accesses that: at the latest to assign it.
class refusal : public octave_base_value {
public:
    refusal() = default;

    explicit refusal(const octave::error_system& errors)
        : m_identifier(errors.last_error_id()), m_text(errors.last_error_message()) {}

    octave_base_value* clone() const override { return new refusal(*this); }

    octave_base_value* empty_clone() const override { return new refusal(); }

    bool is_defined() const override { return true; }

    bool isnull() const override { return raise(), false; }

    bool isobject() const override { return raise(), false; }

    int type_id() const override { return raise(), -1; }

    std::string type_name() const override { return raise(), ""; }

    std::string class_name() const override { return raise(), ""; }

    dim_vector dims() const override { return raise(), dim_vector(); }

private:
    void raise() const { error_with_id(m_identifier.c_str(), "%s", m_text.c_str()); }

    std::string m_identifier, m_text;
};

// Returns an array of the library's, or a number, which is read: some versions of the host take its memory over.
octave_value answered(const mxArray* array) {
    if (array->is_octave_value()) return mxArray::as_octave_value(array);
    const octave_value number(array->get_scalar());
    switch (array->get_class_id()) {
        case mxLOGICAL_CLASS: return octave_value(array->get_scalar() != 0);
        case mxSINGLE_CLASS: return number.as_single();
        case mxINT8_CLASS: return number.as_int8();
        case mxINT16_CLASS: return number.as_int16();
        case mxINT32_CLASS: return number.as_int32();
        case mxUINT8_CLASS: return number.as_uint8();
        case mxUINT16_CLASS: return number.as_uint16();
        case mxUINT32_CLASS: return number.as_uint32();
        default: return number;
    }
}

// True for the product of a row and a column, a dot product, but not for integers.
bool is_dot(const octave_base_value& a, const octave_base_value& b) {
    for (const octave_base_value* operand : {&a, &b}) {
        if (operand->class_name().find("int") != std::string::npos || operand->is_instance_of("integer")) return false;
    }
    return a.ndims() == 2 && b.ndims() == 2 && a.rows() == 1 && b.columns() == 1 && a.columns() == b.rows();
}

// Functions of the host that need sizes, texts, sparse or sorted matrices query a value for these.
#define WANTED_BY_THE_HOST(refuse)                                                    \
    int64_t int64_value(bool, bool) const override { refuse; }                        \
    charNDArray char_array_value(bool) const override { refuse; }                     \
    octave_value convert_to_str_internal(bool, bool, char) const override { refuse; } \
    SparseMatrix sparse_matrix_value(bool) const override { refuse; }                 \
    SparseBoolMatrix sparse_bool_matrix_value(bool) const override { refuse; }        \
    MatrixType matrix_type() const override { refuse; }                               \
    sortmode issorted(sortmode) const override { refuse; }                            \
    Array<octave_idx_type> sort_rows_idx(sortmode) const override { refuse; }

// The host joins the first row of `[1 2; u]' by a method of its own class, so there must be one.
void install_rows(octave::symbol_table& symbols) {
    for (const char* function : {"horzcat", "vertcat"}) {
        for (const char* name : {"double", "single", "logical", "char", "int8", "int16", "int32", "int64", "uint8",
                                 "uint16", "uint32", "uint64"})
            symbols.install_built_in_dispatch(function, name);
    }
}

octave_value assigned_to_ordinary(octave_base_value&, const octave_value_list&, const octave_base_value&) {
    error_with_id("DeviceArray:unsupported",
                  "A DeviceArray cannot be put into an ordinary array: write x(...) = gather (u), or make that "
                  "array a DeviceArray, such as x = zeros (2, 3, 'like', u).");
    return {};
}
}  // namespace

// Makes a value that raises the last error. Returns 0, or 2 if this Octave does not work as expected.
extern "C" __attribute__((visibility("default"))) int stencil_refusal(mxArray** out) {
    *out = nullptr;
    try {
        const octave::error_system& errors = octave::interpreter::the_interpreter()->get_error_system();
        const std::unique_ptr<mxArray> made(new mxArray(false, octave_value(new refusal(errors))));
        *out = mxDuplicateArray(made.get());
        return 0;
    } catch (...) {
        return 2;
    }
}

// Reads a range without making a matrix: its first element, increment, and number of elements. Returns 0, or 2 for any
// other value.
extern "C" __attribute__((visibility("default"))) int stencil_range(const mxArray* array, double* range) {
    try {
        if (!array->is_octave_value()) return 2;
        const octave_value value = mxArray::as_octave_value(array);
        if (!value.is_range() || !value.is_double_type()) return 2;
        const auto held = value.range_value();
        range[0] = held.base();
        range[1] = held.increment();
        range[2] = static_cast<double>(held.numel());
        return 0;
    } catch (...) {
        return 2;
    }
}

#endif
