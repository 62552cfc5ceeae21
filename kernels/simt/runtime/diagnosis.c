/*
 * diagnosis.c - what was found, told to the learner on stderr with the lines of source that it speaks of; what is told
 * when the program ends; and its exit code.
 *
 * In the environment, set by gradus cuda: GRADUS_SIMT_COUNTERS=1 counts and prints tables.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/simt/environment.h"
#include "kernels/simt/runtime/counters.h"
#include "kernels/simt/runtime/runtime.h"

enum { LINE = 1024 };

static int findings; /* things told */
static struct {
    const char *file;
    int line;
} told;                      /* the place of the last one of the runtime's */
static cudaError_t standing; /* of the kernel that broke a rule */

/* --- telling ------------------------------------------------------------------------------------------------------ */

/* Line number of file, without the blanks around it; false: not there. */
static bool source_line(const char *file, int number, char text[LINE])
{
    FILE *f = fopen(file, "r");
    bool there = false;
    for (int i = 0; f && i < number; i++)
        there = fgets(text, LINE, f);
    if (f)
        fclose(f);
    if (!there)
        return false;
    text[strcspn(text, "\r\n")] = '\0';
    const size_t blanks = strspn(text, " \t");
    memmove(text, text + blanks, strlen(text + blanks) + 1);
    return *text;
}

/* The path as seen from here. */
static const char *near_path(const char *path)
{
    char here[LINE];
    const size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    return n && !strncmp(path, here, n) && path[n] == '/' ? path + n + 1 : path;
}

/* One part of a report, on a line of its own; where it ends with FILE:LINE, the line of source behind it. */
static void tell_part(const char *part, size_t length)
{
    char text[LINE], source[LINE];
    snprintf(text, sizeof text, "%.*s", (int)length, part);
    char *colon = strrchr(text, ':'), *space = strrchr(text, ' ');
    const bool place = colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0' && space < colon;
    if (!place) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    char *file = space ? space + 1 : text;
    /* a path may have blanks: the longest ending that is a file */
    *colon = '\0';
    for (char *p = text; p < file; p++)
        if ((p == text || p[-1] == ' ') && !access(p, R_OK))
            file = p;
    const bool seen = source_line(file, atoi(colon + 1), source);
    fprintf(stderr, "%.*s%s:%s", (int)(file - text), text, near_path(file), colon + 1);
    fprintf(stderr, seen ? "    %s\n" : "\n", source);
}

void gr__cuda_tell_place(const char *place)
{
    fputs("  at ", stderr);
    tell_part(place, strlen(place));
}

#define OF_KERNEL "out of bounds: a kernel"
#define OF_GRID "every thread of every block must come to the same grid.sync(): guard the work, not the barrier"

