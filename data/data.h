/*
 * data.h - the public face of data/: sets of images in memory, splits, and the loader that makes batches.
 *
 * A data set holds u8 images [n, H, W, C], C 1 or 3, and i32 labels in host memory, owned by the context. Subsets share
 * the images.
 */
#ifndef GRADUS_DATA_H
#define GRADUS_DATA_H

#include "kernels/ops/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gr_dataset gr_dataset;
typedef struct gr_loader gr_loader;

/* Parts of a set; a part that is not there is NULL. */
typedef struct {
    gr_dataset *train, *val, *test;
} gr_split;

/* Which files of an image folder or archive are taken. */
typedef enum {
    GR_FILTER_DECODABLE = 0, /* those that decode; the others are left out, up to allow_bad */
    GR_FILTER_NONE,          /* all; one that does not decode is an error */
    GR_FILTER_NONZERO,       /* those that are not empty. What does not decode is then left out, up to allow_bad */
    GR_FILTER_KERAS_JFIF     /* those with "JFIF" in their first 4096 bytes, as Keras' cats-vs-dogs example; likewise */
} gr_filter;

const char *gr_filter_name(gr_filter filter);              /* "decodable", "none", "nonzero", "keras-jfif" */
bool gr_filter_named(const char *name, gr_filter *filter); /* false: there is none of that name */

typedef struct {
    int height, width; /* images are resized to this by nearest neighbour, as Keras load_img(target_size=) does */
    int per_class;     /* stop after so many good images of each class, in numeric file order; 0: all */
    gr_filter filter;
    /*
     * Keep no pixels, only which files: each is decoded whenever a batch wants it. All are decoded once when the set is
     * opened, to see that they can be: the set is the same either way.
     */
    bool decode_late;
    int64_t memory;      /* the most bytes that the images may take otherwise; 0: three quarters of the machine's */
    double allow_bad;    /* largest share of files that may fail to decode; 0: 0.01; 1: any */
    uint64_t split_seed; /* 0: numeric file order; else the files of each class are permuted by it first */
    /* Told, once all are read and in their order, of each file that was left out (CLASS/NAME) and why. NULL: quiet. */
    void (*skipped)(void *user, const char *file, const char *reason);
    /*
     * Told of each file that was taken, in order: its line of the manifest, "CLASS/NAME BYTES CRC-32\n", control
     * characters and backslashes of the names as \xNN. NULL: quiet.
     */
    void (*taken)(void *user, const char *line);
    /*
     * Told of each file that was taken, in order, whose Exif tag says that it does not lie upright (CLASS/NAME): pixels
     * are taken as they are stored. NULL: quiet.
     */
    void (*turned)(void *user, const char *file);
    void *user;
} gr_image_options;

/*
 * Images (.jpg .jpeg .png) in one folder per class, classes in alphabetical order: root/Cat/0.jpg ... Decoded by the
 * context's threads. Other files (Thumbs.db) are passed over. Files that do not decode are skipped, counted and
 * reported. root may also be a .zip, .tar or .tar.gz that holds such folders, all in one folder: it is read as it is.
 */
gr_dataset *gr_image_folder(gr_context *ctx, const char *root, const gr_image_options *options);

/*
 * Pictures by their paths, in that order, resized likewise; of no known class: every label is 0. Of options height,
 * width, turned and skipped count, which is told path and reason of each file that is missing or does not decode; the
 * others make up the set. With skipped NULL one such file is an error, as is a list of nothing else. So is, in any
 * case, a file that is there and that the system cannot read: GR_IO_ERROR.
 */
gr_dataset *gr_image_files(gr_context *ctx, int n, const char *const *paths, const gr_image_options *options);

/*
 * Writes a set as one file, pixels as they are stored, class by class: decoded once, opened at the speed of memory. The
 * file appears whole or not at all. False: recorded, or set is NULL.
 */
bool gr_pack(const gr_dataset *set, const char *path);

typedef struct {
    int per_class;       /* stop after so many images of each class; 0: all */
    uint64_t split_seed; /* 0: as packed; else permuted just as gr_image_folder permutes the files */
} gr_packed_options;

/*
 * Opens a file of gr_pack: mapped, not read into memory, and checked whole. Pictures, order and manifest are those of
 * the set it was made of; with options, those that the same options of gr_image_folder would have given. options NULL:
 * all.
 */
gr_dataset *gr_packed(gr_context *ctx, const char *path, const gr_packed_options *options);

/*
 * What decodes JPEGs: "libjpeg-turbo" where the library was built with it, else or where GRADUS_JPEG=stb_image is in
 * the environment "stb_image". Their pixels differ by rounding, and so do the hashes of sets and the losses of
 * trainings. With another name there gr_image_folder and gr_image_files fail with GR_USAGE.
 */
const char *gr_jpeg_decoder(void);

/*
 * CIFAR-10, binary version: the folder cifar-10-batches-bin, the folder that holds it, or cifar-10-binary.tar.gz as it
 * is. train 50,000, test 10,000, val NULL.
 */
gr_split gr_cifar10(gr_context *ctx, const char *path);

