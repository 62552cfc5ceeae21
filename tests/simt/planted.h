/*
 * planted.h - kernels with a planted bug, each beside its correct twin: template <bool right> is the one text of both.
 */
#ifndef GRADUS_TESTS_SIMT_PLANTED_H
#define GRADUS_TESTS_SIMT_PLANTED_H

#include <stdbool.h>
#include <stddef.h>

/* Who can see a bug. */
enum {
    EVERYWHERE = 1,   /* a report of the emulator in every build */
    IN_CHECK = 2,     /* a report in the check build */
    BY_ASAN = 4,      /* AddressSanitizer or UndefinedBehaviorSanitizer */
    IN_RESULT = 8,    /* else, a wrong result in every order */
    BY_CHANCE = 16,   /* else, a wrong result in some order */
    OR_REPORTED = 32, /* else, a report of the emulator in some order is right, too */
};

typedef struct {
    const char *name, *file;
    int first, last;         /* lines of the kernel and what it calls: a report names one of them */
    const char *kernel;      /* <false> where it says nothing else */
    bool (*run)(bool right); /* launches; whether the result is as it should be */
    int seen;
    const char *report; /* how it begins */
} planted;

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory of its exact size, registered and filled with i = 0, 1, 2, ...; NULL ends the test. */
float *floats(size_t count);

int check_counts(void); /* counts.cu */

extern const planted of_barriers[], of_races[], of_bounds[], of_warps[], of_copies[], of_tiles[], of_products[],
    of_launches[], of_queues[]; /* to name NULL */

#ifdef __cplusplus
}
#endif

/* PLANT(early_return, ...) behind kernel early_return<right> and its bool run_early_return(bool right). */
#define BEGINS(name) enum { name##_begins = __LINE__ };
#define ENDS(name) enum { name##_ends = __LINE__ };
#define PLANT_IN(file, name, seen, report)                                       \
    {                                                                            \
#name, file, name##_begins, name##_ends, #name, run_##name, seen, report \
    }
#define PLANT(name, seen, report) PLANT_IN(__FILE__, name, seen, report)
#define NO_MORE                               \
    {                                         \
        NULL, NULL, 0, 0, NULL, NULL, 0, NULL \
    }

/* Launches kernel<true> or kernel<false>. */
#define RUN(kernel, right, grid, block, ...)                               \
    do {                                                                   \
        if (right)                                                         \
            GR_LAUNCH((kernel<true>), grid, block, 0, NULL, __VA_ARGS__);  \
        else                                                               \
            GR_LAUNCH((kernel<false>), grid, block, 0, NULL, __VA_ARGS__); \
    } while (0)

#endif
