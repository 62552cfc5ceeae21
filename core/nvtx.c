/*
 * nvtx.c - ranges for a tool that looks on, by NVTX version 3. There the program has the tables and the tool the
 * functions: it names its library in the environment, its InitializeInjectionNvtx2 asks for the tables by number and
 * puts what it has into their entries. Nothing is linked, so nothing has to be there.
 *
 * Numbers and layouts are those of NVTX's interface for tools (nvtxTypes.h), which all of version 3 share.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/watch.h"

enum { NVTX_VERSION = 3, TABLE_CALLBACKS = 1, TABLE_VERSION = 3 };
enum { MODULES = 7, CORE = 1, MOST = 16 };                   /* of functions: modules, and how many one has at most */
enum { PUSH = 9 /* RangePushA */, POP = 11 /* RangePop */ }; /* of the module CORE */

typedef void (*function)(void);

/* What a tool is given by number: how to ask for a module's entries; what it talks to. */
typedef struct {
    size_t struct_size;
    int (*entries_of)(int module, function ***entries, unsigned *size);
} callbacks;

typedef struct {
    size_t struct_size;
    uint32_t version, reserved;
    void (*set_tools_version)(uint32_t version);
} version_info;

/*
 * The tool is the process's, not a context's: it is asked once, and what it has put here stays. Functions of modules
 * that are not called from here have a place all the same: a tool may want to fill them.
 */
static function functions[MODULES][MOST]; /* number 0 is none; NULL: the tool does not want to know */
static function *entries[MODULES][MOST + 1];
static pthread_once_t asked = PTHREAD_ONCE_INIT;
static bool looked_on;

/* 1: there is such a module. */
static int entries_of(int module, function ***of_module, unsigned *size)
{
    /* of CORE, CUDA, OPENCL, CUDART, CORE2, SYNC */
    static const unsigned sizes[MODULES] = {0, 16, 9, 15, 7, 16, 7};
    if (module < 1 || module >= MODULES)
        return 0;
    for (unsigned i = 1; i < sizes[module]; i++)
        entries[module][i] = &functions[module][i];
    if (size)
        *size = sizes[module];
    if (of_module)
        *of_module = entries[module];
    return 1;
}

static void set_tools_version(uint32_t version)
{
    (void)version;
}

static const void *table_of(uint32_t number)
{
    static const callbacks given = {sizeof given, entries_of};
    static const version_info version = {sizeof version, NVTX_VERSION, 0, set_tools_version};
    return number == TABLE_CALLBACKS ? (const void *)&given : number == TABLE_VERSION ? &version : NULL;
}

static void ask_tool(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    int (*initialise)(const void *(*table_of)(uint32_t number)) = NULL;
    if (library)
        *(void **)&initialise = dlsym(library, "InitializeInjectionNvtx2");
    if (library && !initialise)
        dlclose(library);
    looked_on = initialise && initialise(table_of) != 0 && functions[CORE][PUSH] && functions[CORE][POP];
}

static void push(void *user, const char *op, const char *module, const char *pass)
{
    (void)user;
    char text[256]; /* which the tool copies */
    if (*pass)
        snprintf(text, sizeof text, *module ? "%s %s (%s)" : "%s %s", op, pass, module);
    else
        snprintf(text, sizeof text, "%s", op);
    ((int (*)(const char *))functions[CORE][PUSH])(text);
}

static void pop(void *user)
{
    (void)user;
    ((int (*)(void))functions[CORE][POP])();
}

bool gr_nvtx(gr_context *ctx)
{
    pthread_once(&asked, ask_tool);
    if (looked_on)
        gr_watch_ranges(ctx, &(gr_ranges){.begin = push, .end = pop});
    return looked_on;
}
