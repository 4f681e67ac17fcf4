// The stand-in's libmx: arrays as MATLAB's separate-complex interface (API 700) shows them.

#include "stand_in.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <pthread.h>
#include <unordered_map>
#include <unordered_set>

using stand_in::Entry;
using stand_in::misuse;
using stand_in::Raised;

struct mxArray_tag {
    mxClassID id = mxUNKNOWN_CLASS;
    std::string class_name;
    std::vector<mwSize> dims;
    bool complex = false;
    bool sparse = false;
    // Null where there are no elements, as in MATLAB.
    unsigned char *re = nullptr, *im = nullptr;
    size_t bytes = 0;
    // Names of the parts: a struct's fields, or an object's properties.
    std::vector<std::string> fields, properties;
    std::vector<mxArray*> parts;
    std::vector<stand_in::Text> texts;
    std::shared_ptr<void> gpu;
    // The cell or struct it lies in.
    mxArray* owner = nullptr;
    // The call that made it; 0 for a variable of the workspace.
    unsigned long born = 0;
    // Number of running calls with this argument.
    int input = 0;
    uint64_t print = 0;
};

namespace {

std::recursive_mutex lock;
std::unordered_set<const mxArray*> live;
std::unordered_map<void*, unsigned long> blocks;
std::vector<std::string> misuses, strays;
std::vector<void (*)(unsigned long)> ends;
std::atomic<size_t> relics{0};
unsigned long calls = 0;
// Running calls, the innermost last: the number of a call of a MEX file, or 0 for code of the interpreter inside one.
std::vector<unsigned long> under_way;
pthread_t caller;
bool refusing = false;
size_t refuse_after = 0;

// Data lies between two pads, which show a write outside it. 48 bytes after a multiple of 64 is aligned to 16 and to no
// more: MATLAB promises no more.
constexpr size_t FRONT = 48, BACK = 64;
constexpr unsigned char PAD = 0xC3, UNINITIALISED = 0xFD;

// The call of a MEX file that runs now; 0 for none.
unsigned long running() { return under_way.empty() ? 0 : under_way.back(); }

struct ClassInfo {
    const char* name;
    size_t size;
};

ClassInfo class_info(mxClassID id) {
    switch (id) {
        case mxCELL_CLASS: return {"cell", 0};
        case mxSTRUCT_CLASS: return {"struct", 0};
        case mxLOGICAL_CLASS: return {"logical", 1};
        case mxCHAR_CLASS: return {"char", 2};
        case mxDOUBLE_CLASS: return {"double", 8};
        case mxSINGLE_CLASS: return {"single", 4};
        case mxINT8_CLASS: return {"int8", 1};
        case mxUINT8_CLASS: return {"uint8", 1};
        case mxINT16_CLASS: return {"int16", 2};
        case mxUINT16_CLASS: return {"uint16", 2};
        case mxINT32_CLASS: return {"int32", 4};
        case mxUINT32_CLASS: return {"uint32", 4};
        case mxINT64_CLASS: return {"int64", 8};
        case mxUINT64_CLASS: return {"uint64", 8};
        default: return {"unknown", 0};
    }
}

[[noreturn]] void out_of_memory() { throw Raised("MATLAB:nomem", "Out of memory."); }

unsigned char* new_data(size_t bytes, unsigned char fill) {
    if (bytes == 0) return nullptr;
    if (bytes > std::numeric_limits<size_t>::max() / 2) out_of_memory();
    size_t whole = (FRONT + bytes + BACK + 63) / 64 * 64;
    auto* base = static_cast<unsigned char*>(std::aligned_alloc(64, whole));
    if (!base) out_of_memory();
    std::memset(base, PAD, FRONT);
    std::memset(base + FRONT, fill, bytes);
    std::memset(base + FRONT + bytes, PAD, BACK);
    return base + FRONT;
}

bool pads_whole(const unsigned char* data, size_t bytes) {
    if (!data) return true;
    for (size_t i = 0; i < FRONT; ++i)
        if (data[i - FRONT] != PAD) return false;
    for (size_t i = 0; i < BACK; ++i)
        if (data[bytes + i] != PAD) return false;
    return true;
}

void free_data(unsigned char* data) {
    if (data) std::free(data - FRONT);
}

bool known(const mxArray* array, const char* function) {
    if (array && live.count(array)) return true;
    misuse(std::string(function) + (array ? ": not an array, or one that was destroyed" : ": a null pointer"));
    return false;
}

size_t count_of(const mxArray* array) {
    size_t n = 1;
    for (mwSize d : array->dims) n *= d;
    return n;
}

std::vector<mwSize> sizes(size_t ndim, const mwSize* dims) {
    std::vector<mwSize> all(dims, dims + ndim);
    while (all.size() < 2) all.push_back(ndim == 0 ? 0 : 1);
    while (all.size() > 2 && all.back() == 1) all.pop_back();
    return all;
}

// Every array passes through here, so here is where one can be refused.
mxArray* make(mxClassID id, std::vector<mwSize> dims, bool complex = false, unsigned char fill = 0) {
    if (running() && refusing && refuse_after-- == 0) {
        refusing = false;
        out_of_memory();
    }
    size_t n = 1, size = class_info(id).size;
    bool empty = false;
    for (mwSize d : dims) empty = empty || d == 0;
    for (mwSize d : dims)
        if (!empty && __builtin_mul_overflow(n, d, &n)) out_of_memory();
    size_t bytes = 0;
    if (__builtin_mul_overflow(empty ? 0 : n, size, &bytes)) out_of_memory();
    unsigned char *re = new_data(bytes, fill), *im = nullptr;
    if (complex) {
        try {
            im = new_data(bytes, fill);
        } catch (...) {
            free_data(re);
            throw;
        }
    }
    auto* array = new mxArray;
    array->id = id;
    array->class_name = class_info(id).name;
    array->dims = std::move(dims);
    array->complex = complex;
    array->re = re;
    array->im = im;
    array->bytes = bytes;
    array->born = running();
    live.insert(array);
    return array;
}

mxArray* make_numeric(const char* function, mxClassID id, std::vector<mwSize> dims, mxComplexity flag,
                      unsigned char fill = 0) {
    if (id < mxDOUBLE_CLASS || id > mxUINT64_CLASS) {
        // MATLAB makes a logical or char array here too; only a class without elements is refused.
        if (id != mxLOGICAL_CLASS && id != mxCHAR_CLASS) {
            misuse(std::string(function) + ": class " + std::to_string(id) + " has no elements");
            return nullptr;
        }
    }
    return make(id, std::move(dims), flag == mxCOMPLEX, fill);
}

mxArray* make_struct(const char* function, std::vector<mwSize> dims, int nfields, const char** names) {
    std::vector<std::string> fields;
    for (int i = 0; i < nfields; ++i) {
        const char* name = names ? names[i] : nullptr;
        bool good = name && *name && !std::strchr("0123456789_", *name);
        for (const char* c = name; good && *c; ++c) good = std::isalnum(static_cast<unsigned char>(*c)) || *c == '_';
        if (!good) misuse(std::string(function) + ": not a field's name: " + (name ? name : "(null)"));
        fields.emplace_back(name ? name : "");
    }
    mxArray* array = make(mxSTRUCT_CLASS, std::move(dims));
    array->fields = std::move(fields);
    array->parts.resize(count_of(array) * array->fields.size(), nullptr);
    return array;
}

mxArray* make_cell(std::vector<mwSize> dims) {
    mxArray* array = make(mxCELL_CLASS, std::move(dims));
    array->parts.resize(count_of(array), nullptr);
    return array;
}

void destroy(mxArray* array) {
    if (!pads_whole(array->re, array->bytes) || !pads_whole(array->im, array->bytes))
        misuse("an array of class " + array->class_name + " was written beside its data");
    for (mxArray* part : array->parts)
        if (part) destroy(part);
    free_data(array->re);
    free_data(array->im);
    live.erase(array);
    delete array;
}

// A fingerprint of all that an argument holds (FNV-1a).
uint64_t fingerprint(const mxArray* array, uint64_t hash = 0xcbf29ce484222325) {
    for (const unsigned char* data : {array->re, array->im})
        for (size_t i = 0; data && i < array->bytes; ++i) hash = (hash ^ data[i]) * 0x100000001b3;
    // The sizes are shown through a pointer to the array's own: they could be written, too.
    for (mwSize d : array->dims) hash = (hash ^ d) * 0x100000001b3;
    for (const mxArray* part : array->parts) hash = part ? fingerprint(part, hash) : hash * 0x100000001b3;
    return hash;
}

// A copy of an array of numbers.
mxArray* copy_of(const mxArray* array) {
    mxArray* copy = make(array->id, array->dims, array->complex);
    if (array->bytes) std::memcpy(copy->re, array->re, array->bytes);
    if (array->im) std::memcpy(copy->im, array->im, array->bytes);
    return copy;
}

std::string shape(const mxArray* array) {
    std::string text;
    for (mwSize d : array->dims) text += (text.empty() ? "" : "x") + std::to_string(d);
    return text;
}

std::string to_utf8(const char16_t* units, size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) {
        uint32_t c = units[i];
        if (c >= 0xD800 && c < 0xDC00 && i + 1 < n && units[i + 1] >= 0xDC00 && units[i + 1] < 0xE000)
            c = 0x10000 + ((c - 0xD800) << 10) + (units[++i] - 0xDC00u);
        int tail = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const unsigned char head[] = {0, 0xC0, 0xE0, 0xF0};
        text += static_cast<char>(head[tail] | (c >> (6 * tail)));
        while (tail-- > 0) text += static_cast<char>(0x80 | ((c >> (6 * tail)) & 0x3F));
    }
    return text;
}

