// Declarations that the two halves of the stand-in for MATLAB share. mx.cpp keeps the arrays, mex.cpp plays the
// interpreter; the split is MATLAB's own, so that a MEX file has to find its symbols in two libraries.
//
// The stand-in is stricter than MATLAB. It notes faults that MATLAB would forgive or punish with a crash much later (a
// read from a dead array, a write to an argument, a call from another thread, a 32-bit relic of a function) as misuses,
// and a test asks for the notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// The libraries are built with hidden symbols; they export MATLAB's.
#pragma GCC visibility push(default)
#include "mex.h"

namespace stand_in {

// The exception that MATLAB throws through a MEX file when it raises an error. The class is not part of any interface:
// a MEX file can only let it pass.
class Raised {
public:
    Raised(std::string id, std::string text);
    virtual ~Raised();
    const std::string id, text;
};

// Notes a misuse, also on stderr, where it precedes a crash.
void misuse(const std::string& what);

// Stands at the top of every function of the interface. MATLAB is not safe for threads: a call from another thread than
// the one that runs the MEX file is a misuse, and the lock keeps the stand-in itself whole meanwhile.
class Entry {
public:
    explicit Entry(const char* function);
    ~Entry();
    Entry(const Entry&) = delete;
};

// A call of a MEX file, for the arrays. `end` checks rules that MATLAB does not enforce, and destroys the remaining
// temporaries, as MATLAB does.
void begin_call(int nrhs, const mxArray* const* prhs);
void end_call(int nrhs, const mxArray* const* prhs, int slots, mxArray* const* plhs);
bool in_call();

// Code of the interpreter that runs inside a call: it makes arrays of the workspace.
class Callback {
public:
    Callback();
    ~Callback();
    Callback(const Callback&) = delete;
};

// Something that is done at the end of each call of a MEX file, with the call's number.
void at_end_of_call(void (*work)(unsigned long call));
// The call of a MEX file that runs now; 0 for none.
unsigned long this_call();

// An array of class gpuArray, and its data, which the last reference frees. Its sizes are on the GPU.
mxArray* make_gpu_array(std::shared_ptr<void> data);
std::shared_ptr<void> gpu_data(const mxArray* array);

// Objects that no function of the C interface makes.
mxArray* make_object(const char* class_name, mxClassID id);
// One of class DeviceArray, whose property `id` is a copy of `number`.
mxArray* make_device_array(const mxArray* number);
mxArray* make_char_matrix(const std::vector<std::u16string>& rows);

struct Text {
    bool missing;
    std::u16string units;
};
// The elements of a string array; null if it is another kind of array.
const std::vector<Text>* texts_of(const mxArray* array);

}  // namespace stand_in

// The driver: functions that a test calls. They are in mex.cpp, unless they concern arrays only.
extern "C" {
// Objects that only the interpreter can make. A null text is a missing string.
mxArray* standin_string(const char* const* texts, size_t count);
mxArray* standin_sparse(size_t m, size_t n, size_t stored);
mxArray* standin_object(const char* class_name, int class_id);
// An object of class DeviceArray with this number. Its end has no effect: the test must release what its class would.
mxArray* standin_device_array(uint64_t number);
// Sets what calls of the class's constructor do from now on: 0 make an object, 1 raise an error, 2 return nothing, 3
// return something else.
void standin_constructor(int mode);

// Books. Strays are arrays and blocks that a MEX file neither returned nor freed.
size_t standin_live_arrays();
size_t standin_live_blocks();
size_t standin_strays();
const char* standin_stray(size_t index);
size_t standin_relics();
size_t standin_misuses();
const char* standin_misuse(size_t index);
void standin_forget_misuses();

// From now on, `after` arrays can be made within calls, and the next one is refused for want of memory.
void standin_refuse_array(size_t after);
// True if the refusal is still to come; cancels it.
int standin_refusal_pending();

// Loads a MEX file under a function's name: null, or why not.
const char* standin_load(const char* path, const char* name);
// Returns 0, or 1 for an error, which the next two then describe. `plhs` has max(1, nlhs) places. From a callback, it
// is a call inside another.
int standin_call(const char* name, int nlhs, mxArray** plhs, int nrhs, const mxArray** prhs);
const char* standin_error_id();
const char* standin_error_text();
// `clear name`: 0, or 1 if there is no such function.
int standin_clear(const char* name);
int standin_has_exit(const char* name);

size_t standin_warnings();
const char* standin_warning_id(size_t index);
const char* standin_warning_text(size_t index);
// All that mexPrintf has printed, and how often that was shown by `drawnow`.
const char* standin_printed();
size_t standin_shown();

// In MATLAB's libut, and in no header: whether the user has pressed Ctrl-C.
bool utIsInterruptPending();
// The user presses Ctrl-C before that is asked for the time `after`, counted from 0. It is forgotten when the call has
// ended.
void standin_interrupt(size_t after);
// Number of queries in the last call.
size_t standin_interrupt_queries();
// A callback of the user's, a timer's or a figure's; null for none. `drawnow` runs it, and `drawnow limitrate
// nocallbacks` does not. It is also run once in the middle of a call, when that asks for an interrupt for the time
// `after`, counted from 0: MATLAB says of nothing else that it runs none. It throws nothing.
void standin_callback(void (*callback)(void*), void* data, size_t after);
// The next code that is evaluated raises an error that passes through the MEX file, as an interrupt does.
void standin_raise_when_evaluating();
}
#pragma GCC visibility pop
