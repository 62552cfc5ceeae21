/* doctor.c - gradus doctor: what this machine offers, what is missing, and the cure. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sources/format.h"
#include "sources/source.h"
#include "terminal/build.h"
#include "terminal/system.h"
#include "terminal/text.h"
#include "train/row.h"

typedef struct {
    const char *data;
    bool json;
} doctor_settings;

static const option doctor_options[] = {
    TEXT_OPTION("data", "FOLDER", offsetof(doctor_settings, data),
                "where to look for data sets (default: $GRADUS_DATA, else ./datasets)"),
    FLAG_OPTION("json", offsetof(doctor_settings, json), "print one line of JSON"),
    {0},
};

/* What has been found so far: values by name, and the cures of what is missing. */
typedef struct {
    json_t *facts, *cures;
} report;

static void fact(report *r, const char *name, const char *text)
{
    json_object_set_new(r->facts, name, json_string(text));
}

static void missing(report *r, const char *cure)
{
    json_array_append_new(r->cures, json_string(cure));
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

static void look_at_program(report *r)
{
    fact(r, "version", gr_version());
    fact(r, "commit", build_commit());
    fact(r, "compiler", build_compiler());
    fact(r, "jpeg_decoder", gr_jpeg_decoder());
#if !defined(__OPTIMIZE__)
    missing(r, "this program is built without optimisation and slow: build the preset release");
#endif
}

static void look_at_instruction_sets(report *r)
{
    char text[64] = "";
    for (int i = 0; gr_isa(i); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", gr_isa(i));
    fact(r, "instruction_sets", text);
}

/* By what products of floats are made in bf16x3 and bf16x6. */
static void look_at_pieces(report *r)
{
    gr_context *ctx = gr_open(&(gr_options){.precision = GR_PRECISION_BF16X6});
    fact(r, "bf16x3_and_bf16x6",
         !gr_ok(ctx)                                ? "no: there are no tiles of AMX"
         : strcmp(gr_isa_name(ctx), "amx-emulated") ? "tile instructions"
                                                    : "their twin in C, slowly");
    gr_close(ctx);
}

static void look_at_processor(report *r)
{
    char text[256], threads[32];
    fact(r, "processor", processor_name(text, sizeof text));
    look_at_instruction_sets(r);
    gr_context *ctx = gr_open(NULL);
    fact(r, "instruction_set_used", gr_isa_name(ctx));
    snprintf(threads, sizeof threads, "%d", gr_thread_count(ctx));
    fact(r, "threads", threads);
    look_at_pieces(r);
    if (!gr_ok(ctx))
        missing(r, ctx ? gr_error_text(ctx) : "out of host memory");
    gr_close(ctx);
}

static void look_at_gpus(report *r)
{
    gr_gpu_info gpu;
    const char *why = NULL;
    char name[16], text[400], size[2][32];
    for (int i = 0; gr_gpu(i, &gpu, &why); i++) {
        snprintf(name, sizeof name, "gpu_%d", i);
        snprintf(text, sizeof text, "%s, sm_%d, %s (%s free), driver for CUDA %d.%d, built with %d.%d", gpu.name,
                 gpu.capability, bytes_text((double)gpu.memory, size[0]), bytes_text((double)gpu.free, size[1]),
                 gpu.driver / 1000, gpu.driver % 1000 / 10, gpu.runtime / 1000, gpu.runtime % 1000 / 10);
        fact(r, name, text);
    }
    if (why)
        fact(r, "gpu", why);
}

static void look_at_memory(report *r)
{
    char text[256], size[32];
    if (read_system("/proc/meminfo", "MemTotal", text, sizeof text))
        fact(r, "memory", bytes_text(1024 * strtod(text, NULL), size));
    if (read_system("/proc/meminfo", "MemAvailable", text, sizeof text))
        fact(r, "memory_available", bytes_text(1024 * strtod(text, NULL), size));
    if (read_system("/sys/fs/cgroup/memory.max", NULL, text, sizeof text))
        fact(r, "memory_limit_of_container", strcmp(text, "max") == 0 ? "none" : bytes_text(strtod(text, NULL), size));
    if (!read_system("/sys/kernel/mm/transparent_hugepage/enabled", NULL, text, sizeof text))
        snprintf(text, sizeof text, "unknown");
    const char *chosen = strchr(text, '['); /* "always [madvise] never" */
    snprintf(size, sizeof size, "%.*s", chosen ? (int)strcspn(chosen + 1, "]") : 31, chosen ? chosen + 1 : text);
    fact(r, "huge_pages", size);
    if (strcmp(size, "never") == 0)
        missing(r, "huge pages are off, large layers run slower: echo madvise > "
                   "/sys/kernel/mm/transparent_hugepage/enabled (as root)");
}

static void look_at_data(report *r, const char *data_option)
{
    const char *root = source_root(data_option);
    fact(r, "data_root", root);
    for (const recipe *known = recipes; known->name; known++) {
        char path[PATH_SIZE], words[512], cure[8800];
        const format *f = known->format;
        if (json_object_get(r->facts, known->data)) /* another recipe's too */
            continue;
        bool found = f->find(known, root, path, sizeof path);
        fact(r, known->data, found ? path : "not found");
        if (found)
            continue;
        f->cure(known, words, sizeof words);
        snprintf(cure, sizeof cure, "no %s below %s: %s; --data names another folder", known->data, root, words);
        missing(r, cure);
    }
}

static void look_at_python(report *r)
{
    char path[4096];
    const char *python = drawing_python();
    fact(r, "python", python ? python : "none with matplotlib");
    if (!python)
        missing(r, "no Python with matplotlib, sweeps draw no picture: apt install python3-matplotlib, or set PYTHON");
    if (!find_companion("scripts", "plot_sweep.py", path, sizeof path))
        missing(r, "plot_sweep.py is not beside this program, sweeps draw no picture: install with cmake --install");
}

/* --- what is said of it ------------------------------------------------------------------------------------------- */

static void print_report(const report *r)
{
    enum { COLUMN = 27 };
    const char *name;
    json_t *value;
    json_object_foreach(r->facts, name, value)
    {
        char words[64];
        snprintf(words, sizeof words, "%s", name);
        for (char *c = words; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        printf("%-26s ", words);
        print_wrapped(stdout, json_string_value(value), COLUMN, COLUMN);
    }
    size_t i;
    json_array_foreach(r->cures, i, value)
    {
        printf("%s  - ", i == 0 ? "\nMissing\n" : "");
        print_wrapped(stdout, json_string_value(value), 4, 4);
    }
    if (json_array_size(r->cures) == 0)
        printf("\nNothing is missing.\n");
}

static int run_doctor(int argc, char **argv)
{
    doctor_settings s = {0};
    const char *operand;
    options_end end = options_parse(&doctor_command, &s, argc, argv, &operand);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    report r = {json_object(), json_array()};
    look_at_program(&r);
    look_at_processor(&r);
    look_at_gpus(&r);
    look_at_memory(&r);
    look_at_data(&r, s.data);
    look_at_python(&r);
    if (s.json) {
        json_object_set(r.facts, "missing", r.cures);
        json_dumpf(r.facts, stdout, ROW_FORMAT);
        putchar('\n');
    } else {
        print_report(&r);
    }
    json_decref(r.facts);
    json_decref(r.cures);
    return 0;
}

static const option_group groups[] = {{"Options", doctor_options, NULL, 0}, {0}};

const gradus_command doctor_command = {
    .name = "doctor",
    .purpose = "what this machine offers and what is missing",
    .usage = "doctor [options]",
    .about = "Tell what this machine offers Gradus and what is missing. Nothing is changed.",
    .examples = "doctor\ndoctor --data ~/datasets --json",
    .groups = groups,
    .run = run_doctor,
};