std::u16string from_utf8(const char* text) {
    std::u16string units;
    for (auto* p = reinterpret_cast<const unsigned char*>(text); *p;) {
        int tail = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
        uint32_t c = tail == 0 ? *p : *p & (0x3Fu >> tail);
        for (++p; tail > 0 && *p; --tail, ++p) c = (c << 6) | (*p & 0x3F);
        if (c < 0x10000) {
            units += static_cast<char16_t>(c);
        } else {
            units += static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10));
            units += static_cast<char16_t>(0xDC00 + ((c - 0x10000) & 0x3FF));
        }
    }
    return units;
}

std::string text_of(const mxArray* array) {
    return to_utf8(reinterpret_cast<const char16_t*>(array->re), array->bytes / sizeof(char16_t));
}

void put(const char* function, mxArray* into, size_t at, mxArray* value) {
    if (!known(into, function) || (value && !known(value, function))) return;
    if (at >= into->parts.size()) return misuse(std::string(function) + ": no such element or field");
    if (value && (value->owner || value->input))
        return misuse(std::string(function) + ": the value belongs to another array or to the caller");
    if (value == into) return misuse(std::string(function) + ": an array cannot hold itself");
    // The old value is not destroyed: that is the MEX file's task, as in MATLAB.
    if (mxArray* old = into->parts[at]) old->owner = nullptr;
    into->parts[at] = value;
    if (value) value->owner = into;
}

