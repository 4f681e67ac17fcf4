// The stand-in's libmwgpumexbinder (libmwgpu in older releases): arrays on the GPU, with the interface of
// gpu/mxGPUArray.h. They lie in the primary context of a device, through the CUDA driver of this process.
//
// As strict as the rest: a wrapper that is not destroyed before its call is over, an array that is written to though it
// is an input, a call before mxInitGPU, and new memory that is not all NaN when it is handed out are misuses, or show.

#include "stand_in.hpp"

#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <unordered_map>

using stand_in::Entry;
using stand_in::misuse;
using stand_in::Raised;

// MATLAB's C interface, in our own words.
class mxGPUArray;
enum mxGPUInitialize { MX_GPU_DO_NOT_INITIALIZE = 0, MX_GPU_INITIALIZE_VALUES = 1 };

namespace {

typedef int CUresult;
typedef void* CUcontext;
typedef uint64_t CUdeviceptr;

struct Driver {
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext*, int);
    CUresult (*release)(int);
    CUresult (*reset)(int);
    CUresult (*get_current)(CUcontext*);
    CUresult (*set_current)(CUcontext);
    CUresult (*alloc)(CUdeviceptr*, size_t);
    CUresult (*free)(CUdeviceptr);
    CUresult (*to_device)(CUdeviceptr, const void*, size_t);
    CUresult (*to_host)(void*, CUdeviceptr, size_t);
    CUresult (*wait)(void*);

    Driver() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW);
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(library ? dlsym(library, name) : nullptr);
            if (!function) throw Raised("parallel:gpu:nodriver", std::string("No CUDA driver with ") + name);
        };
        find(init, "cuInit");
        find(retain, "cuDevicePrimaryCtxRetain");
        find(release, "cuDevicePrimaryCtxRelease_v2");
        find(reset, "cuDevicePrimaryCtxReset_v2");
        find(get_current, "cuCtxGetCurrent");
        find(set_current, "cuCtxSetCurrent");
        find(alloc, "cuMemAlloc_v2");
        find(free, "cuMemFree_v2");
        find(to_device, "cuMemcpyHtoD_v2");
        find(to_host, "cuMemcpyDtoH_v2");
        find(wait, "cuStreamSynchronize");
    }
};

Driver& driver() {
    static Driver one;
    return one;
}

void check(CUresult status, const char* what) {
    if (status) throw Raised("parallel:gpu:failed", std::string(what) + " failed: " + std::to_string(status));
}

// The device that is selected, and the context that MATLAB has of it; it is current on its thread.
int selected = 0;
CUcontext context = nullptr;
// Data of a generation before are gone: the device was reset.
unsigned long generation = 1;

void start() {
    if (context) return;
    check(driver().init(0), "cuInit");
    check(driver().retain(&context, selected), "cuDevicePrimaryCtxRetain");
    check(driver().set_current(context), "cuCtxSetCurrent");
}

// MATLAB's own context, current during an action of its; restores the former one.
struct Within {
    CUcontext before = nullptr;
    explicit Within(CUcontext wanted = nullptr) {
        driver().get_current(&before);
        check(driver().set_current(wanted ? wanted : context), "cuCtxSetCurrent");
    }
    ~Within() { driver().set_current(before); }
};

size_t held = 0;

// Numbers on the GPU.
struct Data {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    unsigned long of = generation;
    CUcontext where = context;
    mxClassID id = mxDOUBLE_CLASS;
    bool complex = false, sparse = false;
    std::vector<mwSize> dims;

    bool valid() const { return of == generation; }
    ~Data() {
        --held;
        if (!address || !valid()) return;
        CUcontext before = nullptr;
        driver().get_current(&before);
        driver().set_current(where);
        driver().wait(nullptr);
        if (driver().free(address)) misuse("an array on the GPU could not be freed");
        driver().set_current(before);
    }
};

size_t size_of(mxClassID id) {
    switch (id) {
        case mxDOUBLE_CLASS:
        case mxINT64_CLASS:
        case mxUINT64_CLASS: return 8;
        case mxSINGLE_CLASS:
        case mxINT32_CLASS:
        case mxUINT32_CLASS: return 4;
        case mxINT16_CLASS:
        case mxUINT16_CLASS: return 2;
        default: return 1;
    }
}

std::shared_ptr<Data> make(std::vector<mwSize> dims, mxClassID id, bool complex, const void* values) {
    start();
    while (dims.size() > 2 && dims.back() == 1) dims.pop_back();
    auto data = std::make_shared<Data>();
    ++held;
    data->id = id;
    data->complex = complex;
    data->bytes = size_of(id) * (complex ? 2 : 1);
    for (mwSize dim : dims) data->bytes *= dim;
    data->dims = std::move(dims);
    if (data->bytes == 0) return data;
    Within within;
    check(driver().alloc(&data->address, data->bytes), "cuMemAlloc");
    const std::vector<char> nan(values ? 0 : data->bytes, static_cast<char>(0xff));
    check(driver().to_device(data->address, values ? values : nan.data(), data->bytes), "cuMemcpyHtoD");
    // Its own work is over when it hands out an address; it does not wait for that of others.
    check(driver().wait(nullptr), "cuStreamSynchronize");
    return data;
}