/* Of a report that begins so and has those words: the first that fits. */
static const struct {
    const char *begin, *words, *hint;
} hints[] = {
    {"race: ", " in another stream,",
     "two streams: cudaEventRecord() in the one and cudaStreamWaitEvent() in the other, or cudaStreamSynchronize() "
     "before the second launch"},
    {"race: ", " in another block,",
     "two blocks: an atomic, a launch or a grid.sync() between them, or a word that both come to by atomics, with "
     "__threadfence() before that in the one and behind it in the other"},
    {"race: ", "",
     "a __syncthreads() between the two (in one block), an atomic, or a launch between them (two blocks)"},
    {"host race: ", "",
     "a launch returns at once, and so does a copy in a stream: cudaDeviceSynchronize() before the host looks at what "
     "they touch"},
    {"barrier divergence", "the grid's barrier", OF_GRID},
    {"deadlock: an endless wait", "cooperative",
     "words that blocks read until others write them do not work here: grid.sync()"},
    {"deadlock: ", "the grid's barrier", OF_GRID},
    {"grid barrier: ", "is not cooperative",
     "all blocks are there at a time where cudaLaunchCooperativeKernel(kernel, grid, block, arguments) launches them"},
    {"barrier divergence", "",
     "every thread of a block must come to the same __syncthreads(): guard the work, not the barrier"},
    {"uninitialised", "",
     "write it first (cudaMemset, cudaMemcpy, a kernel), and look at the last element of each loop"},
    {"out of bounds: a copy of ", " of an array of ", "x and widths of rows count bytes here, y and heights rows"},
    {"out of bounds: surf", "", "guard the access: if (x < width && y < height); x counts bytes"},
    {"out of bounds: curand", "", "numbers are counted here, not bytes"},
    {"out of bounds: a c", "", "sizes are in bytes: n * sizeof(type), where memory is asked for as here"},
    {"out of bounds", "NULL + ",
     "nobody set this pointer: cudaMalloc(&p, bytes) before the launch, and look at its error"},
    {"out of bounds", "the dynamic shared memory, of which",
     "the third argument of <<<grid, block, BYTES>>> is the size of extern __shared__ memory"},
    {OF_KERNEL, "", "gradus cuda --check names the access; a local array above 50 KB and deep recursion do this, too"},
    {"out of bounds", "", "guard the access: if (i < n); look at the size of the allocation, in bytes"},
    {"deadlock", "", "look for threads that wait for others which left, or which wait elsewhere"},
    {"launch from a kernel: ", "", "the emulator has no dynamic parallelism; launch from the host"},
    {"launch: grid (0,", "", "n / threads is 0 where n is small: (n + threads - 1) / threads blocks, and if (i < n)"},
    {"launch: cooperative", "",
     "cudaOccupancyMaxActiveBlocksPerMultiprocessor() times multiProcessorCount blocks at most, and a loop in them"},
    {"launch: ", "", "a block has 1 to 1024 threads (z at most 64), a grid at least one block"},
    {"shared memory: ", "",
     "the third argument of <<<grid, block, BYTES>>> is the size of extern __shared__ memory; above 48 KiB "
     "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES) allows it"},
    {"wrong pointer: cudaMemcpy", "", "cudaMemcpy(to, from, bytes, kind): the destination comes first"},
    {"wrong pointer: curand", " a generator that no ",
     "curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) makes one: into a variable that is still there"},
    {"wrong pointer: curand", "",
     "curandCreateGenerator fills memory of cudaMalloc, curandCreateGeneratorHost arrays of the host"},
    {"wrong pointer: argument", "",
     "kernels want memory of cudaMalloc or cudaMallocManaged; cudaMemcpy brings over what is on the host"},
    {"misaligned: surf", "", "surf2Dread<T>(surface, x * sizeof(T), y)"},
    {"texture: ", " is given one that no ",
     "cudaCreateTextureObject(&texture, &resource, &description, NULL), whose error tells, and the object as a "
     "parameter of the kernel"},
    {"surface: ", " is given one that no ",
     "cudaCreateSurfaceObject(&surface, &resource), whose error tells, and the object as a parameter of the kernel"},
    {"pitch: ", "", "pitches and widths count bytes, heights and depths rows and slices"},
    {"warp divergence", "", "all lanes of the mask must come to the same call"},
};

/* The freed block of the address that stands before end in a report, or NULL. */
static const gr__cuda_block *freed_block(const char *report, const char *end)
{
    const char *p = end;
    while (p > report && p[-1] != ' ')
        p--;
    const gr__cuda_block *b = gr__cuda_find_block((const void *)(uintptr_t)strtoull(p, NULL, 16));
    return b && b->freed_file ? b : NULL;
}

static void tell_hint(const char *report)
{
    const char *const nowhere = strstr(report, ", no device memory");
    const gr__cuda_block *const freed = nowhere ? freed_block(report, nowhere) : NULL;
    char text[GR__NAME_ROOM];
    if (freed) {
        fprintf(stderr, "  hint: there was %s\n", gr__cuda_freed(freed, text, sizeof text));
        return;
    }
    if (nowhere && !strstr(report, "NULL + ") && strncmp(report, OF_KERNEL, strlen(OF_KERNEL))) {
        fprintf(stderr, "  hint: kernels want memory of cudaMalloc, or of their own malloc and new; what these give on "
                        "the host is the host's\n");
        return;
    }
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strncmp(report, hints[i].begin, strlen(hints[i].begin)) && strstr(report, hints[i].words)) {
            fprintf(stderr, "  hint: %s\n", hints[i].hint);
            return;
        }
}