mxArray* part(const char* function, const mxArray* array, size_t at) {
    if (!known(array, function)) return nullptr;
    if (at >= array->parts.size()) {
        misuse(std::string(function) + ": no such element or field");
        return nullptr;
    }
    return array->parts[at];
}

void* block(size_t bytes, bool clear) {
    void* memory = std::malloc(bytes ? bytes : 1);
    if (!memory) out_of_memory();
    std::memset(memory, clear ? 0 : UNINITIALISED, bytes);
    blocks.emplace(memory, running());
    return memory;
}

void relic(const char* name) {
    relics++;
    std::fprintf(stderr, "stand-in: %s is the 32-bit relic; the function is %s_730\n", name, name);
}

}  // namespace

namespace stand_in {

// Out of line, so that both libraries share one type.
Raised::Raised(std::string id, std::string text) : id(std::move(id)), text(std::move(text)) {}
Raised::~Raised() = default;

void misuse(const std::string& what) {
    std::lock_guard<std::recursive_mutex> guard(lock);
    std::fprintf(stderr, "stand-in: misuse: %s\n", what.c_str());
    misuses.push_back(what);
}

Entry::Entry(const char* function) {
    lock.lock();
    if (in_call() && !pthread_equal(pthread_self(), caller))
        misuse(std::string(function) + ": called on another thread");
}
Entry::~Entry() { lock.unlock(); }

bool in_call() { return !under_way.empty(); }

void begin_call(int nrhs, const mxArray* const* prhs) {
    Entry entry("begin_call");
    for (int i = 0; i < nrhs; ++i) {
        auto* array = const_cast<mxArray*>(prhs[i]);
        array->print = fingerprint(array);
        array->input++;
    }
    under_way.push_back(++calls);
    caller = pthread_self();
}

void at_end_of_call(void (*work)(unsigned long)) { ends.push_back(work); }
unsigned long this_call() { return running(); }

mxArray* make_gpu_array(std::shared_ptr<void> data) {
    mxArray* array = make_object("gpuArray", mxOPAQUE_CLASS);
    array->gpu = std::move(data);
    return array;
}

std::shared_ptr<void> gpu_data(const mxArray* array) {
    Entry entry("gpu_data");
    return known(array, "an array on the GPU") ? array->gpu : nullptr;
}

Callback::Callback() { under_way.push_back(0); }
Callback::~Callback() { under_way.pop_back(); }

void end_call(int nrhs, const mxArray* const* prhs, int slots, mxArray* const* plhs) {
    Entry entry("end_call");
    const unsigned long call = running();
    for (auto end : ends) end(call);
    under_way.pop_back();
    for (int i = 0; i < nrhs; ++i) {
        auto* array = const_cast<mxArray*>(prhs[i]);
        array->input--;
        if (fingerprint(array) != array->print) misuse("argument " + std::to_string(i + 1) + " was written to");
        if (!pads_whole(array->re, array->bytes))
            misuse("argument " + std::to_string(i + 1) + " was written beside its data");
    }
    std::unordered_set<const mxArray*> returned;
    for (int i = 0; i < slots; ++i) {
        mxArray* array = plhs[i];
        if (!array || !known(array, "an output")) continue;
        if (array->born != call || array->owner)
            misuse("output " + std::to_string(i + 1) + " is not an array made for it");
        if (!pads_whole(array->re, array->bytes) || !pads_whole(array->im, array->bytes))
            misuse("output " + std::to_string(i + 1) + " was written beside its data");
        returned.insert(array);
    }
    std::vector<mxArray*> left;
    for (const mxArray* array : live)
        if (array->born == call && !array->owner && !returned.count(array)) left.push_back(const_cast<mxArray*>(array));
    for (mxArray* array : left) {
        strays.push_back(shape(array) + " " + array->class_name);
        destroy(array);
    }
    for (auto it = blocks.begin(); it != blocks.end();) {
        if (it->second == call) {
            std::free(it->first);
            it = blocks.erase(it);
            strays.push_back("a block of memory");
        } else {
            ++it;
        }
    }
}

mxArray* make_object(const char* class_name, mxClassID id) {
    Entry entry("make_object");
    // MATLAB shows an array of objects as one opaque thing: its size is not that of its contents.
    mxArray* array = make(id, {1, 1});
    array->class_name = class_name;
    return array;
}

mxArray* make_device_array(const mxArray* number) {
    Entry entry("make_device_array");
    mxArray *value = copy_of(number), *array = nullptr;
    try {
        array = make_object("DeviceArray", mxOPAQUE_CLASS);
    } catch (...) {
        destroy(value);
        throw;
    }
    array->properties.push_back("id");
    array->parts.push_back(value);
    value->owner = array;
    return array;
}

mxArray* make_char_matrix(const std::vector<std::u16string>& rows) {
    Entry entry("make_char_matrix");
    size_t width = 0;
    for (const auto& row : rows) width = std::max(width, row.size());
    // char("") is 0 x 0, not 1 x 0.
    size_t height = rows.size() == 1 && width == 0 ? 0 : rows.size();
    mxArray* array = make(mxCHAR_CLASS, {height, width});
    auto* units = reinterpret_cast<char16_t*>(array->re);
    for (size_t i = 0; i < height; ++i)
        for (size_t j = 0; j < width; ++j) units[i + j * height] = j < rows[i].size() ? rows[i][j] : u' ';
    return array;
}

const std::vector<Text>* texts_of(const mxArray* array) {
    Entry entry("texts_of");
    return known(array, "an argument of char") && array->class_name == "string" ? &array->texts : nullptr;
}

}  // namespace stand_in