/*
 * Sets in the format of MNIST: the files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
 * t10k-labels-idx1-ubyte in a folder, or in a folder raw below it; as they are or .gz, also spelled with a dot
 * (train-images.idx3-ubyte). Images have one channel, classes are named by their label. train and test, val NULL.
 */
gr_split gr_idx(gr_context *ctx, const char *folder);

/*
 * A built-in set of two classes drawn by formula from (seed, image number): no photographs, learnable, any size. n
 * images, classes alternate. In a context that only plans (plan_only) built-in sets have their size and no content.
 */
gr_dataset *gr_procedural(gr_context *ctx, int64_t n, int height, int width, uint64_t seed);

/* The red of those pictures alone: one channel. */
gr_dataset *gr_procedural_grey(gr_context *ctx, int64_t n, int height, int width, uint64_t seed);

/*
 * A built-in set that is no images: n rows of real features, at least 2, in [-2, 2], of shape [1, features, 1]. Two
 * classes that alternate, told apart by the first two features; the formula and its limits stand in
 * data/formats/synthetic_rows.c.
 */
gr_dataset *gr_table_classes(gr_context *ctx, int64_t n, int features, uint64_t seed);

/*
 * Takes per class the first train images, the next val, the next test; an error if a class has fewer. 0: that part is
 * NULL. A part holds its classes in turn: cat, dog, cat, dog, ...
 */
gr_split gr_split_per_class(gr_dataset *set, int64_t train, int64_t val, int64_t test);

/*
 * Takes of each class, in the set's order, the share test for the test (so it does not depend on val), then the share
 * val for validation, and trains on the rest: whole images, rounded, at least one in each part that is asked for. A
 * share of 0: that part is NULL. A part holds its classes in turn as long as they last. An error if a class is too
 * small.
 */
gr_split gr_split_by_share(gr_dataset *set, double val, double test);

/* The samples of a set whose numbers are given, in that order; images are shared, picks is copied. NULL: recorded. */
gr_dataset *gr_dataset_select(gr_dataset *set, int64_t n, const int64_t *picks);

/* Which image of the set that was read sample i is, from 0 in the order it was read in; -1: there is no such sample. */
int64_t gr_dataset_row(const gr_dataset *set, int64_t i);

int64_t gr_dataset_size(const gr_dataset *set); /* 0 for NULL */
int gr_dataset_classes(const gr_dataset *set);
const char *gr_dataset_class_name(const gr_dataset *set, int i);
void gr_dataset_shape(const gr_dataset *set, int64_t shape[3]); /* H, W, C of its batches */
int64_t gr_dataset_skipped(const gr_dataset *set);              /* files left out when it was read */
const char *
gr_dataset_manifest(const gr_dataset *set); /* SHA-256 of its manifest, 64 hex digits; "": not made of image files */
const uint8_t *gr_dataset_image(const gr_dataset *set,
                                int64_t i); /* H*W*C bytes, as stored: not resized. NULL: decoded late */
int gr_dataset_label(const gr_dataset *set, int64_t i);

/* Batches of this set, and of every part of it made later, are resized by nearest neighbour when they are made. */
bool gr_dataset_resize(gr_dataset *set, int height, int width);

/* How u8 becomes real: (x/255 - mean) / std. NULL: x/255. Holds for this set and every part of it made later. */
void gr_dataset_normalise(gr_dataset *set, const gr_normalise_args *args);

/*
 * The set with an augmentation: its batches are drawn by the plan, anew in each epoch, keyed by (seed, epoch, sample),
 * so that a sample looks the same whatever the batch size, the device and the number of threads. The plan is words with
 * commas between them, in the order in which they happen to a picture:
 *
 *   flip flip=alternate flip=always   mirrored left to right: by chance; by chance, then in turn epoch by epoch; always
 *   translate=4                       moved by up to 4 whole pixels each way
 *   shift=1:-2                        moved by 1 pixel down and 2 to the left
 *   rotate=15 shear=10                turned, slanted by up to so many degrees; rotate=5..10: from 5 to 10
 *   scale=0.9..1.1                    enlarged around the middle
 *   resize=250 crop=200               sides (or HxW); the crop is anywhere; crop=200@center, crop=200@ROW:COLUMN: there
 *   cutout=16                         a square of 16 x 16 pixels is 0 after normalisation (DeVries and Taylor 2017)
 *   fill=zero|edge|reflect            what is seen outside the picture (default: zero, black)
 *   filter=nearest|bilinear|bicubic|bicubic-resize   see gr_resampling (default: bilinear)
 *   double                            the set twice: its samples as they are, then the same augmented
 *
 * "" and "none" are no augmentation. The images are shared. NULL: recorded.
 */
gr_dataset *gr_augmented(gr_dataset *set, const char *plan);

/*
 * The set for evaluation of a network trained with that plan: only the plan's resizes and crops, drawn crops in the
 * middle.
 */
gr_dataset *gr_augmented_for_evaluation(gr_dataset *set, const char *plan);

