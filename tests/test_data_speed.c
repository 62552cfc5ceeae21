/*
 * test_data_speed.c - whether data keeps up with a device, in four figures beside what each should be: opening a packed
 * set, decoding photographs, what the loader adds to training, augmenting. $GRADUS_DATA says where PetImages and
 * CIFAR-10 are.
 *
 * A figure is the median of some turns on all processors of this process, by the clock. A machine has other work at
 * times: the test fails only where the same figure by processor time, which that does not lengthen as much, is far
 * below.
 */
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/context.h"
#include "data/augmentation/augment.h"
#include "data/decoding/image.h"
#include "gradus.h"

enum { SIDE = 200, MAX_FILES = 4096, MAX_TURNS = 32, PATH = 4096 };

/* Seconds by the clock, and of this process's processors, all its threads together. */
enum { CLOCK, PROCESSORS, CLOCKS };
typedef struct {
    double at[CLOCKS];
} moment;

static moment now(void)
{
    struct timespec t[CLOCKS];
    clock_gettime(CLOCK_MONOTONIC, &t[CLOCK]);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t[PROCESSORS]);
    moment m;
    for (int i = 0; i < CLOCKS; i++)
        m.at[i] = (double)t[i].tv_sec + 1e-9 * (double)t[i].tv_nsec;
    return m;
}

/*
 * Work a second since a moment: by the clock; and by processor time, as if all threads had had a processor throughout.
 */
static moment rate_since(moment start, double work, int threads)
{
    const moment end = now();
    const double processors = (end.at[PROCESSORS] - start.at[PROCESSORS]) / threads;
    return (moment){{work / (end.at[CLOCK] - start.at[CLOCK]), work / processors}};
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    printf("FAIL %s\n", what);
    exit(1);
}