extern "C" {

mxArray* standin_string(const char* const* texts, size_t count) {
    mxArray* array = stand_in::make_object("string", mxOPAQUE_CLASS);
    for (size_t i = 0; i < count; ++i)
        array->texts.push_back({!texts[i], texts[i] ? from_utf8(texts[i]) : std::u16string()});
    return array;
}

mxArray* standin_sparse(size_t m, size_t n, size_t stored) {
    Entry entry(__func__);
    // Only the stored elements have memory: a program that assumes m*n elements reads outside it.
    mxArray* array = make(mxDOUBLE_CLASS, {stored, 1});
    array->dims = {m, n};
    array->sparse = true;
    return array;
}

mxArray* standin_object(const char* class_name, int class_id) {
    return stand_in::make_object(class_name, static_cast<mxClassID>(class_id));
}

mxArray* standin_device_array(uint64_t number) {
    Entry entry(__func__);
    mxArray* value = make(mxUINT64_CLASS, {1, 1});
    std::memcpy(value->re, &number, sizeof number);
    mxArray* array = stand_in::make_device_array(value);
    destroy(value);
    return array;
}

size_t standin_live_arrays() { return live.size(); }
size_t standin_live_blocks() { return blocks.size(); }
size_t standin_strays() { return strays.size(); }
const char* standin_stray(size_t index) { return index < strays.size() ? strays[index].c_str() : nullptr; }
size_t standin_relics() { return relics; }
size_t standin_misuses() { return misuses.size(); }
const char* standin_misuse(size_t index) { return index < misuses.size() ? misuses[index].c_str() : nullptr; }

void standin_forget_misuses() {
    misuses.clear();
    relics = 0;
    strays.clear();
}

void standin_refuse_array(size_t after) {
    refusing = true;
    refuse_after = after;
}

int standin_refusal_pending() {
    bool pending = refusing;
    refusing = false;
    return pending;
}

// ---- properties of an array

mxClassID mxGetClassID(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? pa->id : mxUNKNOWN_CLASS;
}

const char* mxGetClassName(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? pa->class_name.c_str() : "unknown";
}

bool mxIsClass(const mxArray* pa, const char* name) {
    Entry entry(__func__);
    return known(pa, __func__) && pa->class_name == name;
}

#define STAND_IN_IS(function, class)                   \
    bool function(const mxArray* pa) {                 \
        Entry entry(__func__);                         \
        return known(pa, __func__) && pa->id == class; \
    }
STAND_IN_IS(mxIsCell, mxCELL_CLASS)
STAND_IN_IS(mxIsChar, mxCHAR_CLASS)
STAND_IN_IS(mxIsDouble, mxDOUBLE_CLASS)  // sparse and complex ones too
STAND_IN_IS(mxIsLogical, mxLOGICAL_CLASS)
STAND_IN_IS(mxIsSingle, mxSINGLE_CLASS)
STAND_IN_IS(mxIsStruct, mxSTRUCT_CLASS)

bool mxIsNumeric(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) && pa->id >= mxDOUBLE_CLASS && pa->id <= mxUINT64_CLASS;
}

