// Arrays without a copy in Octave: built by matlab/build-mex for one version of Octave,
// and opened by lend.rs, where its purpose is described.
//
// No oct-file, though it uses the same headers: it has no function that a session could
// see, and it is linked with no library, because the running Octave provides the symbols.

#include <cstddef>
#include <memory>
#include <new>

#include <octave/oct.h>
// The class before the functions: only then do these take it for their array.
#include <octave/mxarray.h>

#include <octave/mexproto.h>

#if defined(OCTAVE_HAVE_STD_PMR_POLYMORPHIC_ALLOCATOR)
#error "this Octave takes the memory of MEX functions over by itself"
#endif

namespace {
// Makes an array of an Octave value of its own over `data', which becomes its memory.
template <typename Values, typename T>
mxArray* wrap(std::unique_ptr<T[], void (*)(T*)>& data, const dim_vector& dims) {
    // With a pointer: from dimensions alone Octave makes an array of zeros, with one
    // thread. It is freed as std::allocator does it.
    Array<T> array(data.get(), dims);
    data.release();
    return new mxArray(false, octave_value(Values(array)));
}

template <typename Values, typename T>
int lend(const dim_vector& dims, mxArray** out) {
    std::unique_ptr<T[], void (*)(T*)> data(std::allocator<T>().allocate(dims.numel()),
                                            [](T* p) { ::operator delete(p); });
    const void* address = data.get();
    std::unique_ptr<mxArray> made(wrap<Values>(data, dims));

    // In a call only the host can register an array: an unregistered one is never freed.
    // A call of a function of the interpreter registers its result, as the value that it
    // is, and +x is the value x.
    mxArray* input = made.get();
    mxArray* trouble = mexCallMATLABWithTrap(1, out, 1, &input, "uplus");
    if (trouble) {
        mxDestroyArray(trouble);
        return 2;
    }
    // A user may have defined another uplus.
    if (!*out || mxGetData(*out) != address) {
        if (*out) mxDestroyArray(*out);
        return 2;
    }
    // `made' is destroyed here, and with it the only other reference to the value.
    return 0;
}
}  // namespace

// Makes a real array of these dimensions, single or double, with more than one element,
// all uninitialised. Returns 0, or 1 without memory for it, or 2 if this Octave does not
// work as expected. It may raise an error of the host's, such as an interrupt.
extern "C" __attribute__((visibility("default"))) int stencil_lend(int is_single, std::size_t count,
                                                                   const std::size_t* sizes, mxArray** out) {
    *out = nullptr;
    try {
        dim_vector dims = dim_vector::alloc(static_cast<int>(count));
        for (std::size_t i = 0; i < count; i++) dims.xelem(i) = static_cast<octave_idx_type>(sizes[i]);
        return is_single ? lend<FloatNDArray, float>(dims, out) : lend<NDArray, double>(dims, out);
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