/* Ends the program where the context has an error. */
static void check(gr_context *ctx)
{
    must(gr_ok(ctx), gr_error_text(ctx));
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const moment *of, int n, int which)
{
    double sorted[MAX_TURNS];
    for (int i = 0; i < n; i++)
        sorted[i] = of[i].at[which];
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/*
 * Prints the median of n figures, which should be at least the limit. False: by processor time it is below the bound.
 */
static bool tell(const char *what, const moment *of, int n, const char *unit, double limit, double bound)
{
    const double figure = median(of, n, CLOCK), undisturbed = median(of, n, PROCESSORS);
    printf("%-68s %9.*f %-5s  at least %g: %-6s  by processor time %.*f\n", what, figure < 100 ? 2 : 0, figure, unit,
           limit, figure >= limit ? "met" : "missed", figure < 100 ? 2 : 0, undisturbed);
    return undisturbed >= bound;
}

/* --- packed sets and decoding ------------------------------------------------------------------------------------- */

/* Files that several threads read and decode. */
typedef struct {
    char *path[MAX_FILES];
    int n;
    _Atomic int next;
} photographs;

static photographs *list_photographs(const char *folder)
{
    photographs *p = calloc(1, sizeof *p);
    static const char *const classes[] = {"Cat", "Dog"};
    for (int c = 0; p && c < 2; c++) {
        char path[PATH + 8];
        snprintf(path, sizeof path, "%s/%s", folder, classes[c]);
        struct dirent **entries;
        const int n = scandir(path, &entries, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            char file[PATH + 300];
            snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
            if (entries[i]->d_name[0] != '.' && p->n < MAX_FILES && (p->path[p->n] = strdup(file)))
                p->n++;
            free(entries[i]);
        }
        if (n >= 0)
            free(entries);
    }
    return p;
}

static void *decode_some(void *arg)
{
    photographs *p = arg;
    for (int i = p->next++; i < p->n; i = p->next++) {
        uint8_t *bytes;
        size_t size;
        gr_picture picture;
        char reason[GR__REASON_SIZE];
        if (gr__read_file(p->path[i], &bytes, &size, reason) != GR__DECODED)
            continue;
        if (gr__decode_bytes(bytes, size, &picture, reason) == GR__DECODED)
            gr__picture_free(&picture);
        free(bytes);
    }
    return NULL;
}

/* Pictures a second that the decoder alone makes of files, by so many threads. */
static moment decoder_rate(photographs *p, int threads)
{
    pthread_t others[64];
    const int more = threads < 64 ? threads - 1 : 63;
    p->next = 0;
    const moment start = now();
    for (int t = 0; t < more; t++)
        must(pthread_create(&others[t], NULL, decode_some, p) == 0, "no thread");
    decode_some(p);
    for (int t = 0; t < more; t++)
        pthread_join(others[t], NULL);
    return rate_since(start, p->n, more + 1);
}

/* Writes the set where pack_to is not NULL, which is not in the rate. */
static moment folder_rate(const char *folder, const char *pack_to)
{
    gr_context *ctx = gr_open(NULL);
    const moment start = now();
    gr_dataset *set = gr_image_folder(ctx, folder, &(gr_image_options){.height = SIDE, .width = SIDE, .allow_bad = 1});
    const moment rate = rate_since(start, (double)gr_dataset_size(set), gr_thread_count(ctx));
    check(ctx);
    must(!pack_to || gr_pack(set, pack_to), "the set cannot be packed");
    gr_close(ctx);
    return rate;
}

/*
 * Both take turns, so that what else the machine does hits both; the set is packed in the end, as that writes for long.
 * The first turn's memory is kept for the others: a virtual machine may take longer to find 240 MB than we to fill
 * them.
 */
static bool decoding(const char *folder, const char *pack_to)
{
    enum { TURNS = 9 };
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    photographs *p = list_photographs(folder);
    gr_context *ctx = gr_open(NULL);
    moment ratios[TURNS], alone[TURNS];
    must(p && p->n > 0, "no photographs");
    for (int turn = 0; turn < TURNS; turn++) {
        alone[turn] = decoder_rate(p, gr_thread_count(ctx));
        ratios[turn] = folder_rate(folder, turn == TURNS - 1 ? pack_to : NULL);
        for (int i = 0; i < CLOCKS; i++)
            ratios[turn].at[i] /= alone[turn].at[i];
    }
    char what[128];
    snprintf(what, sizeof what, "files to %dx%d, beside the decoder alone (%s, %.0f img/s)", SIDE, SIDE,
             gr_jpeg_decoder(), median(alone, TURNS, CLOCK));
    for (int i = 0; i < p->n; i++)
        free(p->path[i]);
    free(p);
    gr_close(ctx);
    return tell(what, ratios, TURNS, "x", 0.9, 0.5);
}

static bool packed(const char *path)
{
    enum { TURNS = 9 };
    moment rates[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        gr_context *ctx = gr_open(NULL);
        const moment start = now();
        gr_dataset *set = gr_packed(ctx, path, NULL);
        rates[turn] = rate_since(start, (double)gr_dataset_size(set), gr_thread_count(ctx));
        check(ctx);
        gr_close(ctx);
    }
    char what[64];
    snprintf(what, sizeof what, "a packed set of %dx%d opened, all of it checked", SIDE, SIDE);
    return tell(what, rates, TURNS, "img/s", 20000, 5000);
}

/* --- training ----------------------------------------------------------------------------------------------------- */

static bool keep_time(void *user, const gr_progress *p)
{
    *(gr_time_use *)user = p->time;
    return true;
}

static bool loader(const char *cifar)
{
    enum { TURNS = 5, SAMPLES = 8000 };
    moment shares[TURNS];
    gr_context *ctx = gr_open(NULL);
    gr_split parts = gr_cifar10(ctx, cifar);
    gr_split some = {.train = gr__dataset_range(parts.train, 0, SAMPLES)};
    gr_module *net = gr_cifar10_cnn(ctx);
    gr_optimizer *adam = gr_adam(ctx, net, NULL);
    for (int turn = 0; turn < TURNS; turn++) {
        gr_time_use use = {0};
        gr_fit(net, adam, some, &(gr_fit_options){.batch = 32, .epochs = 1, .report = keep_time, .user = &use});
        check(ctx);
        const double share = 100 * use.compute / (use.wait + use.copy + use.compute);
        shares[turn] = (moment){{share, share}};
    }
    gr_close(ctx);
    return tell("training cifar10-cnn out of memory, share that is not the loader's", shares, TURNS, "%", 98, 90);
}

static bool augmenting(void)
{
    enum { TURNS = 31, N = 2048, SIZE = 32, C = 3 };
    gr__plan plan;
    char reason[GR__PLAN_REASON], what[128];
    must(gr__plan_parse("flip,translate=4", &plan, reason), reason);
    gr_context *ctx = gr_open(NULL);
    const gr_ceilings ceilings = gr_measure_ceilings(ctx);
    gr_tensor *x = gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){N, SIZE, SIZE, C});
    gr_tensor *map = gr_tensor_new(ctx, GR_I32, 2, (int64_t[]){N, GR_MAP});
    uint8_t *levels = malloc((size_t)gr_count(x));
    int32_t *maps = malloc((size_t)gr_count(map) * sizeof *maps);
    for (int64_t i = 0; i < gr_count(x); i++)
        levels[i] = (uint8_t)(i * 2654435761 >> 7);
    for (int64_t n = 0; n < N; n++)
        gr__plan_draw(&plan, &(gr__plan_key){1, 0, n}, (int64_t[]){SIZE, SIZE}, maps + n * GR_MAP);
    must(gr_upload(x, levels) && gr_upload(map, maps), "upload");
    moment rates[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        const moment start = now();
        gr_augment(x, map, NULL);
        rates[turn] = rate_since(start, N, gr_thread_count(ctx));
        gr_step_end(ctx);
        check(ctx);
    }
    gr_close(ctx);
    free(levels);
    free(maps);
    const double copied =
        ceilings.copy / (SIZE * SIZE * C * 5); /* pictures whose 1 byte in and 4 out a value make a copy */
    const double limit = 500000 < 0.7 * copied ? 500000 : 0.7 * copied;
    snprintf(what, sizeof what, "CIFAR-10 mirrored, moved, normalised (copying alone: %.0f img/s)", copied);
    return tell(what, rates, TURNS, "img/s", limit, limit / 4);
}

int main(void)
{
#ifndef NDEBUG
    printf("skipped: a build with assertions is not what is timed\n");
    return 77;
#endif
    const char *root = getenv("GRADUS_DATA");
    char folder[PATH], cifar[PATH], pack[] = "/tmp/gradus-speed-XXXXXX.grd";
    struct stat status;
    snprintf(folder, sizeof folder, "%s/PetImages", root ? root : "");
    snprintf(cifar, sizeof cifar, "%s/cifar-10-batches-bin", root ? root : "");
    if (!root || stat(folder, &status) != 0 || stat(cifar, &status) != 0) {
        printf("skipped: GRADUS_DATA names no folder of PetImages and CIFAR-10\n");
        return 77;
    }
    const int file = mkstemps(pack, 4);
    must(file >= 0, "no temporary file");
    close(file);
    bool good = decoding(folder, pack);
    good &= packed(pack);
    unlink(pack);
    good &= loader(cifar);
    good &= augmenting();
    return good ? 0 : 1;
}