bool mxIsComplex(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) && pa->complex;
}

bool mxIsSparse(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) && pa->sparse;
}

bool mxIsEmpty(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) && count_of(pa) == 0;
}

// ---- its size

mwSize mxGetNumberOfDimensions(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? pa->dims.size() : 0;
}

const mwSize* mxGetDimensions(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? pa->dims.data() : nullptr;
}

size_t mxGetNumberOfElements(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? count_of(pa) : 0;
}

size_t mxGetM(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? pa->dims[0] : 0;
}

size_t mxGetN(const mxArray* pa) {
    Entry entry(__func__);
    if (!known(pa, __func__)) return 0;
    size_t n = 1;
    for (size_t i = 1; i < pa->dims.size(); ++i) n *= pa->dims[i];
    return n;
}

// ---- contents of an array

void* mxGetData(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? pa->re : nullptr;
}

void* mxGetImagData(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? pa->im : nullptr;
}

double* mxGetPr(const mxArray* pa) { return static_cast<double*>(mxGetData(pa)); }
double* mxGetPi(const mxArray* pa) { return static_cast<double*>(mxGetImagData(pa)); }
mxLogical* mxGetLogicals(const mxArray* pa) { return static_cast<mxLogical*>(mxGetData(pa)); }
mxChar* mxGetChars(const mxArray* pa) { return static_cast<mxChar*>(mxGetData(pa)); }

