//go:build gpu && linux

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Results of the driver that this file gives itself. */
enum { NOT_INITIALIZED = 3, NOT_FOUND = 500 };

static int absent(void) { return NOT_INITIALIZED; }
static int missing(void) { return NOT_FOUND; }

/* The places that forward.S jumps through. */
#define FORWARD(name) __attribute__((visibility("hidden"))) void *privkern_table_##name = (void *)absent;
#include "symbols.h"
#undef FORWARD

static int initialised;
static int code = NOT_INITIALIZED;
static char failure[512];
static char unknown[64];

/* privkern_driver loads the driver once. It returns the result of the real
 * cuInit; *why is what the loader said if there is no driver. */
int privkern_driver(const char **why)
{
    if (!initialised) {
        initialised = 1;
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            const char *reason = dlerror();
            snprintf(failure, sizeof failure, "%s", reason ? reason : "libcuda.so.1 cannot be loaded");
        } else {
#define FORWARD(name) \
    { void *found = dlsym(library, #name); privkern_table_##name = found ? found : (void *)missing; }
#include "symbols.h"
#undef FORWARD
            int (*init)(unsigned int) = (int (*)(unsigned int))dlsym(library, "cuInit");
            code = init ? init(0) : NOT_FOUND;
        }
    }
    *why = failure;
    return code;
}

/* gorgonia.org/cu initialises the driver when the program starts, and ends the
 * program where that fails. Here it always succeeds: opening a device asks
 * privkern_driver how it went. */
__attribute__((visibility("hidden"))) int cuInit(unsigned int flags)
{
    const char *why;
    (void)flags;
    privkern_driver(&why);
    return 0;
}

int cuGetErrorName(int code, const char **name);
int cuGetErrorString(int code, const char **text);
int cuMemAllocHost_v2(void **address, size_t bytes);

const char *privkern_error_name(int code)
{
    const char *name = NULL;
    if (cuGetErrorName(code, &name) != 0 || name == NULL) {
        snprintf(unknown, sizeof unknown, "CUDA error %d", code);
        return unknown;
    }
    return name;
}

const char *privkern_error_text(int code)
{
    const char *text = NULL;
    return cuGetErrorString(code, &text) == 0 && text != NULL ? text : "";
}

int privkern_host_memory(void **address, size_t bytes) { return cuMemAllocHost_v2(address, bytes); }
