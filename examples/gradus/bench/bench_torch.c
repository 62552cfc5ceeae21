/* bench_torch.c - see bench_torch.h; PyTorch's side is scripts/bench_torch.py. */
#include "bench/bench_torch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_answer.h"
#include "bench/bench_duel.h"
#include "bench/bench_measure.h"
#include "bench/bench_peer.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/memory.h"
#include "terminal/system.h"
#include "terminal/text.h"

/* Seconds of each pass in a turn; that PyTorch may take to begin or for a turn, beside those that are measured. */
static const double turn_seconds = 0.05, patience = 30;

enum { LEAST_RUNS = 3 }; /* of a turn; BENCH_SAMPLES at most */

/* A case at a batch size, at both sides. */
typedef struct {
    const bench_settings *s;
    bench_trial own;
    bench_peer peer;
    bench_duel *duel;
} match;

/* --- the question ------------------------------------------------------------------------------------------------- */

static json_t *shape_of(const gr_tensor *t)
{
    json_t *shape = json_array();
    for (int i = 0; i < gr_ndim(t); i++)
        json_array_append_new(shape, json_integer(gr_dim(t, i)));
    return shape;
}

static json_t *question(const bench_trial *t)
{
    json_t *inputs = json_array();
    for (int i = 0; i < t->row.n; i++) {
        const bench_input *input = &t->row.inputs[i];
        json_array_append_new(inputs, json_pack("{s:s, s:i, s:s, s:o, s:b}", "name", input->name, "slot", input->slot,
                                                "type", gr_type_name(gr_type_of(t->in[i])), "shape", shape_of(t->in[i]),
                                                "gradient", (int)input->gradient));
    }
    return json_pack("{s:s, s:s, s:I, s:i, s:o, s:o}", "op", t->c->op, "row", t->c->row, "batch", (json_int_t)t->batch,
                     "threads", gr_thread_count(t->ctx), "inputs", inputs, "dy", t->dy ? shape_of(t->dy) : json_null());
}

/* A tensor's numbers, of 4 bytes each. False: the peer's why. */
static bool send_tensor(bench_peer *p, const gr_tensor *t)
{
    const size_t bytes = (size_t)gr_count(t) * gr_type_size(gr_type_of(t));
    void *values = malloc(bytes);
    const bool sent = values && gr_download(t, values) && peer_send(p, values, bytes);
    if (!values)
        snprintf(p->why, sizeof p->why, "out of host memory for its numbers");
    free(values);
    return sent;
}