double mxGetScalar(const mxArray* pa) {
    Entry entry(__func__);
    if (!known(pa, __func__) || !pa->re) return 0;
    switch (pa->id) {
        case mxLOGICAL_CLASS:
        case mxUINT8_CLASS: return *pa->re;
        case mxCHAR_CLASS:
        case mxUINT16_CLASS: return *reinterpret_cast<uint16_t*>(pa->re);
        case mxSINGLE_CLASS: return *reinterpret_cast<float*>(pa->re);
        case mxINT8_CLASS: return *reinterpret_cast<int8_t*>(pa->re);
        case mxINT16_CLASS: return *reinterpret_cast<int16_t*>(pa->re);
        case mxINT32_CLASS: return *reinterpret_cast<int32_t*>(pa->re);
        case mxUINT32_CLASS: return *reinterpret_cast<uint32_t*>(pa->re);
        case mxINT64_CLASS: return static_cast<double>(*reinterpret_cast<int64_t*>(pa->re));
        case mxUINT64_CLASS: return static_cast<double>(*reinterpret_cast<uint64_t*>(pa->re));
        default: return *reinterpret_cast<double*>(pa->re);
    }
}

int mxGetString(const mxArray* pa, char* buf, mwSize buflen) {
    Entry entry(__func__);
    if (!known(pa, __func__)) return 1;
    if (buflen == 0) return 0;
    *buf = 0;
    if (pa->id != mxCHAR_CLASS) return 1;
    std::string text = text_of(pa);
    size_t n = std::min(text.size(), buflen - 1);
    std::memcpy(buf, text.data(), n);
    buf[n] = 0;
    return n < text.size();
}

