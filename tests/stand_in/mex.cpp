// The stand-in's libmex: the interpreter's side of a MEX file, and the driver that a test calls.

#include "stand_in.hpp"

#include <cctype>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <map>

using stand_in::Entry;
using stand_in::misuse;
using stand_in::Raised;

namespace {

struct Function {
    void* handle;
    void (*entry)(int, mxArray*[], int, const mxArray*[]);
    void (*exit)();
};

struct Message {
    std::string id, text;
};

// MATLAB keeps an exit function with the name that was called when it was registered, not with the file.
std::map<std::string, Function> functions;
std::string current;
Message error;
std::vector<Message> warnings;
std::string printed;
size_t shown = 0;
size_t interrupt_queries = 0, interrupt_after = SIZE_MAX;
bool raise_when_evaluating = false;
void (*callback)(void*) = nullptr;
void* callback_data = nullptr;
size_t callback_after = SIZE_MAX;
bool in_callback = false;
int constructor = 0;

// Callbacks do not interrupt themselves. Outside all locks: a callback may fork.
void run_callback() {
    if (!callback || in_callback) return;
    stand_in::Callback scope;
    in_callback = true;
    callback(callback_data);
    in_callback = false;
}

bool interrupted() { return interrupt_queries > interrupt_after; }

std::string format_text(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int n = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(n > 0 ? n : 0, '\0');
    if (n > 0) std::vsnprintf(&text[0], text.size() + 1, format, arguments);
    return text;
}

// MATLAB takes an identifier that is not of the form a:b, or is not one word, for something else.
void check_id(const char* function, const char* id) {
    const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    const auto letter_or_digit = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    bool good = id && letter(*id) && std::strchr(id, ':') && id[std::strlen(id) - 1] != ':';
    for (const char* c = id; good && *c; ++c) good = *c == ':' ? letter(c[1]) : letter_or_digit(*c) || *c == '_';
    if (!good) misuse(std::string(function) + ": not an identifier: " + (id ? id : "(null)"));
}

// `char`.
mxArray* to_char(const mxArray* array) {
    if (const auto* texts = stand_in::texts_of(array)) {
        std::vector<std::u16string> rows;
        for (const auto& text : *texts) {
            if (text.missing)
                throw Raised("MATLAB:string:CannotConvertMissingElementToChar", "A missing string has no characters.");
            rows.push_back(text.units);
        }
        return stand_in::make_char_matrix(rows);
    }
    if (!mxIsChar(array))
        throw Raised("MATLAB:invalidConversion", std::string("No characters from ") + mxGetClassName(array) + ".");
    mxArray* copy = mxCreateCharArray(mxGetNumberOfDimensions(array), mxGetDimensions(array));
    if (size_t n = mxGetNumberOfElements(array)) std::memcpy(mxGetData(copy), mxGetData(array), n * sizeof(mxChar));
    return copy;
}

// `DeviceArray`: the constructor of the class, where a function of the library calls it with the number for an object.
mxArray* to_device_array(const mxArray* number) {
    if (constructor == 1) throw Raised("MATLAB:standin:constructor", "The constructor raises an error.");
    if (constructor == 2) return nullptr;
    if (constructor == 3) return stand_in::make_object("Other", mxOPAQUE_CLASS);
    if (mxGetClassID(number) != mxUINT64_CLASS || mxGetNumberOfElements(number) != 1) {
        misuse("DeviceArray was called with what is no number for an object");
        throw Raised("MATLAB:standin:constructor", "An object takes a scalar of class uint64.");
    }
    return stand_in::make_device_array(number);
}

// The functions that this interpreter has.
void call_interpreter(int nlhs, mxArray* plhs[], int nrhs, mxArray* prhs[], const char* name) {
    if (!stand_in::in_call()) misuse(std::string("mexCallMATLAB outside a call, of ") + name);
    const bool constructs = std::strcmp(name, "DeviceArray") == 0;
    if (!constructs && std::strcmp(name, "char") != 0)
        throw Raised("MATLAB:UndefinedFunction", std::string("Undefined function '") + name + "'.");
    if (nrhs != 1) throw Raised("MATLAB:minrhs", std::string(name) + " takes an argument.");
    if (nlhs > 1) throw Raised("MATLAB:maxlhs", std::string(name) + " has one output.");
    plhs[0] = constructs ? to_device_array(prhs[0]) : to_char(prhs[0]);
}

}  // namespace