bool fingerprint(const Data& data, uint64_t& hash) {
    std::vector<unsigned char> bytes(data.bytes);
    Within within(data.where);
    if (data.bytes && driver().to_host(bytes.data(), data.address, data.bytes)) return false;
    hash = 0xcbf29ce484222325;
    for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return true;
}

struct Wrapped {
    std::shared_ptr<Data> data;
    unsigned long call;
    bool read_only;
    bool printed = false;
    uint64_t print = 0;
    bool handed_over = false;
};

std::unordered_map<const mxGPUArray*, Wrapped> wrappers;
unsigned long initialised_in = 0;
size_t looked_at = 0;
// The next function of the interface but `after` raises an error, or fails if it has none.
bool raising = false;
size_t raise_after = 0;
int init_status = 0;

void let_go(Wrapped& wrapped) {
    uint64_t print = 0;
    if (wrapped.printed && wrapped.data->valid() && fingerprint(*wrapped.data, print) && print != wrapped.print)
        misuse("an input on the GPU was written to");
}

void end_of_call(unsigned long call) {
    for (auto it = wrappers.begin(); it != wrappers.end();) {
        if (it->second.call != call) {
            ++it;
            continue;
        }
        misuse("a wrapper of an array on the GPU was not destroyed");
        delete reinterpret_cast<const char*>(it->first);
        it = wrappers.erase(it);
    }
    CUcontext now = nullptr;
    if (context && driver().get_current(&now) == 0 && now != context)
        misuse("another CUDA context is current after the call than before");
}

// Stands at the top of a function of the interface.
void used(const char* function, bool may_raise = true) {
    ++looked_at;
    if (!stand_in::this_call()) misuse(std::string(function) + " outside a call");
    if (initialised_in != stand_in::this_call()) misuse(std::string(function) + " before mxInitGPU");
    if (may_raise && raising && raise_after-- == 0) {
        raising = false;
        throw Raised("parallel:gpu:standin", std::string(function) + " raises an error, as it was told to.");
    }
}

Wrapped* known(const mxGPUArray* array, const char* function) {
    auto found = wrappers.find(array);
    if (found != wrappers.end()) return &found->second;
    misuse(std::string(function) + ": not a wrapper, or one that was destroyed");
    return nullptr;
}

mxGPUArray* wrap(std::shared_ptr<Data> data, bool read_only) {
    static const bool registered = (stand_in::at_end_of_call(end_of_call), true);
    (void)registered;
    Wrapped wrapped{std::move(data), stand_in::this_call(), read_only};
    wrapped.printed = read_only && fingerprint(*wrapped.data, wrapped.print);
    auto* raw = reinterpret_cast<mxGPUArray*>(new char);
    wrappers.emplace(raw, std::move(wrapped));
    return raw;
}

std::shared_ptr<Data> data_of(const mxArray* array) {
    return std::static_pointer_cast<Data>(stand_in::gpu_data(array));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int mxInitGPU() {
    Entry entry(__func__);
    ++looked_at;
    initialised_in = stand_in::this_call();
    if (init_status) return init_status;
    start();
    return 0;
}

int mxIsGPUArray(const mxArray* array) {
    Entry entry(__func__);
    used(__func__);
    return data_of(array) ? 1 : 0;
}

// Any number but 0 is true.
int mxGPUIsValidGPUData(const mxArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto data = data_of(array);
    return data && data->valid() ? 4 : 0;
}

const mxGPUArray* mxGPUCreateFromMxArray(const mxArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto data = data_of(array);
    if (!data || !data->valid()) {
        misuse(std::string(__func__) + ": an array that is not on the GPU, or no longer");
        return nullptr;
    }
    return wrap(std::move(data), true);
}

mxGPUArray* mxGPUCreateGPUArray(mwSize ndim, const mwSize* dims, mxClassID id, mxComplexity flag,
                                mxGPUInitialize init) {
    Entry entry(__func__);
    used(__func__);
    if (init != MX_GPU_DO_NOT_INITIALIZE) misuse(std::string(__func__) + ": who writes all of it need not clear it");
    return wrap(make(std::vector<mwSize>(dims, dims + ndim), id, flag == mxCOMPLEX, nullptr), false);
}

mxClassID mxGPUGetClassID(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    return wrapped ? wrapped->data->id : mxUNKNOWN_CLASS;
}

mxComplexity mxGPUGetComplexity(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    return wrapped && wrapped->data->complex ? mxCOMPLEX : mxREAL;
}

#ifndef OLDER
int mxGPUIsSparse(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    return wrapped && wrapped->data->sparse;
}
#endif

mwSize mxGPUGetNumberOfDimensions(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    return wrapped ? wrapped->data->dims.size() : 0;
}

// A block of mxMalloc's, which is the caller's to free.
const mwSize* mxGPUGetDimensions(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    if (!wrapped) return nullptr;
    const auto& dims = wrapped->data->dims;
    auto* copy = static_cast<mwSize*>(mxMalloc(dims.size() * sizeof(mwSize)));
    std::memcpy(copy, dims.data(), dims.size() * sizeof(mwSize));
    return copy;
}

mwSize mxGPUGetNumberOfElements(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    mwSize count = wrapped ? 1 : 0;
    if (wrapped)
        for (mwSize dim : wrapped->data->dims) count *= dim;
    return count;
}

const void* mxGPUGetDataReadOnly(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    if (wrapped && wrapped->data->sparse) misuse(std::string(__func__) + " of a sparse array");
    return wrapped ? reinterpret_cast<void*>(wrapped->data->address) : nullptr;
}

void* mxGPUGetData(mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    if (wrapped && wrapped->read_only) misuse(std::string(__func__) + " of an array that may only be read");
    return wrapped ? reinterpret_cast<void*>(wrapped->data->address) : nullptr;
}

mxArray* mxGPUCreateMxArrayOnGPU(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__);
    auto* wrapped = known(array, __func__);
    if (!wrapped) return nullptr;
    if (wrapped->handed_over) misuse(std::string(__func__) + " twice of one wrapper");
    wrapped->handed_over = true;
    // Now, and not when it is next looked at: who hands it over has finished.
    if (uint64_t print = 0; !wrapped->read_only && fingerprint(*wrapped->data, print)) {
        wrapped->printed = true;
        wrapped->print = print;
    }
    return stand_in::make_gpu_array(wrapped->data);
}

