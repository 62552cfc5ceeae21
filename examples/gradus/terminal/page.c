/* page.c - see page.h. */
#include "terminal/page.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/json_memory.h"
#include "terminal/output.h"

/* JSON within a script of HTML: no "</script>" or "<!--" that a text may hold must end it. */
static void write_data(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("\\u003c", f);
        else
            fputc(*text, f);
}

int page_write(const char *path, const unsigned char *page, const json_t *data, const char *command)
{
    static const char mark[] = "@DATA@";
    const char *begin = (const char *)page, *place = strstr(begin, mark);
    char *text = json_text(data, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
    output out;
    if (!text || json_memory_failed()) {
        free(text);
        return complain(GR_NO_MEMORY, command, "out of host memory for the page");
    }
    int code = output_open(&out, path, command);
    if (code == 0) {
        fwrite(begin, 1, (size_t)(place - begin), out.file);
        write_data(out.file, text);
        fputs(place + strlen(mark), out.file);
        code = output_commit(&out, command);
    }
    free(text);
    return code;
}