char* mxArrayToString(const mxArray* pa) {
    Entry entry(__func__);
    if (!known(pa, __func__) || pa->id != mxCHAR_CLASS) return nullptr;
    std::string text = text_of(pa);
    auto* copy = static_cast<char*>(block(text.size() + 1, false));
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

mxArray* mxGetCell(const mxArray* pa, mwIndex i) {
    Entry entry(__func__);
    return part(__func__, pa, i);
}

void mxSetCell(mxArray* pa, mwIndex i, mxArray* value) {
    Entry entry(__func__);
    put(__func__, pa, i, value);
}

int mxGetNumberOfFields(const mxArray* pa) {
    Entry entry(__func__);
    return known(pa, __func__) ? static_cast<int>(pa->fields.size()) : 0;
}

int mxGetFieldNumber(const mxArray* pa, const char* name) {
    Entry entry(__func__);
    if (!known(pa, __func__)) return -1;
    for (size_t i = 0; i < pa->fields.size(); ++i)
        if (pa->fields[i] == name) return static_cast<int>(i);
    return -1;
}

const char* mxGetFieldNameByNumber(const mxArray* pa, int n) {
    Entry entry(__func__);
    const bool there = known(pa, __func__) && n >= 0 && static_cast<size_t>(n) < pa->fields.size();
    return there ? pa->fields[n].c_str() : nullptr;
}

mxArray* mxGetFieldByNumber(const mxArray* pa, mwIndex i, int n) {
    Entry entry(__func__);
    return n < 0 ? nullptr : part(__func__, pa, i * mxGetNumberOfFields(pa) + n);
}

mxArray* mxGetField(const mxArray* pa, mwIndex i, const char* name) {
    return mxGetFieldByNumber(pa, i, mxGetFieldNumber(pa, name));
}

mxArray* mxGetProperty(const mxArray* pa, mwIndex i, const char* name) {
    Entry entry(__func__);
    if (!known(pa, __func__) || !name) return nullptr;
    if (pa->id != mxOPAQUE_CLASS && pa->id != mxOBJECT_CLASS) {
        misuse(std::string(__func__) + ": an array of class " + pa->class_name + " has no properties");
        return nullptr;
    }
    // For one object, not an array of them. A missing property is null.
    for (size_t n = 0; i == 0 && n < pa->properties.size(); ++n)
        if (pa->properties[n] == name) return copy_of(pa->parts[n]);
    return nullptr;
}

void mxSetFieldByNumber(mxArray* pa, mwIndex i, int n, mxArray* value) {
    Entry entry(__func__);
    if (n < 0 || n >= mxGetNumberOfFields(pa)) return misuse(std::string(__func__) + ": no such field");
    put(__func__, pa, i * mxGetNumberOfFields(pa) + n, value);
}

void mxSetField(mxArray* pa, mwIndex i, const char* name, mxArray* value) {
    // MATLAB does nothing here if there is no such field, and the value is lost.
    mxSetFieldByNumber(pa, i, mxGetFieldNumber(pa, name), value);
}

// ---- arrays made and unmade

mxArray* mxCreateNumericArray(mwSize ndim, const mwSize* dims, mxClassID id, mxComplexity flag) {
    Entry entry(__func__);
    return make_numeric(__func__, id, sizes(ndim, dims), flag);
}

mxArray* mxCreateNumericMatrix(mwSize m, mwSize n, mxClassID id, mxComplexity flag) {
    Entry entry(__func__);
    return make_numeric(__func__, id, {m, n}, flag);
}

mxArray* mxCreateUninitNumericArray(size_t ndim, size_t* dims, mxClassID id, mxComplexity flag) {
    Entry entry(__func__);
    return make_numeric(__func__, id, sizes(ndim, dims), flag, UNINITIALISED);
}

mxArray* mxCreateUninitNumericMatrix(size_t m, size_t n, mxClassID id, mxComplexity flag) {
    Entry entry(__func__);
    return make_numeric(__func__, id, {m, n}, flag, UNINITIALISED);
}

mxArray* mxCreateDoubleMatrix(mwSize m, mwSize n, mxComplexity flag) {
    Entry entry(__func__);
    return make(mxDOUBLE_CLASS, {m, n}, flag == mxCOMPLEX);
}

mxArray* mxCreateDoubleScalar(double value) {
    Entry entry(__func__);
    mxArray* array = make(mxDOUBLE_CLASS, {1, 1});
    std::memcpy(array->re, &value, sizeof value);
    return array;
}

mxArray* mxCreateLogicalArray(mwSize ndim, const mwSize* dims) {
    Entry entry(__func__);
    return make(mxLOGICAL_CLASS, sizes(ndim, dims));
}

mxArray* mxCreateLogicalMatrix(mwSize m, mwSize n) {
    Entry entry(__func__);
    return make(mxLOGICAL_CLASS, {m, n});
}

mxArray* mxCreateLogicalScalar(mxLogical value) {
    Entry entry(__func__);
    mxArray* array = make(mxLOGICAL_CLASS, {1, 1});
    *array->re = value;
    return array;
}

mxArray* mxCreateCharArray(mwSize ndim, const mwSize* dims) {
    Entry entry(__func__);
    return make(mxCHAR_CLASS, sizes(ndim, dims));
}

mxArray* mxCreateString(const char* text) {
    Entry entry(__func__);
    return stand_in::make_char_matrix({from_utf8(text ? text : "")});
}

mxArray* mxCreateCellArray(mwSize ndim, const mwSize* dims) {
    Entry entry(__func__);
    return make_cell(sizes(ndim, dims));
}

mxArray* mxCreateCellMatrix(mwSize m, mwSize n) {
    Entry entry(__func__);
    return make_cell({m, n});
}

mxArray* mxCreateStructArray(mwSize ndim, const mwSize* dims, int nfields, const char** names) {
    Entry entry(__func__);
    return make_struct(__func__, sizes(ndim, dims), nfields, names);
}

mxArray* mxCreateStructMatrix(mwSize m, mwSize n, int nfields, const char** names) {
    Entry entry(__func__);
    return make_struct(__func__, {m, n}, nfields, names);
}

void mxDestroyArray(mxArray* pa) {
    Entry entry(__func__);
    if (!pa || !known(pa, __func__)) return;
    if (pa->input) return misuse(std::string(__func__) + ": an argument belongs to the caller");
    if (pa->owner) return misuse(std::string(__func__) + ": the array lies in a cell or a struct");
    destroy(pa);
}

// ---- memory of the host

void* mxMalloc(size_t bytes) {
    Entry entry(__func__);
    return block(bytes, false);
}

void* mxCalloc(size_t count, size_t bytes) {
    Entry entry(__func__);
    size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) out_of_memory();
    return block(all, true);
}

