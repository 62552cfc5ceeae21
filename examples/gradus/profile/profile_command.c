/* profile_command.c - gradus profile: some updates of a run, recorded kernel by kernel. */
#include <string.h>

#include "commands.h"
#include "profile/profile.h"
#include "profile/schedule.h"
#include "settings/check.h"
#include "sources/source.h"
#include "terminal/output.h"
#include "terminal/progress.h"
#include "terminal/stop.h"
#include "train/row.h"
#include "train/usage.h"

static const char command[] = "profile";
static const int64_t usual_limit = (int64_t)64 << 20; /* bytes of a trace, which a browser still opens */

typedef struct {
    settings run;
    const char *schedule, *out;
    int64_t trace_limit;
    bool memory, stack, compare;
} profile_asks;

#define RUN(field) offsetof(profile_asks, run.field)
#define AT(field) offsetof(profile_asks, field)

static const option profile_options[] = {
    TEXT_OPTION("schedule", "WORDS", AT(schedule),
                "which updates are recorded: wait=N of the run's own pace, warmup=N traced but not kept, active=N "
                "recorded, and that repeat=N times (default: wait=1,warmup=1,active=3,repeat=1)"),
    TEXT_OPTION("out", "DIR", AT(out),
                "folder for profile.json and trace.json, which chrome://tracing and ui.perfetto.dev open"),
    FLAG_OPTION("memory", AT(memory), "put the memory in use into the trace, and tell where it was most"),
    FLAG_OPTION("stack", AT(stack), "add up by module too, and write stacks.txt, of which flame graphs are made"),
    BYTES_OPTION("trace-limit", AT(trace_limit), "size of trace.json at most (default: 64M); the tables go on beyond"),
    FLAG_OPTION("json", RUN(json), "print the profile as one line of JSON"),
    FLAG_OPTION("compare", AT(compare), "no run: compare the profiles in two folders"),
    {0},
};

/* A run that is profiled. */
typedef struct {
    const profile_asks *asks;
    const resolved *run;
    schedule schedule;
    gr_context *ctx;
    source data;
    recorder *record;
    progress progress;
    gr_ceilings ceilings;
    bool lost; /* the host ran out of memory */
} session;

/* --- during training ---------------------------------------------------------------------------------------------- */

/* Update number, from 0, begins. */
static void begin_update(const session *s, int64_t number)
{
    switch (schedule_phase(&s->schedule, number)) {
    case PHASE_WAIT:
        recorder_pause(s->record);
        break;
    case PHASE_WARM_UP:
        recorder_warm(s->record);
        break;
    case PHASE_ACTIVE:
        recorder_begin(s->record);
        break;
    }
}

