/*
 * watch.c - writes down what one block does, as lines of JSON in an order in which it may have happened:
 *
 *   {"launch": {"kernel": K, "grid": [x,y,z], "block": [x,y,z], "at": "FILE:LINE"}}   each, until the block has ended
 *   {"scene": {... as above, "index": [x,y,z], "order": "forward"}}       the block begins
 *   {"site": [n, "FILE:LINE"]}   {"object": [n, NAME, BYTES, FIRST, SHARED]}          numbers, before they are used;
 *                                 FIRST: the address of its first byte modulo 128, that is, its bank and its sector
 *   ["s", WARP, SITE, LANES, KIND, BYTES, COST, OBJECT, OFFSET, STRIDE]   a request to shared memory: KIND "r", "w" or
 *                                 "a" (atomic), BYTES of each lane, COST turns beyond the first; the lanes' offsets in
 *                                 the object go up by STRIDE, or stand in a list in place of both numbers
 *   ["g", ...]                    the same to global memory; COST sectors
 *   ["c", WARP, SITE, LANES, NAME]   lanes meet at a collective
 *   ["b", WARPS, SITE, ID]        warps meet at a barrier
 *   {"end": {"left_out": N, "fault": TEXT or null, "where": TEXT or null}}
 *
 * What a warp does between two barriers comes in its order, warp after warp. Where the limit cuts, each warp keeps its
 * share of what is left, and nothing follows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/check/requests.h"
#include "kernels/simt/environment.h"

enum { LAUNCHES = 1000, SITES = 1024, OBJECTS = 256, BANK_LINE = 128 };

struct gr__simt_watcher {
    FILE *file; /* NULL: it is done */
    char kernel[256];
    unsigned block[3];
    int64_t launch, limit;
    int64_t seen, launches; /* launches of the kernel; all */
    bool on_stage;          /* the launch that runs is the one */
    int64_t share;          /* requests that the warp may still write */
    int64_t left_out;
    uint32_t site[SITES];
    const char *object[OBJECTS]; /* their first bytes */
    int sites, objects;
};

/* --- words of JSON ------------------------------------------------------------------------------------------------ */

static void put_text(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', f);
        if ((unsigned char)*text < ' ')
            fprintf(f, "\\u%04x", (unsigned)*text);
        else
            putc(*text, f);
    }
    putc('"', f);
}

static void put_three(FILE *f, const char *name, uint3 v)
{
    fprintf(f, ",\"%s\":[%u,%u,%u]", name, v.x, v.y, v.z);
}

/* {"WHAT":{"kernel": ..., without the end. */
static void put_launch(FILE *f, const char *what, const gr__simt_config *c)
{
    char place[512];
    fprintf(f, "{\"%s\":{\"kernel\":", what);
    put_text(f, c->kernel);
    put_three(f, "grid", c->grid);
    put_three(f, "block", c->block);
    snprintf(place, sizeof place, "%s:%d", gr__simt_short(c->file), c->line);
    fputs(",\"at\":", f);
    put_text(f, place);
}

/* --- numbers for places and objects ------------------------------------------------------------------------------- */

/* The number of a site, which is introduced the first time. The last one stands for all that find no room. */
static int number_of_site(gr__simt_machine *m, uint32_t site)
{
    struct gr__simt_watcher *r = m->watcher;
    char text[512];
    for (int i = 0; i < r->sites; i++)
        if (r->site[i] == site)
            return i;
    if (r->sites == SITES)
        return SITES - 1;
    fprintf(r->file, "{\"site\":[%d,", r->sites);
    put_text(r->file, gr__simt_site_text(m, site, text, sizeof text));
    fputs("]}\n", r->file);
    r->site[r->sites] = site;
    return r->sites++;
}

/* What an address lies in. */
typedef struct {
    const char *first;
    size_t bytes;
    const char *name;
} object;

static object object_at(gr__simt_machine *m, const char *p, bool shared)
{
    const int owner = shared ? m->shared.owner[(p - m->shared.memory) / 16] : 0;
    const gr__simt_placed *v = owner ? &m->shared.placed[owner - 1] : NULL;
    const gr__simt_buffer *b = shared ? NULL : gr__simt_find_buffer(m, p);
    if (v)
        return (object){v->at, v->bytes, v->what ? v->what->name : "dynamic shared memory"};
    if (b)
        return (object){b->low, b->bytes, b->name ? b->name : "a device buffer"};
    if (shared)
        return (object){m->shared.memory, GR__SIMT_ARENA, "shared memory outside every variable"};
    return (object){NULL, 0, "memory outside every buffer"};
}

