// Objects of a class of ours, made without the interpreter: built by matlab/build-mex
// for one version of Octave, opened by object.rs beside this file, which says what it
// is for.
//
// Linked with nothing, as lend.cc is: the Octave that runs is there.

#include <cstdint>
#include <memory>

#include <octave/oct.h>
#include <octave/cdef-class.h>
#include <octave/cdef-object.h>
#include <octave/cdef-utils.h>
#include <octave/ov-classdef.h>
// The class before the functions: only then do these take it for their array.
#include <octave/mxarray.h>

#include <octave/mexproto.h>

namespace {
// An object that tells when it goes. A copy is another object, and tells nothing.
class telling_object : public octave::handle_cdef_object {
public:
    telling_object(std::uint64_t number, void (*gone)(std::uint64_t)) : m_number(number), m_gone(gone) {}

    telling_object(const telling_object&) = delete;

    telling_object& operator=(const telling_object&) = delete;

    ~telling_object() {
        if (m_gone) m_gone(m_number);
    }

    // Octave asks this in one place, before it looks for a `delete' of the class and of
    // those that it derives from: 2 to 3 us. There is none.
    bool is_meta_object() const override { return true; }

    std::uint64_t number() const { return m_number; }

    // Whoever asked for the object has to see to its number again.
    void silence() { m_gone = nullptr; }

private:
    std::uint64_t m_number;
    void (*m_gone)(std::uint64_t);
};
}  // namespace

// An object of the class `name', with `number' in its property `property': nothing
// else of it is set, and no constructor runs. When it goes, `gone' is called with the
// number. Returns 0, or 2 where this Octave does not do as expected: then nothing will
// be called. It may raise what the host raises, such as an interrupt.
extern "C" __attribute__((visibility("default"))) int stencil_object(const char* name, const char* property,
                                                                     std::uint64_t number, void (*gone)(std::uint64_t),
                                                                     mxArray** out) {
    *out = nullptr;
    std::unique_ptr<mxArray> made;
    telling_object* object = nullptr;
    try {
        const octave::cdef_class cls = octave::lookup_class(name, false, true);
        if (!cls.ok()) return 2;
        object = new telling_object(number, gone);
        octave::cdef_object held(object);
        held.set_class(cls);
        held.put(property, octave_value(octave_uint64(number)));
        held.mark_as_constructed();
        made.reset(new mxArray(false, octave::to_ov(held)));
    } catch (...) {
        if (object) object->silence();
        return 2;
    }

    // The call's books are open to the host alone: what is not in them is never freed. A
    // copy that the host makes is in them, and it is of the handle, not of the object.
    *out = mxDuplicateArray(made.get());
    return 0;
}

// Reads the number of an object that `stencil_object' made: 0, or 2 for any other
// array.
extern "C" __attribute__((visibility("default"))) int stencil_number(const mxArray* array, std::uint64_t* number) {
    try {
        const octave_value value = mxArray::as_octave_value(array);
        octave_classdef* held = value.classdef_object_value(true);
        if (!held) return 2;
        const octave::cdef_object object = held->get_object();
        const auto* telling = dynamic_cast<const telling_object*>(object.get_rep());
        if (!telling) return 2;
        *number = telling->number();
        return 0;
    } catch (...) {
        return 2;
    }
}
