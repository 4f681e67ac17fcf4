// A MEX file. Under the name of each function lies one of these, which opens the library beside itself. So there is one
// library, however the folder was copied, and every folder has its own: they are told apart by their paths.
//
// The host's errors pass through without being seen: no frame here has anything to give back.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct mxArray_tag mxArray;
typedef void Function(int, mxArray**, int, const mxArray**);

// The library's, once it is open: for good.
static Function* call;

// Octave 11 loads no MEX file without it, and this is the version it knows.
EXPORTED int __octave_mex_soversion__ = 1;

// By this MATLAB learns which of its interfaces the file was made for: the one with separate complex arrays, which all
// its versions have.
EXPORTED void mexfilerequiredapiversion(unsigned int* built_by_release, unsigned int* target_api_version) {
    *built_by_release = 0x2018a;
    *target_api_version = 0x07300000;
}

// A function of the host. MATLAB may have loaded its libraries without making their names global.
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
    raise(identifier, "The library cannot be opened: %s. Copy the whole folder, or run compile_mex.", why);
}

// Once: its buffers are not on the stack of a call.
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
