/* pack.c - writes a data set as one packed file; format in packed.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/whole_file.h"
#include "data/dataset.h"
#include "data/formats/packed.h"

/* A sample of the set on its way into the file. */
typedef struct {
    int32_t label;
    int64_t place, sample;
} gr_sample;

typedef struct {
    gr_context *ctx;
    const gr_dataset *set;
    gr_sample *samples; /* [set->n] in the file's order */
    int64_t *files;     /* [classes] */
    uint8_t *tables;    /* header and tables, to where the pixels begin */
    int64_t class_bytes, tables_end, pixels;
} gr_packer;

static int by_label_and_place(const void *a, const void *b)
{
    const gr_sample *s = a, *t = b;
    if (s->label != t->label)
        return s->label < t->label ? -1 : 1;
    return s->place < t->place ? -1 : s->place > t->place;
}

/* Which file of its class each sample was; in a set that was not made of files, the how-manieth of its class it is. */
static bool order_samples(gr_packer *p)
{
    const gr_dataset *set = p->set;
    p->samples = gr__host_alloc(p->ctx, set->n, sizeof *p->samples, "the order of a packed set");
    p->files = gr__calloc(p->ctx, (size_t)set->images->classes, sizeof *p->files);
    if (!p->samples || !p->files)
        return false;
    for (int64_t i = 0; i < set->n; i++) {
        int64_t row = gr__row(set, i);
        int32_t label = set->images->labels[row];
        int64_t place = set->images->places ? set->images->places[row] : p->files[label]++;
        p->samples[i] = (gr_sample){.label = label, .place = place, .sample = i};
    }
    for (int c = 0; set->images->files && c < set->images->classes; c++)
        p->files[c] = set->images->files[c];
    qsort(p->samples, (size_t)set->n, sizeof *p->samples, by_label_and_place);
    for (int64_t i = 1; i < set->n; i++)
        if (by_label_and_place(&p->samples[i - 1], &p->samples[i]) == 0)
            return gr__fail(p->ctx, GR_USAGE,
                            "gr_pack wants every picture once; this set holds one twice, as doubled sets do");
    return true;
}

static bool lay_out(gr_packer *p)
{
    const gr_images *images = p->set->images;
    for (int c = 0; c < images->classes; c++)
        if (!gr__packed_name(images->names[c], strlen(images->names[c])))
            return gr__fail(p->ctx, GR_BAD_DATA,
                            "class number %d has a name that cannot be packed: more than 255 bytes, a "
                            "control character or a slash in it; rename its folder",
                            c);
    for (int c = 0; c < images->classes; c++)
        p->class_bytes += GR__PACKED_CLASS + (int64_t)strlen(images->names[c]);
    p->class_bytes = gr__round_up(p->class_bytes, 8);
    p->tables_end = GR__PACKED_HEADER + p->class_bytes + p->set->n * GR__PACKED_IMAGE;
    p->pixels = gr__round_up(p->tables_end, GR__PACKED_ALIGN);
    p->tables = gr__calloc(p->ctx, 1, (size_t)p->pixels);
    return p->tables;
}

static void fill_tables(gr_packer *p)
{
    const gr_images *images = p->set->images;
    uint8_t *at = p->tables + GR__PACKED_HEADER;
    for (int c = 0; c < images->classes; c++) {
        size_t length = strlen(images->names[c]);
        gr__put_le(at, (uint64_t)p->files[c], 8);
        gr__put_le(at + 8, length, 4);
        memcpy(at + GR__PACKED_CLASS, images->names[c], length);
        at += GR__PACKED_CLASS + length;
    }
    at = p->tables + GR__PACKED_HEADER + p->class_bytes;
    for (int64_t i = 0; i < p->set->n; i++, at += GR__PACKED_IMAGE) {
        gr__put_le(at, (uint64_t)p->samples[i].label, 4);
        gr__put_le(at + 8, (uint64_t)p->samples[i].place, 8);
        gr__put_le(at + 16, gr__checksum(gr_dataset_image(p->set, p->samples[i].sample), gr__image_bytes(images)), 8);
    }
}

static void fill_header(gr_packer *p)
{
    const gr_images *images = p->set->images;
    uint8_t *h = p->tables;
    const int64_t shape[4] = {images->height, images->width, images->channels, images->classes};
    memcpy(h, gr__packed_magic, sizeof gr__packed_magic);
    gr__put_le(h + GR__PACKED_VERSION_AT, GR__PACKED_VERSION, 4);
    gr__put_le(h + GR__PACKED_CLASS_BYTES_AT, (uint64_t)p->class_bytes, 4);
    gr__put_le(h + GR__PACKED_N_AT, (uint64_t)p->set->n, 8);
    for (int i = 0; i < 4; i++)
        gr__put_le(h + GR__PACKED_SHAPE_AT + 4 * i, (uint64_t)shape[i], 4);
    gr__put_le(h + GR__PACKED_FILE_BYTES_AT, (uint64_t)(p->pixels + p->set->n * gr__image_bytes(images)), 8);
    memcpy(h + GR__PACKED_MANIFEST_AT, images->manifest, GR__PACKED_MANIFEST_SIZE);
    gr__put_le(h + GR__PACKED_TABLES_SUM_AT, gr__checksum(h + GR__PACKED_HEADER, p->tables_end - GR__PACKED_HEADER), 8);
    gr__put_le(h + GR__PACKED_HEADER_SUM_AT, gr__checksum(h, GR__PACKED_HEADER_SUM_AT), 8);
}

static bool write_all(const gr_packer *p, FILE *f)
{
    size_t bytes = (size_t)gr__image_bytes(p->set->images);
    bool good = fwrite(p->tables, 1, (size_t)p->pixels, f) == (size_t)p->pixels;
    for (int64_t i = 0; good && i < p->set->n; i++)
        good = fwrite(gr_dataset_image(p->set, p->samples[i].sample), 1, bytes, f) == bytes;
    return good;
}

static bool write_file(const gr_packer *p, const char *path)
{
    gr_whole_file w;
    return gr__whole_file_open(p->ctx, &w, path) && gr__whole_file_close(&w, write_all(p, w.file));
}

bool gr_pack(const gr_dataset *set, const char *path)
{
    if (!set || !gr_ok(set->ctx))
        return false;
    if (!path || !*path)
        return gr__fail(set->ctx, GR_USAGE, "gr_pack wants the path of the file to write");
    if (!set->images->pixels)
        return gr__fail(set->ctx, GR_USAGE, "gr_pack wants a set that is in memory; this one is decoded late");
    gr_packer p = {.ctx = set->ctx, .set = set};
    bool good = order_samples(&p) && lay_out(&p);
    if (good) {
        fill_tables(&p);
        fill_header(&p);
        good = write_file(&p, path);
    }
    free(p.samples);
    free(p.files);
    free(p.tables);
    return good;
}
