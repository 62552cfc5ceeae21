/* complain.c - see complain.h. */
#include "terminal/complain.h"

#include <stdarg.h>
#include <stdio.h>

int complain(gr_code code, const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "gradus%s%s: ", *command ? " " : "", command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return code;
}

int complain_of(const gr_context *ctx, const char *command)
{
    return complain(gr_error_code(ctx), command, "%s", ctx ? gr_error_text(ctx) : "out of host memory");
}
