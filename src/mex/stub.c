// A MEX file. Each function has one of these under its name, which opens the library in its own folder. So there is one
// library, however the folder was copied, and every folder has its own: they are distinguished by their paths.
//
// Errors of the host pass through: no frame here owns anything.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct mxArray_tag mxArray;
typedef void Function(int, mxArray**, int, const mxArray**);

// Function of the library, once it is open; never reset.
static Function* call;

// Octave 11 loads no MEX file without it, and expects this version.
EXPORTED int __octave_mex_soversion__ = 1;

// Tells MATLAB which of its interfaces the file was made for: the one with separate complex arrays, which all its
// versions have.
EXPORTED void mexfilerequiredapiversion(unsigned int* built_by_release, unsigned int* target_api_version) {
    *built_by_release = 0x2018a;
    *target_api_version = 0x07300000;
}

// Looks up a function of the host. MATLAB may have loaded its libraries without making their symbols global.
static void* of_host(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    void* library = found ? NULL : dlopen("libmex.so", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, name) : found;
}

// Raises the error that there is no library.
static void refuse(const char* why) {
    const char* (*function_name)(void) = (const char* (*)(void))of_host("mexFunctionName");
    void (*raise)(const char*, const char*, ...) =
        (void (*)(const char*, const char*, ...))of_host("mexErrMsgIdAndTxt");
    if (!function_name || !raise) return;
    const char* name = function_name();
    const char* end = strstr(name, "_CUDA");
    char identifier[128];
    snprintf(identifier, sizeof identifier, "%.*s:notBuilt", (int)(end ? end - name : 64), name);
    raise(identifier, "The library cannot be opened: %s. Copy the whole folder, install again, or run compile_mex.",
          why);
}

// Called once, and not inlined: its buffers are not on the stack of a call.
__attribute__((noinline)) static void open_library(void) {
    Dl_info own;
    char path[PATH_MAX + 32];
    if (!dladdr(&call, &own) || !realpath(own.dli_fname, path)) {
        refuse("libstencil_mex.so: it is not known where to look");
        return;
    }
    strcpy(strrchr(path, '/'), "/libstencil_mex.so");
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) call = (Function*)dlsym(library, "stencil_mex_call");
    if (call) return;
    char why[2 * PATH_MAX];
    snprintf(why, sizeof why, "%s", dlerror());
    refuse(why);
}

EXPORTED void mexFunction(int nlhs, mxArray** plhs, int nrhs, const mxArray** prhs) {
    if (!call) open_library();
    if (call) call(nlhs, plhs, nrhs, prhs);
}
