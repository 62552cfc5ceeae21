/* bench_csv.c - see bench_csv.h. */
#include "bench/bench_csv.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/output.h"

/* The keys of all rows in the order in which they are met first, as keys of one object. */
static json_t *columns_of(const json_t *rows)
{
    json_t *columns = json_object(), *value;
    const json_t *row;
    const char *key;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_object_foreach((json_t *)row, key, value)
        {
            if (!json_is_array(value) && !json_object_get(columns, key))
                json_object_set_new(columns, key, json_null());
        }
    }
    return columns;
}

/* RFC 4180: in quotes, those inside doubled. */
static void write_text(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', f);
        putc(*text, f);
    }
    putc('"', f);
}

static void write_value(FILE *f, const json_t *value)
{
    if (json_is_string(value))
        write_text(f, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(f, "%lld", (long long)json_integer_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", f);
    else if (json_is_real(value))
        fprintf(f, "%.9g", json_real_value(value));
}

int bench_csv_write(const json_t *rows, const char *path)
{
    output out;
    const int code = output_open(&out, path, "bench");
    json_t *columns = columns_of(rows), *unused;
    const json_t *row;
    const char *key, *comma = "";
    size_t i;
    if (code == 0) {
        json_object_foreach(columns, key, unused)
        {
            fprintf(out.file, "%s%s", comma, key);
            comma = ",";
        }
        fputs("\r\n", out.file);
        json_array_foreach(rows, i, row)
        {
            comma = "";
            json_object_foreach(columns, key, unused)
            {
                fputs(comma, out.file);
                write_value(out.file, json_object_get(row, key));
                comma = ",";
            }
            fputs("\r\n", out.file);
        }
    }
    json_decref(columns);
    return code ? code : output_commit(&out, "bench");
}