extern "C" {

void mexErrMsgIdAndTxt(const char* id, const char* format, ...) {
    std::string text;
    {
        Entry entry(__func__);
        check_id(__func__, id);
        va_list arguments;
        va_start(arguments, format);
        text = format_text(format, arguments);
        va_end(arguments);
    }
    throw Raised(id ? id : "", text);
}

void mexWarnMsgIdAndTxt(const char* id, const char* format, ...) {
    Entry entry(__func__);
    check_id(__func__, id);
    va_list arguments;
    va_start(arguments, format);
    warnings.push_back({id ? id : "", format_text(format, arguments)});
    va_end(arguments);
}

int mexPrintf(const char* format, ...) {
    Entry entry(__func__);
    va_list arguments;
    va_start(arguments, format);
    std::string text = format_text(format, arguments);
    va_end(arguments);
    printed += text;
    return static_cast<int>(text.size());
}

int mexEvalString(const char* code) {
    bool callbacks = std::strcmp(code, "drawnow;") == 0;
    {
        Entry entry(__func__);
        if (!stand_in::in_call()) misuse("mexEvalString outside a call");
        // Code is where MATLAB deals with Ctrl-C: in its own way, which no script catches.
        if (raise_when_evaluating || interrupted()) {
            raise_when_evaluating = false;
            throw Raised("MATLAB:standin:terminated", "Operation terminated by user.");
        }
    }
    if (callbacks) {
        run_callback();
    } else if (std::strcmp(code, "drawnow limitrate nocallbacks;") != 0) {
        misuse(std::string("mexEvalString of ") + code);
        return 1;
    }
    ++shown;
    return 0;
}

bool utIsInterruptPending() {
    bool now = false;
    {
        Entry entry(__func__);
        now = interrupt_queries++ == callback_after;
        if (now) callback_after = SIZE_MAX;
    }
    if (now) run_callback();
    return interrupted();
}

int mexCallMATLAB(int nlhs, mxArray* plhs[], int nrhs, mxArray* prhs[], const char* name) {
    Entry entry(__func__);
    // Without a trap, an error ends the MEX file.
    call_interpreter(nlhs, plhs, nrhs, prhs, name);
    return 0;
}

mxArray* mexCallMATLABWithTrap(int nlhs, mxArray* plhs[], int nrhs, mxArray* prhs[], const char* name) {
    Entry entry(__func__);
    try {
        call_interpreter(nlhs, plhs, nrhs, prhs, name);
        return nullptr;
    } catch (const Raised&) {
        return stand_in::make_object("MException", mxOPAQUE_CLASS);
    }
}

int mexAtExit(void (*exit_function)(void)) {
    Entry entry(__func__);
    auto found = functions.find(current);
    if (!stand_in::in_call() || found == functions.end()) {
        misuse("mexAtExit outside a call");
        return 1;
    }
    found->second.exit = exit_function;
    return 0;
}

const char* mexFunctionName(void) {
    Entry entry(__func__);
    return current.c_str();
}

const char* standin_load(const char* path, const char* name) {
    static std::string why;
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        why = dlerror();
        return why.c_str();
    }
    auto entry = reinterpret_cast<void (*)(int, mxArray*[], int, const mxArray*[])>(dlsym(handle, "mexFunction"));
    auto version = reinterpret_cast<void (*)(unsigned*, unsigned*)>(dlsym(handle, "mexfilerequiredapiversion"));
    unsigned release = 0, target = 0;
    if (version) version(&release, &target);
    // MATLAB assumes an old interface for a file without a version. Ours has to name its interface, or a later MATLAB
    // may guess.
    if (!entry)
        why = "it does not export mexFunction";
    else if (!version)
        why = "it does not export mexfilerequiredapiversion";
    else if (target != MX_TARGET_API_VER)
        why = "it asks for another interface: " + std::to_string(target);
    else if (release < 0x2018a)
        why = "it says that it was built by a release without this interface: " + std::to_string(release);
    else {
        auto& function = functions[name];
        if (function.handle) dlclose(function.handle);
        function = {handle, entry, nullptr};
        return nullptr;
    }
    dlclose(handle);
    return why.c_str();
}

int standin_call(const char* name, int nlhs, mxArray** plhs, int nrhs, const mxArray** prhs) {
    auto found = functions.find(name);
    if (found == functions.end()) {
        error = {"MATLAB:UndefinedFunction", std::string("Undefined function '") + name + "'."};
        return 1;
    }
    int slots = nlhs > 1 ? nlhs : 1;
    std::vector<mxArray*> outputs(slots, nullptr);
    std::vector<const mxArray*> inputs(prhs, prhs + nrhs);
    bool raised = false;
    const std::string outer = current;
    current = name;
    if (outer.empty()) interrupt_queries = 0;
    stand_in::begin_call(nrhs, prhs);
    try {
        found->second.entry(nlhs, outputs.data(), nrhs, inputs.data());
    } catch (const Raised& caught) {
        raised = true;
        error = {caught.id, caught.text};
    } catch (const std::exception& caught) {
        raised = true;
        error = {"standin:exception", caught.what()};
    }
    stand_in::end_call(nrhs, prhs, slots, outputs.data());
    if (outer.empty()) interrupt_after = SIZE_MAX;
    current = outer;
    if (!raised && nlhs > 0) {
        for (int i = 0; i < nlhs; ++i) {
            if (outputs[i]) continue;
            raised = true;
            error = {"MATLAB:unassignedOutputs", "Output " + std::to_string(i + 1) + " was not assigned."};
            break;
        }
    }
    for (int i = 0; i < slots; ++i) {
        if (raised && outputs[i]) mxDestroyArray(outputs[i]);
        plhs[i] = raised ? nullptr : outputs[i];
    }
    return raised;
}

const char* standin_error_id() { return error.id.c_str(); }
const char* standin_error_text() { return error.text.c_str(); }

int standin_clear(const char* name) {
    auto found = functions.find(name);
    if (found == functions.end()) return 1;
    const std::string outer = current;
    current = name;
    if (found->second.exit) found->second.exit();
    current = outer;
    dlclose(found->second.handle);
    functions.erase(found);
    return 0;
}

int standin_has_exit(const char* name) {
    auto found = functions.find(name);
    return found != functions.end() && found->second.exit;
}

size_t standin_warnings() { return warnings.size(); }
const char* standin_warning_id(size_t index) { return index < warnings.size() ? warnings[index].id.c_str() : nullptr; }
const char* standin_warning_text(size_t index) {
    return index < warnings.size() ? warnings[index].text.c_str() : nullptr;
}
const char* standin_printed() { return printed.c_str(); }
size_t standin_shown() { return shown; }
void standin_interrupt(size_t after) { interrupt_after = after; }
size_t standin_interrupt_queries() { return interrupt_queries; }
void standin_callback(void (*run)(void*), void* data, size_t after) {
    callback = run;
    callback_data = data;
    callback_after = after;
}
void standin_constructor(int mode) { constructor = mode; }
void standin_raise_when_evaluating() { raise_when_evaluating = true; }

}  // extern "C"