/* Whether text is a plan. False: recorded, naming the word and the cure. NULL is one. */
bool gr_augmentation_check(gr_context *ctx, const char *plan);
bool gr_augmentation_doubles(const char *plan); /* whether it says double */

/*
 * 16 hex digits over shape, labels and pixels, in order; written into text (17 bytes). The same pictures, the same
 * hash. "" for a set that is decoded late.
 */
void gr_dataset_hash(const gr_dataset *set, char text[17]);

typedef enum {
    GR_KEEP = 0, /* the last batch of an epoch may be short */
    GR_DROP,     /* it is left out */
    GR_PAD,      /* it is filled with samples of weight 0 */
    GR_WRAP      /* it is filled from the epoch's start */
} gr_last_batch;

typedef enum {
    GR_SHUFFLED = 0, /* a new order each epoch, keyed by (seed, epoch) */
    GR_IN_ORDER      /* the set's own, in every epoch */
} gr_order;

typedef struct {
    int64_t batch; /* samples in a batch, at least 1, at most the set's size unless padding */
    gr_order order;
    gr_last_batch last;
    int64_t epoch;       /* epochs that another loader of this run has begun before: their orders are not taken again */
    int64_t skip;        /* batches of the first epoch that another loader has given out, and this one leaves out */
    int64_t micro_batch; /* the most rows that are given out at a time: a larger batch comes in pieces; 0: batch */
    /*
     * Threads that fill batches ahead; 0: up to 8 where a GPU computes, else none; GR_NO_WORKERS: none, each batch is
     * filled by the context's threads when it is asked for. The batches are the same.
     */
    int workers;
    int prefetch;   /* batches that workers may be ahead; 0: 2 */
    bool on_device; /* the set's pictures are brought to the device, and batches made there of indices */

    /*
     * Every batch is cut into so many shards, a power of two up to 256; 0: 1. Of a batch of n rows the first n mod
     * shards have one row more than the others, so that empty ones are the last. No piece reaches over a shard's end.
     */
    int shards;
    /*
     * Of so many ranks, a power of two up to shards (0: 1), the loader of each reads and gives out its own shards
     * alone: those from rank * shards / ranks on, as many as all others.
     */
    int rank, ranks;
} gr_loader_options;

enum { GR_NO_WORKERS = -1, GR_MAX_WORKERS = 256, GR_MAX_PREFETCH = 1024, GR_MAX_SHARDS = 256 };

typedef struct {
    gr_tensor *x;      /* real [n, H, W, C], normalised; lives until gr_step_end */
    gr_tensor *y;      /* i32 [n]; overwritten by the next gr_loader_next */
    gr_tensor *weight; /* real [n]; NULL unless the policy is GR_PAD */
    int64_t n;         /* rows, padding included */
    int64_t samples;   /* rows that count */
    bool first, last;  /* of its batch's pieces; both where it is the whole batch; last: of the rank's own */
    int classes;       /* of the set: labels are below; 0: not known */
    int64_t row;       /* of the batch, with which it begins */
    int shard;         /* that it lies in, from 0 */
    bool shard_last;   /* the shard's last piece */
    int64_t whole;     /* samples of the whole batch that count, whoever's they are */
    int shards;        /* of the whole batch that have some of them */
} gr_batch;

gr_loader *gr_loader_open(gr_dataset *set, const gr_loader_options *options);

void gr_loader_close(gr_loader *loader); /* gives its buffers back before gr_close would; NULL is fine */

/*
 * Fills batch with the next batch of the epoch, or the next piece of one. False at the end of the epoch (the next call
 * starts another) and on error. The weight of the update (gr_set_update_weight) is that of the whole batch, so the
 * gradients of its pieces add up to the batch's own. A batch of which no row is this rank's is one piece of no rows
 * (n 0, x NULL): the rank takes part in the update all the same.
 */
bool gr_loader_next(gr_loader *loader, gr_batch *batch);

/* The next piece is the first of the batch under way once more: for optimizers that go over a batch several times. */
void gr_loader_again(gr_loader *loader);

int64_t gr_loader_batch(const gr_loader *loader);       /* rows of a full batch */
int64_t gr_loader_micro_batch(const gr_loader *loader); /* rows of a full piece */
int64_t gr_loader_batches(const gr_loader *loader);     /* batches in an epoch */
int gr_loader_workers(const gr_loader *loader);         /* threads that fill batches ahead; 0: none */
int gr_loader_prefetch(const gr_loader *loader);        /* batches that they may be ahead */

typedef struct {
    double wait;    /* seconds that gr_loader_next has waited for a batch to be filled, or filled it itself */
    double copy;    /* and copied it to the device */
    double making;  /* that threads have spent in filling batches, all of them together */
    double reading; /* of these, in reading files */
} gr_loader_time;
gr_loader_time gr_loader_seconds(const gr_loader *loader); /* since it was opened */
int64_t gr_loader_epoch(const gr_loader *loader);          /* epochs begun so far */

/* A batch of n rows whose shapes are right and whose contents mean nothing: for dry runs. */
bool gr_loader_dry(gr_loader *loader, int64_t n, gr_batch *batch);

#ifdef __cplusplus
}
#endif
#endif
