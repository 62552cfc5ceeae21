/* complain.c - see complain.h. */
#include "terminal/complain.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "terminal/json_memory.h"
#include "terminal/text.h"

static _Thread_local bool quiet;
static _Thread_local char kept[1024];

void complain_quietly(void)
{
    quiet = true;
}

void complain_aloud(void)
{
    quiet = false;
}

const char *complaint_kept(void)
{
    return kept;
}

bool is_quiet(void)
{
    return quiet;
}

void complain_at_last(void)
{
    static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&ending); /* for good */
    quiet = false;
}

int complain(gr_code code, const char *command, const char *format, ...)
{
    char text[8192]; /* two paths as long as a system takes them */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (quiet) {
        snprintf(kept, sizeof kept, "%.1000s", text);
        return code;
    }
    flockfile(stderr); /* a line stays whole where several threads complain */
    fprintf(stderr, "gradus%s%s: ", *command ? " " : "", command);
    print_plain(stderr, text);
    fputc('\n', stderr);
    funlockfile(stderr);
    return code;
}

int complain_of(const gr_context *ctx, const char *command)
{
    const char *text = ctx ? gr_error_text(ctx) : "out of host memory";
    const gr_code code = gr_error_code(ctx);
    if (code == GR_BAD_DATA && json_memory_failed()) /* a text that could not be kept looks like a damaged one */
        return complain(GR_NO_MEMORY, command, "out of host memory while a file was read; without it: %s", text);
    return complain(code, command, "%s", text);
}

int complain_of_file(const char *path, const char *what, const char *command)
{
    const gr_code code = errno == ENOMEM ? GR_NO_MEMORY : GR_IO_ERROR;
    return complain(code, command, "%s %s: %s", path, what, strerror(errno));
}