/* An epoch's end belongs to no update. */
static bool on_report(void *user, const gr_progress *p)
{
    session *s = user;
    s->lost = s->lost || (!p->epoch_end && !recorder_end(s->record, p->update));
    progress_fit(&s->progress, p);
    begin_update(s, p->update);
    return !s->lost && !stop_asked();
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/* Trains for as long as the schedule says. Returns 0 or an exit code, complained of. */
static int record(session *s)
{
    enum { BYTES_OF_AN_EVENT = 96 /* in the file, at least */ };
    s->ctx = resolved_open(s->run, false);
    if (!gr_ok(s->ctx))
        return complain_of(s->ctx, command);
    int code = source_open(s->ctx, s->run, command, &s->data);
    if (code == 0)
        code = source_check_batch(&s->data, s->run->batch, s->run->last_batch, command);
    if (code)
        return code;
    const int64_t limit = s->asks->trace_limit ? s->asks->trace_limit : usual_limit;
    s->record = recorder_open(s->ctx, (size_t)(limit / BYTES_OF_AN_EVENT) + 1, command);
    if (!s->record)
        return GR_NO_MEMORY;
    gr_module *net = resolved_built_net(s->run, s->ctx, s->data.split.train);
    gr_optimizer *opt = resolved_optimizer(s->run, s->ctx, net);
    gr_fit_options fit = resolved_fit_updates(s->run, schedule_updates(&s->schedule));
    fit.report = on_report;
    fit.user = s;
    gr_nvtx(s->ctx); /* where a tool looks on: in all updates, those at the run's own pace too */
    begin_update(s, 0);
    gr_fit(net, opt, (gr_split){.train = s->data.split.train}, &fit);
    gr_trace(s->ctx, NULL, NULL);
    progress_clear(&s->progress);
    return !gr_ok(s->ctx) ? complain_of(s->ctx, command) : s->lost ? GR_NO_MEMORY : stop_asked() ? GR_STOPPED : 0;
}

/* --- what comes out ----------------------------------------------------------------------------------------------- */

static const char *path_in(const profile_asks *asks, const char *name, char path[3072])
{
    snprintf(path, 3072, "%s/%s", asks->out, name);
    return path;
}

static int write_summary(const profile_asks *asks, const json_t *o)
{
    char path[3072];
    output out;
    const int code = output_open(&out, path_in(asks, "profile.json", path), command);
    if (code)
        return code;
    json_dumpf(o, out.file, ROW_FORMAT);
    fputc('\n', out.file);
    return output_commit(&out, command);
}

static int report(const session *s)
{
    const profile_asks *asks = s->asks;
    char path[3072], words[96];
    snprintf(words, sizeof words, "wait=%d,warmup=%d,active=%d,repeat=%d", (int)s->schedule.wait,
             (int)s->schedule.warmup, (int)s->schedule.active, (int)s->schedule.repeat);
    const profile p = {.run = s->run,
                       .record = s->record,
                       .ceilings = s->ceilings,
                       .device = gr_device_name(s->ctx),
                       .isa = gr_isa_name(s->ctx),
                       .precision = gr_precision_name(s->ctx),
                       .schedule = words,
                       .threads = gr_thread_count(s->ctx),
                       .memory = asks->memory,
                       .stack = asks->stack};
    const int64_t limit = asks->trace_limit ? asks->trace_limit : usual_limit;
    json_t *o = profile_json(&p);
    int code = write_summary(asks, o);
    if (code == 0)
        code = profile_write_trace(&p, limit, path_in(asks, "trace.json", path), command);
    if (code == 0 && asks->stack)
        code = profile_write_stacks(&p, path_in(asks, "stacks.txt", path), command);
    if (code == 0 && asks->run.json) {
        json_dumpf(o, stdout, ROW_FORMAT);
        putchar('\n');
    } else if (code == 0)
        profile_print(o);
    json_decref(o);
    return code;
}

static int run_session(const profile_asks *asks, const resolved *run, const schedule *plan)
{
    session s = {.asks = asks, .run = run, .schedule = *plan, .progress = progress_open()};
    stop_catch();
    int code = usage_limits(run, &s.ceilings, command);
    if (code == 0)
        code = record(&s);
    if (code == 0)
        code = report(&s);
    else if (code == GR_STOPPED)
        fprintf(stderr, "gradus profile: stopped by a signal; nothing was written\n");
    gr_close(s.ctx);
    recorder_close(s.record);
    return code;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int check(const profile_asks *asks, const recipe *r, schedule *plan)
{
    const settings *s = &asks->run;
    if (s->epochs || s->updates || s->budget)
        return complain(GR_USAGE, command, "--%s does not go with a profile; --schedule says how many updates are made",
                        s->epochs    ? "epochs"
                        : s->updates ? "updates"
                                     : "budget");
    if (!asks->out)
        return complain(GR_USAGE, command, "--out is missing; it names the folder for the profile");
    int code = schedule_read(asks->schedule, plan, command);
    const optimizer_set used = settings_optimizers(s, r);
    if (code == 0)
        code = settings_check(s, r, command, &used);
    if (code == 0)
        code = settings_check_inputs(s, command);
    return code ? code : folder_make(asks->out, command);
}

static int run_profile(int argc, char **argv)
{
    profile_asks asks = {.run = {.seed = 1}};
    const char *operands[3] = {NULL};
    const options_end end = options_parse(&profile_command, &asks, argc, argv, operands);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (asks.compare && !operands[1])
        return complain(GR_USAGE, command,
                        "--compare wants the folders of two profiles: the one before, the one after");
    if (asks.compare)
        return profile_compare(operands[0], operands[1], asks.run.json, command);
    if (operands[1])
        return complain(GR_USAGE, command, "one recipe is profiled at a time; \"%s\" is one too many", operands[1]);
    const recipe *r = settings_recipe(&asks.run, operands[0], command);
    schedule plan;
    const int code = r ? check(&asks, r, &plan) : GR_USAGE;
    if (code)
        return code;
    const resolved whole = settings_resolve(&asks.run, r);
    return run_session(&asks, &whole, &plan);
}

static const option_group groups[] = {
    {"The profile", profile_options, NULL, 0},
    CELL_GROUP("The run", offsetof(profile_asks, run)),
    SETTINGS_GROUP("Updates that --batch alone does not tell", settings_batches, offsetof(profile_asks, run)),
    SETTINGS_GROUP("The protocol", settings_protocol, offsetof(profile_asks, run)),
    PARAMETERS_GROUP("The optimizer", offsetof(profile_asks, run)),
    SETTINGS_GROUP("The machine", settings_machine, offsetof(profile_asks, run)),
    {0}};

const gradus_command profile_command = {
    .name = "profile",
    .purpose = "where the time of an update goes, kernel by kernel, and a trace of it",
    .usage = "profile RECIPE --out DIR [options]\nprofile --compare DIR DIR",
    .operand = "RECIPE",
    .operands = 2,
    .operand_name = recipe_name,
    .about =
        "Record some updates of a run: every operation forward and backward, the data, copies and the optimizer, with "
        "times, floating-point operations, bytes and the share of what this machine allows. A table goes to stdout, "
        "the trace into the folder. Two profiles are compared line by line.",
    .examples = "profile cifar10-cnn --procedural --batch 32 --out before\n"
                "profile resnet18-cifar --procedural --schedule wait=1,warmup=1,active=3,repeat=2 --memory --stack "
                "--out p\n"
                "profile --compare before after",
    .groups = groups,
    .run = run_profile,
};
