// Saves a value of a type of Octave's own into files as an ordinary array, which every
// Octave loads. A part of object.cc, for its type's values alone.
//
// SAVE writes the name of a value's type before it queries the type for the content, or,
// for MATLAB's formats, checks the value's class and takes its elements. So during these
// queries of SAVE a value describes itself as an ordinary array.

#pragma once

#include <ostream>
#include <string>

#include <octave/oct.h>
#include <octave/interpreter.h>
#include <octave/ov-base.h>
#include <octave/pt-eval.h>

namespace {
// A function of the host that refuses a value shows the type's name, so the name contains
// the remedy.
const char TYPE_NAME[] = "DeviceArray (gather it first)";
const char CLASS_NAME[] = "DeviceArray";

bool is_saving() {
    octave_function* current = octave::interpreter::the_interpreter()->get_evaluator().current_function();
    return current && current->is_builtin_function() && current->name() == "save";
}

class ordinary_in_files : public octave_base_value {
public:
    std::string type_name() const override { return is_saving() ? told_values().type_name() : TYPE_NAME; }

    std::string class_name() const override { return is_saving() ? class_of_elements() : CLASS_NAME; }

    bool save_ascii(std::ostream& os) override { return told_values().save_ascii(os); }

    bool save_binary(std::ostream& os, bool as_floats) override { return told_values().save_binary(os, as_floats); }

    bool save_hdf5(octave_hdf5_id place, const char* name, bool as_floats) override {
        return told_values().save_hdf5(place, name, as_floats);
    }

    bool is_real_matrix() const override { return isfloat() && is_saving(); }

    bool is_single_type() const override { return class_of_elements() == "single" && is_saving(); }

#define ONLY_FOR_FILES(type, name, parameters, arguments) \
    type name parameters const override { return asked_values().name arguments; }
    ONLY_FOR_FILES(int, int_value, (bool whole, bool force), (whole, force))
    ONLY_FOR_FILES(double, double_value, (bool force), (force))
    ONLY_FOR_FILES(float, float_value, (bool force), (force))
    ONLY_FOR_FILES(Matrix, matrix_value, (bool force), (force))
    ONLY_FOR_FILES(FloatMatrix, float_matrix_value, (bool force), (force))
    ONLY_FOR_FILES(NDArray, array_value, (bool force), (force))
    ONLY_FOR_FILES(FloatNDArray, float_array_value, (bool force), (force))
    ONLY_FOR_FILES(Complex, complex_value, (bool force), (force))
    ONLY_FOR_FILES(ComplexNDArray, complex_array_value, (bool force), (force))
    ONLY_FOR_FILES(bool, bool_value, (bool warn), (warn))
    ONLY_FOR_FILES(boolNDArray, bool_array_value, (bool warn), (warn))
    ONLY_FOR_FILES(int8NDArray, int8_array_value, (), ())
    ONLY_FOR_FILES(int16NDArray, int16_array_value, (), ())
    ONLY_FOR_FILES(int32NDArray, int32_array_value, (), ())
    ONLY_FOR_FILES(int64NDArray, int64_array_value, (), ())
    ONLY_FOR_FILES(uint8NDArray, uint8_array_value, (), ())
    ONLY_FOR_FILES(uint16NDArray, uint16_array_value, (), ())
    ONLY_FOR_FILES(uint32NDArray, uint32_array_value, (), ())
    ONLY_FOR_FILES(uint64NDArray, uint64_array_value, (), ())
    ONLY_FOR_FILES(std::string, string_value, (bool force), (force))
#undef ONLY_FOR_FILES

protected:
    virtual const std::string& class_of_elements() const = 0;

    // Returns the values as an ordinary array.
    virtual octave_value values() const = 0;

    // Raises the error for a function of the host that needs values.
    [[noreturn]] virtual void refuse_values() const = 0;

private:
    octave_value told_values() const {
        const octave_value ordinary = values();
        static bool told = false;
        if (!told) {
            told = true;
            warning_with_id(
                "DeviceArray:saved",
                "A DeviceArray is saved as an ordinary array of its values: DeviceArray (x) makes one of what "
                "is loaded. This is said once in a session.");
        }
        return ordinary;
    }

    octave_value asked_values() const {
        if (!is_saving()) refuse_values();
        return told_values();
    }
};
}  // namespace