/* Its number, as with sites. */
static int number_of_object(struct gr__simt_watcher *r, const object *o, bool shared)
{
    for (int i = 0; i < r->objects; i++)
        if (r->object[i] == o->first)
            return i;
    if (r->objects == OBJECTS)
        return OBJECTS - 1;
    fprintf(r->file, "{\"object\":[%d,", r->objects);
    put_text(r->file, o->name);
    fprintf(r->file, ",%zu,%d,%s]}\n", o->bytes, (int)((uintptr_t)o->first % BANK_LINE), shared ? "true" : "false");
    r->object[r->objects] = o->first;
    return r->objects++;
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

/* ",OFFSET,STRIDE" of the lanes that came, or ",[OFFSET,...]". */
static void put_offsets(FILE *f, const gr__simt_request *q, const char *first)
{
    ptrdiff_t offset[GR__SIMT_LANES];
    int n = 0;
    bool even = true;
    for (int lane = 0; lane < GR__SIMT_LANES; lane++)
        if (q->lanes >> lane & 1)
            offset[n++] = (const char *)q->address[lane] - first;
    const ptrdiff_t stride = n > 1 ? offset[1] - offset[0] : 0;
    for (int i = 1; i < n; i++)
        even &= offset[i] - offset[i - 1] == stride;
    if (even)
        fprintf(f, ",%td,%td", offset[0], stride);
    for (int i = 0; !even && i < n; i++)
        fprintf(f, "%s%td%s", i ? "," : ",[", offset[i], i == n - 1 ? "]" : "");
}

static void put_access(gr__simt_machine *m, int warp, const gr__simt_request *q)
{
    FILE *f = m->watcher->file;
    const gr__simt_counters cost = gr__simt_request_cost(q);
    const object o = object_at(m, (const char *)q->address[__builtin_ctz(q->lanes)], q->shared);
    const int site = number_of_site(m, q->site), number = number_of_object(m->watcher, &o, q->shared);
    fprintf(f, "[\"%c\",%d,%d,%u,\"%c\",%u,%llu,%d", q->shared ? 's' : 'g', warp, site, q->lanes,
            q->kind == GR__SIMT_CHANGES  ? 'a'
            : q->kind == GR__SIMT_WRITES ? 'w'
                                         : 'r',
            q->bytes, (unsigned long long)(q->shared ? cost.bank_conflicts : cost.global_sectors), number);
    put_offsets(f, q, o.first);
    fputs("]\n", f);
}

static void put_meeting(gr__simt_machine *m, int warp, const gr__simt_request *q)
{
    static const char *const name[] = {"__syncwarp", "shuffle",      "ballot",     "all",        "any",
                                       "sum",        "min",          "max",        "together",   "ldmatrix",
                                       "ldmatrix",   "mma (fp16)",   "mma (bf16)", "mma (tf32)", "wgmma.fence",
                                       "wgmma",      "wgmma.commit", "wgmma.wait"};
    const int site = number_of_site(m, q->site);
    fprintf(m->watcher->file, "[\"c\",%d,%d,%u,\"%s\"]\n", warp, site, q->lanes, name[q->op]);
}

void gr__simt_watch_share(gr__simt_machine *m, int warps)
{
    m->watcher->share = (m->watcher->limit + warps - 1) / warps;
}

void gr__simt_watch_request(gr__simt_machine *m, int warp, const gr__simt_request *q)
{
    struct gr__simt_watcher *r = m->watcher;
    if (!r->share) {
        r->left_out++;
        return;
    }
    (q->kind == GR__SIMT_MEETS ? put_meeting : put_access)(m, warp, q);
    r->share--, r->limit--;
}

void gr__simt_watch_lost(gr__simt_machine *m)
{
    m->watcher->left_out++;
}

/* --- what the emulator tells -------------------------------------------------------------------------------------- */

static void finish(gr__simt_machine *m)
{
    struct gr__simt_watcher *r = m->watcher;
    m->watching = false;
    fprintf(r->file, "{\"end\":{\"left_out\":%lld,\"fault\":", (long long)r->left_out);
    if (m->fault[0]) {
        char where[GR__SIMT_FAULT / 2] = "";
        gr__simt_list_threads(m, where, sizeof where);
        put_text(r->file, m->fault);
        fputs(",\"where\":", r->file);
        put_text(r->file, where);
    } else {
        fputs("null,\"where\":null", r->file);
    }
    fputs("}}\n", r->file);
    fclose(r->file);
    r->file = NULL;
}

void gr__simt_watch_barrier(gr__simt_machine *m, int id, unsigned warps, const char *file, int line)
{
    struct gr__simt_watcher *r = m->watcher;
    if (!m->watching)
        return;
    if (r->left_out || !r->limit) {
        r->left_out++;
        finish(m);
        return;
    }
    const int site = number_of_site(m, gr__simt_site_of_line(m, file, line));
    fprintf(r->file, "[\"b\",%u,%d,%d]\n", warps, site, id);
    r->limit--;
}

void gr__simt_watch_collective(gr__simt_machine *m, const gr__simt_gathering *g)
{
    if (m->watching &&
        !gr__simt_requests_meet(m, m->current->warp, g->mask, g->op, gr__simt_site_of_line(m, g->file, g->line)))
        gr__simt_watch_lost(m);
}

/* "k", "(k<3>)" and "space::k<3>" are the kernel k. */
static bool is_wanted(const struct gr__simt_watcher *r, const char *kernel)
{
    const size_t n = strlen(r->kernel);
    kernel += *kernel == '(';
    if (!n || !strncmp(kernel, r->kernel, n + 1))
        return true;
    const char *end = kernel + strcspn(kernel, "<)");
    return (size_t)(end - kernel) >= n && !strncmp(end - n, r->kernel, n) &&
           (end - n == kernel || end[-(ptrdiff_t)n - 1] == ':');
}

void gr__simt_watch_launch(gr__simt_machine *m)
{
    struct gr__simt_watcher *r = m->watcher;
    if (!r || !r->file)
        return;
    const bool wanted = is_wanted(r, m->launch->kernel);
    r->seen += wanted;
    r->on_stage = wanted && r->seen == r->launch;
    if (r->launches++ >= LAUNCHES && !wanted)
        return;
    put_launch(r->file, "launch", m->launch);
    fputs("}}\n", r->file);
    fflush(r->file);
}

void gr__simt_watch_block(gr__simt_machine *m)
{
    static const char *const orders[] = {"forward", "reverse", "random"};
    struct gr__simt_watcher *r = m->watcher;
    if (!r || !r->file || !r->on_stage || blockIdx.x != r->block[0] || blockIdx.y != r->block[1] ||
        blockIdx.z != r->block[2])
        return;
    put_launch(r->file, "scene", m->launch);
    put_three(r->file, "index", blockIdx);
    fprintf(r->file, ",\"order\":\"%s\"}}\n", orders[m->order]);
    m->watching = true;
}

void gr__simt_watch_block_end(gr__simt_machine *m)
{
    if (!m->watching)
        return;
    gr__simt_requests_flush(m, ~0u);
    finish(m);
}

/* --- asking for it ------------------------------------------------------------------------------------------------ */

static bool open_watcher(gr__simt_machine *m, const char *path, const gr__simt_scene *scene)
{
    struct gr__simt_watcher *r = calloc(1, sizeof *r);
    gr__simt_watch_close(m);
    if (r)
        r->file = fopen(path, "w");
    if (!r || !r->file) {
        free(r);
        return false;
    }
    snprintf(r->kernel, sizeof r->kernel, "%s", scene->kernel ? scene->kernel : "");
    memcpy(r->block, scene->block, sizeof r->block);
    r->launch = scene->launch ? scene->launch : 1;
    r->limit = scene->limit ? scene->limit : GR__SIMT_SCENE;
    m->watcher = r;
    return true;
}

bool gr__simt_watch(const char *path, const gr__simt_scene *scene)
{
    gr__simt_machine *m = gr__simt_here();
    return m && open_watcher(m, path, scene);
}

void gr__simt_watch_close(gr__simt_machine *m)
{
    if (m->watcher && m->watcher->file)
        fclose(m->watcher->file);
    free(m->watcher);
    m->watcher = NULL;
    m->watching = false;
}

/* Which block, launch and how many steps the environment asks for. NULL, or why that is not understood. */
static const char *scene_asked(gr__simt_scene *scene)
{
    const char *block = getenv("GRADUS_SIMT_WATCH_BLOCK"), *why = NULL;
    uint64_t launch, limit;
    unsigned *at = scene->block;
    scene->kernel = getenv("GRADUS_SIMT_WATCH_KERNEL");
    gr__simt_environment_number("GRADUS_SIMT_WATCH_LAUNCH", 0, 0, INT64_MAX, &launch, &why);
    gr__simt_environment_number("GRADUS_SIMT_WATCH_LIMIT", 0, 0, INT64_MAX, &limit, &why);
    scene->launch = (int64_t)launch;
    scene->limit = (int64_t)limit;
    if (block && *block && sscanf(block, "%u,%u,%u", &at[0], &at[1], &at[2]) < 1)
        why = "GRADUS_SIMT_WATCH_BLOCK must be one to three numbers, such as 1,0,2, or unset";
    return why;
}

/* The first thread of the program that has a machine. */
void gr__simt_watch_asked(gr__simt_machine *m)
{
    static bool taken;
    const char *path = getenv("GRADUS_SIMT_WATCH");
    gr__simt_scene scene = {0};
    if (!path || !*path || __atomic_exchange_n(&taken, true, __ATOMIC_RELAXED))
        return;
    const char *why = scene_asked(&scene);
    if (why)
        fprintf(stderr, "gradus: nothing is watched: %s\n", why);
    else if (!open_watcher(m, path, &scene))
        fprintf(stderr, "gradus: nothing is watched: %s: %s\n", path, strerror(errno));
}
