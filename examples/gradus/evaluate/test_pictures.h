/* test_pictures.h - what a network is tested with: pictures that it has not been trained on, and their names. */
#ifndef GRADUS_TEST_PICTURES_H
#define GRADUS_TEST_PICTURES_H

#include "sources/source.h"
#include "sources/turned.h"
#include "train/weights_file.h"

typedef struct {
    gr_dataset *plain; /* not augmented */
    gr_dataset *set;   /* as the network sees them when it is evaluated */
    const char *data;  /* what the set is called */
    int64_t found;     /* pictures that were there */
    int64_t left_out;  /* of these, trained on or chosen by */
    bool known;        /* whether that could be told */
    int *classes;      /* the network's class of each of the set's; NULL: the same */
    char **names;      /* of the files that were there, in order; NULL: they have none */
    int64_t n_names, room;
    file_sums sums;      /* of the same files */
    turned turned;       /* of them: do not lie upright */
    bool lost;           /* memory has run out */
    const char *command; /* that asks for them */
} test_pictures;

/*
 * The pictures of the run's data: of a folder or an archive all that the weights' notes do not name as seen, and of a
 * folder with parts of its own those of test or val; of other sets their test part. Returns 0 or an exit code,
 * complained of; test_pictures_close is due all the same.
 */
int test_pictures_open(gr_context *ctx, const resolved *s, const weights_notes *notes, const char *command,
                       test_pictures *t);
void test_pictures_close(test_pictures *t);

/* The network's class for sample i. */
int test_pictures_label(const test_pictures *t, int64_t i);

/* A name of sample i, into text where it has none of its own. */
const char *test_pictures_name(const test_pictures *t, int64_t i, char text[32]);

#endif
