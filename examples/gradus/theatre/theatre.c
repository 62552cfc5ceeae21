/* theatre.c - see theatre.h. The emulator is asked by the program's environment (kernels/simt/simt.h). */
#include "theatre/theatre.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/cuda_run.h"
#include "gradus_theatre_page.h" /* theatre_page, made of this folder's page.html by cmake/one_page.cmake */
#include "terminal/output.h"
#include "terminal/page.h"

static bool set_number(const char *variable, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return setenv(variable, text, 1) == 0;
}

/* False: there is no memory for the words. */
static bool ask(const scene_wish *wish, const char *path)
{
    char block[64];
    snprintf(block, sizeof block, "%u,%u,%u", wish->block[0], wish->block[1], wish->block[2]);
    return setenv("GRADUS_SIMT_WATCH", path, 1) == 0 &&
           setenv("GRADUS_SIMT_WATCH_KERNEL", wish->kernel ? wish->kernel : "", 1) == 0 &&
           setenv("GRADUS_SIMT_WATCH_BLOCK", block, 1) == 0 && set_number("GRADUS_SIMT_WATCH_LAUNCH", wish->launch) &&
           set_number("GRADUS_SIMT_WATCH_LIMIT", wish->limit);
}

int theatre_show(const char *program, char **arguments, const scene_wish *wish, const char *folder, const char *out)
{
    char path[PATH_MAX];
    json_t *data = NULL;
    int code = output_check(out, "theatre");
    if (code)
        return code;
    snprintf(path, sizeof path, "%s/watched", folder);
    if (!ask(wish, path))
        return complain(GR_NO_MEMORY, "theatre", "out of host memory for what the program is to be asked");
    const int programs = cuda_run(program, arguments);
    code = scene_read(path, wish, &data);
    unlink(path);
    if (code == 0)
        code = page_write(out, theatre_page, data, "theatre");
    json_decref(data);
    if (code == 0)
        fprintf(stderr, "gradus theatre: %s\n", out);
    return code ? code : programs;
}