static bool ask(match *m)
{
    bool done = peer_ask(&m->peer, question(&m->own));
    for (int i = 0; i < m->own.row.n && done; i++)
        done = send_tensor(&m->peer, m->own.in[i]);
    return done && (!m->own.dy || send_tensor(&m->peer, m->own.dy));
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

/* PyTorch's numbers for a part of an answer. False: the peer's why. */
static bool receive_part(bench_peer *p, int64_t count, double **values)
{
    float *raw = malloc((size_t)count * sizeof *raw);
    *values = malloc((size_t)count * sizeof **values);
    const bool got = raw && *values && peer_receive(p, raw, (size_t)count * sizeof *raw);
    for (int64_t i = 0; got && i < count; i++)
        (*values)[i] = (double)raw[i];
    if (!raw || !*values)
        snprintf(p->why, sizeof p->why, "out of host memory for its answer");
    free(raw);
    return got;
}

/* The parts of our answer, as PyTorch has them. False: the peer's why. */
static bool receive(match *m, const bench_answer *own, bench_answer *theirs)
{
    bench_peer *p = &m->peer;
    json_t *told = peer_answer(p);
    const json_t *counts = json_object_get(told, "counts");
    bool done = told && (int)json_array_size(counts) == own->n;
    for (int i = 0; i < own->n && done; i++)
        done = json_integer_value(json_array_get(counts, (size_t)i)) == own->parts[i].count;
    if (told && !done)
        snprintf(p->why, sizeof p->why, "its results have other sizes");
    json_decref(told);
    for (int i = 0; i < own->n && done; i++) {
        theirs->parts[i] = own->parts[i];
        done = receive_part(p, own->parts[i].count, &theirs->parts[theirs->n++].values);
    }
    return done;
}

/* Both answer. Returns 0 or an exit code, complained of, where they differ; else the case may be left out. */
static int compare(match *m)
{
    bench_answer own = {0}, theirs = {0};
    const char *what = "";
    int code = 0;
    if (!bench_ask(&m->own, &own))
        snprintf(m->duel->left_out, sizeof m->duel->left_out, "%s",
                 gr_ok(m->own.ctx) ? "out of host memory" : gr_error_text(m->own.ctx));
    else if (!ask(m) || !receive(m, &own, &theirs))
        snprintf(m->duel->left_out, sizeof m->duel->left_out, "PyTorch: %s", m->peer.why);
    else {
        const double error = bench_compare(&own, &theirs, 1, &what);
        if (!(error <= bench_tolerance(m->own.ctx)))
            code = complain(GR_DEVICE_FAULT, "bench",
                            "%s at batch size %lld: %s differs from PyTorch's, largest relative error %.1e; times of "
                            "different numbers are not compared",
                            m->own.c->op, (long long)m->own.batch, what, error);
    }
    bench_forget(&own);
    bench_forget(&theirs);
    return code;
}

/* --- turns -------------------------------------------------------------------------------------------------------- */

static bool with_backward(const match *m)
{
    return m->own.dy && m->own.way.part != BENCH_FORWARD;
}

/* Our median seconds of each pass. */
static void run_own(match *m, double medians[DUEL_PASSES])
{
    double times[DUEL_PASSES][BENCH_SAMPLES], sum = 0;
    int n = 0;
    for (; n < BENCH_SAMPLES && (n < LEAST_RUNS || sum < 2 * turn_seconds); n++) {
        bench_repeat(&m->own);
        for (int pass = 0; pass < DUEL_PASSES; pass++)
            sum += times[pass][n] = m->own.now[pass];
    }
    for (int pass = 0; pass < DUEL_PASSES; pass++)
        medians[pass] = median_of(times[pass], n);
}

static double median_of_list(const json_t *list)
{
    double times[BENCH_SAMPLES];
    int n = 0;
    for (; n < BENCH_SAMPLES && n < (int)json_array_size(list); n++)
        times[n] = json_number_value(json_array_get(list, (size_t)n));
    return n ? median_of(times, n) : (double)NAN;
}

/* PyTorch's. False: the peer's why. */
static bool run_peer(match *m, double medians[DUEL_PASSES])
{
    json_t *told = peer_ask(&m->peer, json_pack("{s:f, s:b}", "seconds", turn_seconds, "backward", with_backward(m)))
                       ? peer_answer(&m->peer)
                       : NULL;
    medians[0] = median_of_list(json_object_get(told, "forward"));
    medians[1] = median_of_list(json_object_get(told, "backward"));
    const bool done = told && medians[0] > 0 && medians[1] >= 0;
    if (told && !done)
        snprintf(m->peer.why, sizeof m->peer.why, "it has measured nothing");
    json_decref(told);
    return done;
}

/* Both sides once, the one that was last first. False: the peer's why. */
static bool turn(match *m)
{
    double medians[2][DUEL_PASSES];
    for (int i = 0; i < 2; i++) {
        const int side = (m->duel->turns + i) % 2;
        if (side)
            run_own(m, medians[side]);
        else if (!run_peer(m, medians[side]))
            return false;
    }
    for (int pass = 0, shown = 0; pass < DUEL_PASSES; pass++)
        if (bench_shows(&m->own, pass) && (pass == 0 || with_backward(m))) {
            m->duel->times[shown][0][m->duel->turns] = medians[0][pass];
            m->duel->times[shown++][1][m->duel->turns] = medians[1][pass];
        }
    m->duel->turns++;
    return true;
}

/* What the passes are called in the table. */
static void name_passes(match *m, bool batched)
{
    static const char *const names[] = {"forward", "backward"};
    const bench_case *c = m->own.c;
    for (int pass = 0, shown = 0; pass < DUEL_PASSES; pass++)
        if (bench_shows(&m->own, pass) && (pass == 0 || with_backward(m)))
            m->duel->row[shown++] =
                json_pack("{s:s, s:s, s:s, s:o, s:s}", "op", c->op, "case", c->about, "row", c->row, "batch",
                          batched ? json_integer(m->own.batch) : json_null(), "pass", names[pass]);
}

static void measure(match *m, bool batched)
{
    const double begin = now_seconds();
    name_passes(m, batched);
    double unused[DUEL_PASSES];
    run_own(m, unused); /* both are in the caches, or not, when it counts */
    bool done = run_peer(m, unused);
    while (done && !duel_over(m->duel, bench_pace_of(m->s), now_seconds() - begin))
        done = turn(m);
    if (!done)
        snprintf(m->duel->left_out, sizeof m->duel->left_out, "PyTorch: %s", m->peer.why);
}

/* --- a case ------------------------------------------------------------------------------------------------------- */

/* Whether there is room for both sides and their answers; otherwise it is left out. */
static bool fits(match *m, const bench_case *c, int64_t batch)
{
    const gr_options options = bench_context(m->s, true);
    const bool planned = bench_open(&m->own, c, bench_way_of(m->s), &options, batch, batch);
    int64_t answers = m->own.result ? gr_count(m->own.dy) : 0;
    for (int i = 0; i < m->own.row.n; i++)
        answers += m->own.row.inputs[i].gradient ? gr_count(m->own.in[i]) : 0;
    /* PyTorch's tensors, and their bytes as they come; both answers as double and as they come */
    const int64_t need = 3 * gr_memory_use(m->own.ctx).peak + bench_staging(&m->own) + 24 * answers;
    const int64_t limit = m->s->memory_limit ? m->s->memory_limit : memory_available();
    char needed[32], there[32];
    if (!planned)
        snprintf(m->duel->left_out, sizeof m->duel->left_out, "%s", gr_error_text(m->own.ctx));
    else if (need > limit)
        snprintf(m->duel->left_out, sizeof m->duel->left_out, "both sides need %s, %s are %s",
                 bytes_text((double)need, needed), bytes_text((double)limit, there),
                 m->s->memory_limit ? "allowed" : "free");
    bench_close(&m->own);
    return !*m->duel->left_out;
}

/* Starts PyTorch's side. False: complained of. */
static bool start_peer(match *m)
{
    char script[2048];
    const char *chosen = getenv("PYTHON"), *python = chosen && *chosen ? chosen : "python3";
    if (!find_companion("scripts", "bench_torch.py", script, sizeof script)) {
        complain(GR_IO_ERROR, "bench", "--against torch: bench_torch.py is not beside this program");
        return false;
    }
    char *const words[] = {(char *)python, script, NULL};
    if (peer_start(&m->peer, words, patience + bench_pace_of(m->s).seconds))
        return true;
    complain(GR_IO_ERROR, "bench", "--against torch: %s", m->peer.why);
    return false;
}

/* Whether PyTorch is there at all: once, not for each case. Returns 0 or an exit code, complained of. */
static int look_for_torch(const bench_settings *s)
{
    match m = {.s = s};
    if (!start_peer(&m))
        return GR_IO_ERROR;
    peer_ask(&m.peer, json_pack("{s:b}", "version", 1)); /* one that has ended by now has left its reason, too */
    json_t *told = peer_answer(&m.peer);
    const int code = told ? 0
                          : complain(GR_USAGE, "bench",
                                     "--against torch: %s. PyTorch is looked for by $PYTHON, else python3: set PYTHON "
                                     "to one that has it (pip install torch)",
                                     m.peer.why);
    json_decref(told);
    peer_stop(&m.peer);
    return code;
}

/* A duel_play. */
static int play(const bench_settings *s, const bench_case *c, int64_t asked, bench_duel *d)
{
    const gr_options options = bench_context(s, false);
    const bool batched = strstr(c->row, "[N");
    const int64_t batch = batched ? asked : 1;
    match m = {.s = s, .duel = d};
    int code = 0;
    if (!fits(&m, c, batch))
        return 0;
    if (!start_peer(&m))
        return GR_IO_ERROR;
    if (!bench_open(&m.own, c, bench_way_of(s), &options, batch, batch))
        snprintf(d->left_out, sizeof d->left_out, "%s", gr_error_text(m.own.ctx));
    else
        code = compare(&m);
    if (code == 0 && !*d->left_out)
        measure(&m, batched);
    bench_close(&m.own);
    peer_stop(&m.peer);
    return code;
}

int bench_torch(const bench_settings *s, const bench_case *cases, int n, const int64_t *batches, int n_batches)
{
    const int code = look_for_torch(s);
    return code ? code : duel_all(s, cases, n, batches, n_batches, &(verdict_sides){"PyTorch", "gradus"}, play);
}