/* "A; B; C" on three lines, with a hint. */
static void tell(const char *report)
{
    fflush(stdout);
    findings++;
    for (const char *part = report; *part;) {
        const char *end = strstr(part, "; ");
        const size_t length = end ? (size_t)(end - part) : strlen(part);
        fputs(part == report ? "gradus: " : "  ", stderr);
        tell_part(part, length);
        part += length + (end ? 2 : 0);
    }
    tell_hint(report);
}

void gr__cuda_find(const char *file, int line, const char *format, ...)
{
    char text[2 * LINE];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n >= 0 && (size_t)n < sizeof text && file)
        snprintf(text + n, sizeof text - (size_t)n, "; at %s:%d", file, line);
    told.file = file, told.line = line;
    tell(text);
    if (!file)
        gr__cuda_say_caller();
}

/* An error that nobody asked for; of a call that was told of there is no more to tell. */
static void tell_of_unread(void)
{
    const char *file;
    int line;
    const char *const unread = gr__cuda_unread(&file, &line);
    if (!unread || (findings && file == told.file && line == told.line))
        return;
    char text[LINE];
    snprintf(text, sizeof text, "unread error: %s, and the program never asked (cudaGetLastError)%s%s", unread,
             file ? "; at " : "", file ? file : "");
    if (file)
        snprintf(text + strlen(text), sizeof text - strlen(text), ":%d", line);
    tell(text);
    if (!file)
        gr__cuda_say_failed();
}

/* What a program is told when it asks: by the kind of the fault. */
static cudaError_t error_of(const char *fault)
{
    static const struct {
        const char *begin;
        cudaError_t error;
    } kinds[] = {
        {"out of bounds", cudaErrorIllegalAddress},   {"address", cudaErrorIllegalAddress},
        {"misaligned", cudaErrorMisalignedAddress},   {"assertion", cudaErrorAssert},
        {"launch from", cudaErrorNotSupported},       {"launch: cooperative", cudaErrorCooperativeLaunchTooLarge},
        {"launch", cudaErrorInvalidConfiguration},    {"shared memory", cudaErrorInvalidValue},
        {"out of memory", cudaErrorMemoryAllocation},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(fault, kinds[i].begin, strlen(kinds[i].begin)))
            return kinds[i].error;
    return cudaErrorLaunchFailure;
}

/* A launch that is refused does not end the program's use of the device; what a kernel did wrong does. */
cudaError_t gr__cuda_look(void)
{
    const char *fault = gr__simt_fault();
    if (standing || !fault)
        return standing;
    const cudaError_t error = error_of(fault);
    tell(fault);
    if (!strncmp(fault, "host race: ", strlen("host race: "))) { /* the device did what it should */
        gr__simt_clear_fault();
        return cudaSuccess;
    }
    gr__cuda_fails(error, NULL, 0);
    if (error == cudaErrorInvalidConfiguration || !strstr(fault, ", block (")) {
        gr__simt_clear_fault();
        return cudaSuccess;
    }
    gr__cuda_asked(); /* it has been told */
    return standing = error;
}

/* In a kernel assert says which thread it was. */
void __assert_fail(const char *text, const char *file, unsigned line, const char *function); /* NDEBUG hides it */
void __assert_fail(const char *text, const char *file, unsigned line, const char *function)
{
    char report[LINE];
    snprintf(report, sizeof report, "assertion failed: %s", text);
    if (gr__simt_in_kernel())
        gr__simt_refuse(report, file, (int)line);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, text);
    abort();
}

/* --- the host's mistakes ------------------------------------------------------------------------------------------ */

extern void *__libc_stack_end; /* libc's: where main's stack begins, which grows downwards */

