/* reproduce.c - gradus reproduce: the published experiments, a command each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "reproduce/arms.h"
#include "reproduce/tell.h"
#include "terminal/system.h"
#include "terminal/text.h"

/* --- an experiment ------------------------------------------------------------------------------------------------ */

/*
 * All arms once, forwards or backwards. Cells that failed are told of at the end (*failed): the others say something.
 * Returns 0 or an exit code.
 */
static int do_round(const experiment *e, const reproduce_asks *asks, bool backwards, double *left, int *failed)
{
    int n = 0, code = 0;
    while (e->arms[n].folder)
        n++;
    for (int i = 0; i < n && code == 0; i++) {
        code = arm_do(e, &e->arms[backwards ? n - 1 - i : i], asks, left);
        *failed = code == TOOL_CELLS_FAILED ? code : *failed;
        code = code == TOOL_CELLS_FAILED ? 0 : code;
    }
    return code;
}

/*
 * Arms that are timed against each other take turns, a seed each, A B B A A B: a machine that grows warm or has other
 * work for some minutes would else look like the difference between them.
 */
static int do_arms(const experiment *e, const reproduce_asks *asks, double *left)
{
    reproduce_asks turn = *asks;
    const int64_t seeds = asks->seeds ? asks->seeds : e->seeds;
    const bool turns = e->timed && !asks->dry_run;
    int failed = 0, code = 0;
    for (int64_t seed = turns ? 1 : seeds; seed <= seeds && code == 0; seed++) {
        turn.seeds = seed;
        code = do_round(e, &turn, turns && seed % 2 == 0, left, &failed);
    }
    return code ? code : failed;
}

static int show(const experiment *e, const reproduce_asks *asks)
{
    char time[32];
    double left = 0;
    tell_experiment(e);
    printf("\n");
    const int code = do_arms(e, asks, &left);
    if (code == 0 && isfinite(left) && left > 0) // 0: all is done, or other commands, whose time is not tried out
        printf("in all about %s, judged by a few updates or by the runs that are done\n", duration_text(left, time));
    return code;
}

static int tell(const experiment *e, const reproduce_asks *asks)
{
    evidence found;
    findings *f = malloc(sizeof *f);
    int code = evidence_open(&found, e, asks->out);
    if (code == 0 && !f)
        code = complain(GR_NO_MEMORY, "reproduce", "out of host memory for the verdict");
    if (code == 0)
        code = findings_make(&found, f);
    if (code == 0)
        (asks->json ? tell_json : tell_findings)(&found, f);
    evidence_close(&found);
    free(f);
    return code;
}

static int reproduce(const experiment *e, const reproduce_asks *asks)
{
    if (asks->dry_run)
        return show(e, asks);
    if (e->timed && asks->jobs > 1)
        return complain(GR_USAGE, "reproduce",
                        "%s compares times, which runs side by side would spoil: leave --jobs out", e->name);
    const bool fresh = !is_folder(asks->out);
    const int ran = asks->verdict ? 0 : do_arms(e, asks, NULL);
    if (ran != 0 && fresh)
        rmdir(asks->out); /* where nothing came into it */
    if (ran != 0 && ran != TOOL_CELLS_FAILED)
        return ran;
    const int code = tell(e, asks);
    return code ? code : ran;
}

static int run_reproduce(int argc, char **argv)
{
    reproduce_asks asks = {0};
    const char *name;
    options_end end = options_parse(&reproduce_command, &asks, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    asks.out = asks.out ? asks.out : "reproduced";
    if (strlen(asks.out) > 1000)
        return complain(GR_USAGE, "reproduce", "--out %.64s...: the path of the folder is too long", asks.out);
    if (asks.dry_run && asks.verdict)
        return complain(GR_USAGE, "reproduce", "--dry-run and --verdict exclude each other; give one of them");
    if (!name) {
        tell_list();
        return 0;
    }
    const experiment *e = experiment_find(name);
    return e ? reproduce(e, &asks) : GR_USAGE;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static const option reproduce_options[] = {
    TEXT_OPTION("out", "FOLDER", offsetof(reproduce_asks, out),
                "for the sweeps, a folder each; experiments share those that are the same (default: reproduced)"),
    COUNT_OPTION("seeds", "N", offsetof(reproduce_asks, seeds), 1, 10000,
                 "seeds 1 to N; more may be asked for later (default: the experiment's)"),
    COUNT_OPTION("updates", "N", offsetof(reproduce_asks, updates), 1, 1000000000,
                 "a trial: every run ends after N updates. The verdict says that this is not the published protocol"),
    COUNT_OPTION("jobs", "N", offsetof(reproduce_asks, jobs), 1, MOST_CELLS,
                 "runs at work side by side, as 'gradus sweep' has it; not for experiments about time (default: 1)"),
    FLAG_OPTION("dry-run", offsetof(reproduce_asks, dry_run),
                "show what is published, what is odd about it, the runs and their time; run nothing"),
    FLAG_OPTION("verdict", offsetof(reproduce_asks, verdict), "run nothing: the verdict of the runs that are there"),
    DEVICE_OPTION(offsetof(reproduce_asks, shared.device)),
    FLAG_OPTION("json", offsetof(reproduce_asks, json), "print the verdict as one line of JSON"),
    {0},
};

static const option_group groups[] = {
    {"Options", reproduce_options, NULL, 0},
    SETTINGS_GROUP("The machine", settings_machine, offsetof(reproduce_asks, shared)),
    SETTINGS_GROUP("What it takes of the machine", settings_usage, offsetof(reproduce_asks, shared)),
    {0}};

const gradus_command reproduce_command = {
    .name = "reproduce",
    .purpose = "a published experiment again, and whether it comes out as published",
    .usage = "reproduce\nreproduce NAME [options]",
    .operand = "NAME",
    .operand_name = experiment_name,
    .about = "Run an experiment of the publications as sweeps, as it was published and, where the publication is odd, "
             "corrected, and end in a verdict: what the publication says, what was measured, whether they agree, with "
             "the interval by seed. Without a name it lists the experiments. It can be stopped and goes on with the "
             "same command, as sweeps do; what two experiments share is run once.",
    .examples = "reproduce\n"
                "reproduce batch-sizes --data ~/datasets --dry-run\n"
                "reproduce dense-network\n"
                "reproduce optimizers --data ~/datasets --seeds 10 --out results",
    .groups = groups,
    .run = run_reproduce,
};