void mxFree(void* memory) {
    Entry entry(__func__);
    if (!memory) return;
    if (!blocks.erase(memory)) return misuse(std::string(__func__) + ": not a block of mxMalloc's");
    std::free(memory);
}

}  // extern "C"

// The relics. In MATLAB they take and return 32-bit sizes, which goes wrong in ways that depend on the caller's luck;
// here each call is counted and returns nothing. The symbol is named for the assembler, because the macros of matrix.h
// hide its own name.
#define STAND_IN_RELIC(name)                                                                        \
    extern "C" __attribute__((visibility("default"))) void* stand_in_relic_##name() __asm__(#name); \
    void* stand_in_relic_##name() {                                                                 \
        relic(#name);                                                                               \
        return nullptr;                                                                             \
    }
STAND_IN_RELIC(mxCreateCellArray)
STAND_IN_RELIC(mxCreateCellMatrix)
STAND_IN_RELIC(mxCreateCharArray)
STAND_IN_RELIC(mxCreateDoubleMatrix)
STAND_IN_RELIC(mxCreateLogicalArray)
STAND_IN_RELIC(mxCreateLogicalMatrix)
STAND_IN_RELIC(mxCreateNumericArray)
STAND_IN_RELIC(mxCreateNumericMatrix)
STAND_IN_RELIC(mxCreateStructArray)
STAND_IN_RELIC(mxCreateStructMatrix)
STAND_IN_RELIC(mxGetCell)
STAND_IN_RELIC(mxGetDimensions)
STAND_IN_RELIC(mxGetField)
STAND_IN_RELIC(mxGetFieldByNumber)
STAND_IN_RELIC(mxGetNumberOfDimensions)
STAND_IN_RELIC(mxGetProperty)
STAND_IN_RELIC(mxGetString)
STAND_IN_RELIC(mxSetCell)
STAND_IN_RELIC(mxSetField)
STAND_IN_RELIC(mxSetFieldByNumber)
