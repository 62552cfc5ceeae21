/* report.c - gradus report: sweeps as one page of HTML that needs no network and no program but a browser. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "gradus_report_page.h" /* report_page, made of this folder's page.html by cmake/one_page.cmake */
#include "report/sweep_data.h"
#include "report/tensorboard.h"
#include "report/words.h"
#include "sweep/folder.h"
#include "terminal/output.h"
#include "terminal/page.h"
#include "terminal/system.h"

enum { PATH_SIZE = 3072, LONGEST_FOLDER = 1024 };

typedef struct {
    const char *out, *tensorboard;
} report_asks;

/* Appends what one of the folders holds. Returns 0 or an exit code, complained of. */
static int add_folder(json_t *sweeps, const char *folder, const char *const *folders)
{
    runs r;
    int code = runs_open(&r, folder, folders, "report");
    json_t *sweep = code ? NULL : sweep_data(&r, &code);
    if (sweep)
        json_array_append_new(sweeps, sweep);
    runs_close(&r);
    return code;
}

/* The runs of the folders for TensorBoard, in place of a page. Returns 0 or an exit code, complained of. */
static int write_for_tensorboard(const char *const *folders, const char *into)
{
    int code = 0;
    for (int i = 0; code == 0 && folders[i]; i++) {
        runs r;
        code = runs_open(&r, folders[i], folders, "report");
        if (code == 0)
            code = tensorboard_write(&r, into);
        runs_close(&r);
    }
    if (code == 0)
        printf("tensorboard --logdir %s\n", into);
    return code;
}

/* Whether the page would be written over what a sweep lives by. Returns 0 or an exit code, complained of. */
static int check_spares(const char *const *folders, const char *out)
{
    static const char *const names[] = {"results.jsonl", "sweep.json"};
    char path[PATH_SIZE];
    int code = 0;
    for (; *folders && code == 0; folders++)
        for (int i = 0; i < 2 && code == 0; i++) {
            snprintf(path, sizeof path, "%s/%s", *folders, names[i]);
            code = output_check_spares(out, &(const char *){path}, 1, "report");
        }
    return code;
}

static int run_report(int argc, char **argv)
{
    report_asks asks = {0};
    const char *folders[MAX_FOLDERS + 1] = {NULL};
    char path[PATH_SIZE], now[32];
    options_end end = options_parse(&report_command, &asks, argc, argv, folders);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!folders[0])
        return complain(GR_USAGE, "report", "which folders? those of 'gradus sweep --out'");
    int code = folders_check_apart(folders, "report");
    if (code)
        return code;
    if (asks.tensorboard && asks.out)
        return complain(GR_USAGE, "report", "--tensorboard and --out exclude each other; give one of them");
    if (asks.tensorboard && strlen(asks.tensorboard) > LONGEST_FOLDER)
        return complain(GR_USAGE, "report",
                        "--tensorboard %.64s...: the path of the folder has more than %d characters", asks.tensorboard,
                        LONGEST_FOLDER);
    if (asks.tensorboard)
        return write_for_tensorboard(folders, asks.tensorboard);
    code = check_spares(folders, asks.out);
    if (code)
        return code;
    snprintf(path, sizeof path, "%s/report.html", folders[0]);
    json_t *sweeps = json_array();
    for (int i = 0; code == 0 && folders[i]; i++)
        code = add_folder(sweeps, folders[i], folders);
    json_t *data = json_pack("{s:s, s:s, s:i, s:o, s:o}", "version", gr_version(), "date", now_text(now), "fewest_runs",
                             FEWEST_RUNS, "command", report_words(folders, asks.out), "sweeps", sweeps);
    if (code == 0)
        code = page_write(asks.out ? asks.out : path, report_page, data, "report");
    if (code == 0)
        printf("%s\n", asks.out ? asks.out : path);
    json_decref(data);
    return code;
}

static const option report_options[] = {
    TEXT_OPTION("out", "FILE", offsetof(report_asks, out),
                "where the page goes (default: report.html in the first folder)"),
    TEXT_OPTION("tensorboard", "FOLDER", offsetof(report_asks, tensorboard),
                "in place of the page: the runs for TensorBoard, a folder each, with their settings"),
    {0},
};

static const option_group groups[] = {{"Options", report_options, NULL, 0}, {0}};

const gradus_command report_command = {
    .name = "report",
    .purpose = "sweeps as one page: figures, tables, caveats, commands",
    .usage = "report FOLDER... [--out FILE]\nreport FOLDER... --tensorboard FOLDER",
    .operand = "FOLDER",
    .operands = MAX_FOLDERS,
    .about = "Make one page of HTML of sweeps: accuracy against batch size, updates, samples and time with 95 % "
             "intervals, learning curves, speed and memory, and every run in a table that sorts. Each figure says what "
             "it cannot show and which command makes it again, and is saved as SVG by a button. The page holds all of "
             "it: it opens from disk, without a network. Sweeps of one recipe and data set share their figures. "
             "Published values are drawn only beside sweeps that do what the publication did.",
    .examples = "report runs\nreport runs --tensorboard events\nreport plain clipped --out both.html",
    .groups = groups,
    .run = run_report,
};