void mxGPUDestroyGPUArray(const mxGPUArray* array) {
    Entry entry(__func__);
    used(__func__, false);
    auto* wrapped = known(array, __func__);
    if (!wrapped) return;
    let_go(*wrapped);
    delete reinterpret_cast<const char*>(array);
    wrappers.erase(array);
}

// ---- functions that a test calls

// A gpuArray of the workspace, with these values, or NaN where there are none. Null, and the text of
// `standin_gpu_error`, where there is no GPU.
mxArray* standin_gpu_array(size_t ndim, const mwSize* dims, int id, int complex, int sparse, const void* values) {
    auto data = make(std::vector<mwSize>(dims, dims + ndim), static_cast<mxClassID>(id), complex, values);
    data->sparse = sparse;
    return stand_in::make_gpu_array(std::move(data));
}

// Its dimensions, at most 16, and its class.
size_t standin_gpu_dims(const mxArray* array, mwSize* dims, int* id) {
    auto data = data_of(array);
    if (!data) return 0;
    for (size_t i = 0; i < data->dims.size() && i < 16; ++i) dims[i] = data->dims[i];
    *id = data->id;
    return data->dims.size();
}

// `gather`: 0 where the values are there.
int standin_gather(const mxArray* array, void* values) {
    auto data = data_of(array);
    if (!data || !data->valid()) return 1;
    if (data->bytes == 0) return 0;
    Within within(data->where);
    return driver().to_host(values, data->address, data->bytes);
}

uint64_t standin_gpu_address(const mxArray* array) { return data_of(array)->address; }

// `reset (gpuDevice)`: all data are gone. The device is selected again.
void standin_gpu_reset() {
    start();
    ++generation;
    check(driver().reset(selected), "cuDevicePrimaryCtxReset");
    driver().release(selected);
    context = nullptr;
    start();
}

// `gpuDevice (number)`, from 0. Arrays on the other one stay there.
void standin_gpu_select(int number) {
    if (context) {
        driver().set_current(nullptr);
        // Its arrays are there still: it is not released.
    }
    selected = number;
    context = nullptr;
    start();
}

// Gives the device back, as MATLAB does at its end. No array may be left.
void standin_gpu_stop(int devices) {
    if (held) misuse(std::to_string(held) + " arrays are on the GPU at its end");
    if (!context) return;
    driver().set_current(nullptr);
    for (int i = 0; i < devices; ++i) driver().release(i);
    selected = 0;
    context = nullptr;
}

// Arrays on the GPU, and wrappers of them.
size_t standin_gpu_held() { return held + wrappers.size(); }
// Number of calls of the interface.
size_t standin_gpu_calls() { return looked_at; }
// The next call of a function of the interface but `after` raises an error; whether one did is asked by the second.
void standin_gpu_raise(size_t after) {
    raising = true;
    raise_after = after;
}
int standin_gpu_raise_pending() {
    const bool pending = raising;
    raising = false;
    return pending;
}
// Sets the result of mxInitGPU from now on.
void standin_gpu_init_status(int status) { init_status = status; }

}  // extern "C"
#pragma GCC visibility pop