/* The host's own mistake: the system's words alone have no line. */
static void tell_of_crash(const char *p, const void *context)
{
    const bool in_stack = (size_t)((const char *)__libc_stack_end - p) < (size_t)1 << 30;
    fflush(stdout);
    fprintf(stderr, "gradus: %sthe host touched %p, where nothing is, and crashed\n", findings ? "after that " : "", p);
    if (!gr__cuda_say_where(context))
        gr__cuda_say_caller();
    fprintf(stderr, in_stack ? "  hint: the stack is full, of some megabytes: large arrays want malloc or std::vector\n"
                             : "  hint: a pointer, stream or event that nobody set, or an index far out\n");
}

static void segment_fault(int number, siginfo_t *info, void *context)
{
    const char *p = info->si_addr;
    gr__cuda_block *b = gr__cuda_find_block(p);
    signal(number, SIG_DFL);
    if (gr__simt_in_kernel()) {
        char name[256], text[LINE];
        gr__simt_name(p, name, sizeof name);
        snprintf(text, sizeof text, OF_KERNEL " touched %s%s", b && b->freed_file ? "freed memory: " : "",
                 b && b->freed_file ? b->name : name);
        tell(text);
        gr__cuda_say_where(context);
        fprintf(stderr, "  %s\n", gr__simt_where());
        fflush(NULL);
        _exit(GR__EXIT_FOUND);
    }
    if (b && (b->type == cudaMemoryTypeDevice || b->freed_file)) {
        char text[GR__NAME_ROOM];
        fflush(stdout);
        if (b->freed_file)
            fprintf(stderr, "gradus: freed memory: the host touched %s\n", gr__cuda_freed(b, text, sizeof text));
        else
            fprintf(stderr,
                    "gradus: wrong pointer: the host touched %s + %td bytes\n  hint: the host reads and writes its own "
                    "memory alone: cudaMemcpy brings it over\n",
                    b->name, p - b->p);
        gr__cuda_say_where(context);
        fflush(NULL);
        _exit(GR__EXIT_FOUND);
    }
    tell_of_crash(p, context);
    if (findings) { /* it went on without looking at errors */
        fflush(NULL);
        _exit(GR__EXIT_FOUND);
    }
}

/* A kernel that never ends is asked where it is by Ctrl-C. */
static void interrupt(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    signal(number, SIG_DFL);
    if (gr__simt_in_kernel()) {
        fflush(stdout);
        fprintf(stderr, "gradus: interrupted within a kernel\n");
        gr__cuda_say_caller();
        fprintf(stderr, "  %s\n", gr__simt_where());
        if (gr__cuda_hint_of_waiting())
            fprintf(stderr, "  hint: %s\n", gr__cuda_hint_of_waiting());
        fflush(NULL);
    }
    raise(number);
}

static void listen_to_faults(void)
{
    static char stack[64 * 1024];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = segment_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaltstack(&own, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    struct sigaction before;
    action.sa_sigaction = interrupt;
    if (!sigaction(SIGINT, NULL, &before) && before.sa_handler == SIG_DFL) /* not where it is ignored */
        sigaction(SIGINT, &action, NULL);
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

static void at_end(void)
{
    gr__cuda_look();
    if (!standing)
        tell_of_unread();
    if (gr__simt_checks() && !standing)
        gr__cuda_report_leaks();
    gr__cuda_print_counters();
    fflush(NULL);
    if (findings)
        _exit(GR__EXIT_FOUND);
}

/* A word that is not understood would let the program run in another way than whoever set it believes. */
static void stop_at_bad_environment(void)
{
    const char *why;
    gr__simt_environment(&why);
    if (!why)
        return;
    fflush(NULL);
    fprintf(stderr, "gradus: %s\n", why);
    _exit(GR__EXIT_USAGE);
}

static void tell_at_once(void)
{
    gr__cuda_look();
}

void gr__cuda_start(void)
{
    static bool started;
    if (started)
        return;
    started = true;
    stop_at_bad_environment();
    gr__simt_set_strict(true);
    gr__simt_expect_waits(tell_at_once);
    gr__cuda_watch_time();
    const char *count = getenv("GRADUS_SIMT_COUNTERS");
    if (count && *count && strcmp(count, "0"))
        gr__simt_count_begin();
}

/* Before main, so that it is the last to be called at the end. */
static void __attribute__((constructor)) prepare(void)
{
    atexit(at_end);
    listen_to_faults();
}
