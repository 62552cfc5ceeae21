/*
 * image_reader.h - a folder or an archive of class folders while it is decoded, by several threads.
 *
 * Which files are read never depends on the threads: in each round every class tries just as many further files as it
 * lacks images, the round is decoded in parallel, and what did not decode is made up for in the next. With per_class
 * that is the shortest run of files from the first that gives so many good images.
 */
#ifndef GRADUS_IMAGE_READER_H
#define GRADUS_IMAGE_READER_H

#include <stdatomic.h>

#include "data/formats/files.h"
#include "data/workers.h"

/* What became of a file that was tried. */
typedef struct {
    char *fault;   /* why it was left out; NULL: it was not */
    bool filtered; /* by the filter, not for want of decoding */
    int64_t size;  /* bytes */
    uint32_t crc;  /* of them: CRC-32 */
    bool turned;   /* it does not lie upright, as it says itself */
} gr_tried;

typedef struct {
    int64_t *order;      /* [files] in which they are tried */
    gr_tried *files;     /* [files] by position in order */
    int64_t first, rows; /* where in the images this class lies, and how many it may have */
    int64_t tried, good; /* so far */
} gr_class_state;

/* One file to decode. */
typedef struct {
    int class;
    int64_t position; /* in the order of its class */
    int64_t row;      /* of the images, where it goes */
    gr_decoded result;
    bool filtered; /* left out by the filter, not for want of decoding */
    int64_t size;  /* bytes of the file */
    uint32_t crc;
    bool turned; /* it does not lie upright, as it says itself */
    char reason[GR__REASON_SIZE];
} gr_task;

typedef struct {
    gr_context *ctx;
    const gr_image_options *options;
    gr_files files;
    int n_classes;
    gr_class_state *classes; /* [n_classes] */
    gr_images *images;
    gr_task *tasks; /* of a round */
    int64_t n_tasks;
    _Atomic int64_t next_task; /* that no thread has taken */
    int64_t filtered;          /* files so far that the filter left out */
    gr_workers workers;
} gr_reader;

/* The name within its class of the file that is tried at a position. */
const char *gr__reader_file(const gr_reader *r, int class, int64_t position);

/* Decodes the next round into the images. False: nothing is left to try, or recorded. */
bool gr__reader_round(gr_reader *r);

/* n rows of pixels from one place of the images to another. */
void gr__reader_move(gr_images *images, int64_t to, int64_t from, int64_t n);

/* Tells the caller of every file that was left out, and of every one that was taken; hashes the manifest. */
void gr__reader_report(gr_reader *r);

/* Whether what was read will do. False: recorded. */
bool gr__reader_check(const gr_reader *r);

#endif
