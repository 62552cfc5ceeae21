/* fit_state.c - see fit_state.h: when a run of gr_fit is kept, and where it goes on. */
#include "optim/training/fit_state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/clock.h"
#include "optim/training/fit_ranks.h"
#include "optim/training/fit_record.h"

/* Whether a checkpoint is due behind this update: asked for, or there will be no other one. */
static bool is_due(const gr_fit_run *f)
{
    const gr_checkpoints *o = f->o->checkpoints;
    return (!f->within && !o->no_epochs) || f->result.stopped || (o->every > 0 && f->p.update % o->every == 0) ||
           (o->every_seconds > 0 && gr__seconds() - f->kept_at >= o->every_seconds);
}

/* The first best one stays. */
static bool is_best(const gr_fit_run *f)
{
    return !f->within && !f->o->checkpoints->no_epochs && f->result.val.samples > 0 &&
           (f->best_update == 0 || f->result.val.accuracy > f->best);
}

bool gr__fit_state_keep(gr_fit_run *f)
{
    char path[GR__CHECKPOINT_PATH];
    if (!f->o->checkpoints || !gr_ok(f->ctx) || !is_due(f))
        return gr_ok(f->ctx);
    f->left = f->result.stopped && f->within;
    if (!gr__fit_leads(f))
        return true;
    if (f->readings.last.samples < f->p.samples) { /* numbers that have gone bad are not for going on from */
        gr__readings_read(&f->readings, &f->p);
        gr__readings_check(&f->readings, &f->p);
    }
    if (!gr_ok(f->ctx))
        return false;
    if (is_best(f)) {
        f->best = f->result.val.accuracy;
        f->best_update = f->p.update;
        gr__checkpoint_best_path(&f->folder, path);
        if (!gr__fit_record_write(f, path))
            return false;
    }
    gr__checkpoint_path(&f->folder, f->p.update, path);
    if (!gr__fit_record_write(f, path))
        return false;
    gr__checkpoint_folder_thin(&f->folder, f->p.update);
    f->kept_at = gr__seconds();
    return true;
}

/* The loader, at the batch behind the last one that was trained on. False: recorded. */
static bool move_loader(gr_fit_run *f)
{
    const int64_t index = f->within ? f->p.epoch - 1 : f->p.epoch; /* of the epoch to come, or under way */
    gr_batch_stage stage = gr__stage(&f->stages, 0);
    for (int i = 1; i < gr__stage_count(&f->stages); i++)
        if (gr__stage(&f->stages, i).epoch <= index)
            stage = gr__stage(&f->stages, i);
    stage.epoch = index;
    return gr__fit_open_loader(f, stage, f->within ? f->p.batch_in_epoch : 0);
}

static bool go_on_from(gr_fit_run *f, const char *path, const gr_safetensors *file)
{
    const gr_checkpoints *o = f->o->checkpoints;
    if (!gr__checkpoint_restore(f->trainer.opt, file) || !gr__fit_record_take(f, path, file) || !move_loader(f))
        return false;
    const char *note = gr__checkpoint_note(f->ctx, file);
    if (note && o->resumed && !o->resumed(o->user, &f->p, path, note))
        return gr__fail(f->ctx, GR_BAD_DATA, "%s: the program cannot go on from its own note in this checkpoint", path);
    return note;
}

/* Reads the last checkpoint that is sound; those that are not are told of and set aside. False: recorded. */
static bool read_last(gr_fit_run *f, const gr_checkpoint *c, gr_safetensors *file, int64_t *update,
                      char path[GR__CHECKPOINT_PATH])
{
    const gr_checkpoints *o = f->o->checkpoints;
    for (*update = INT64_MAX; gr__checkpoint_folder_last(&f->folder, *update, update) && *update >= 0;) {
        gr__checkpoint_path(&f->folder, *update, path);
        if (gr__checkpoint_read(f->trainer.opt, path, c, file))
            return true;
        if (gr_error_code(f->ctx) != GR_BAD_DATA)
            return false;
        if (o->told)
            o->told(o->user, gr_error_text(f->ctx));
        gr_clear_error(f->ctx);
        gr__checkpoint_set_aside(&f->folder, *update);
    }
    return gr_ok(f->ctx);
}

/* The last one that rank 0 finds sound, on all ranks. */
static bool read_one(gr_fit_run *f, const gr_checkpoint *c, gr_safetensors *file, int64_t *update,
                     char path[GR__CHECKPOINT_PATH])
{
    *update = -1;
    if (gr__fit_leads(f) && !read_last(f, c, file, update, path))
        return false;
    if (!gr__fit_ranks_share(f, update)) {
        if (gr__fit_leads(f) && *update >= 0)
            gr__safetensors_free(file);
        return false;
    }
    if (gr__fit_leads(f) || *update < 0)
        return true;
    gr__checkpoint_path(&f->folder, *update, path);
    return gr__checkpoint_read(f->trainer.opt, path, c, file);
}

bool gr__fit_state_resume(gr_fit_run *f)
{
    const gr_checkpoints *o = f->o->checkpoints;
    char path[GR__CHECKPOINT_PATH];
    gr_safetensors file;
    gr_fit_settings settings;
    int64_t update;
    f->kept_at = gr__seconds();
    if (!o || !o->resume)
        return gr_ok(f->ctx);
    if (!gr__fit_settings_open(f, &settings))
        return false;
    const gr_checkpoint c = {.settings = settings.list, .n_settings = settings.n};
    bool good = read_one(f, &c, &file, &update, path);
    free(settings.list);
    if (good && update >= 0) {
        good = go_on_from(f, path, &file);
        gr__safetensors_free(&file);
    }
    return good;
}

static bool check(gr_context *ctx, const gr_checkpoints *o)
{
    if (!o->folder || !*o->folder)
        return gr__fail(ctx, GR_USAGE, "gr_fit: checkpoints want a folder; it is %s", o->folder ? "empty" : "NULL");
    return (o->every >= 0 && o->every_seconds >= 0 && o->keep >= 0) ||
           gr__fail(ctx, GR_USAGE, "gr_fit: checkpoints every %" PRId64 " updates or %g seconds, %d kept; at least 0",
                    o->every, o->every_seconds, o->keep);
}

bool gr__fit_state_open(gr_fit_run *f)
{
    const gr_checkpoints *o = f->o->checkpoints;
    int64_t update;
    f->folder.lock = -1;
    if (!o)
        return gr_ok(f->ctx);
    if (!gr__fit_leads(f)) {
        f->folder.path = o->folder;
        return check(f->ctx, o);
    }
    if (!check(f->ctx, o) || !gr__checkpoint_folder_open(&f->folder, f->ctx, o->folder, o->keep) ||
        !gr__checkpoint_folder_last(&f->folder, INT64_MAX, &update))
        return false;
    return o->resume || update < 0 ||
           gr__fail(
               f->ctx, GR_USAGE,
               "the folder %s holds checkpoints of an earlier run: go on with it (resume), or choose another folder",
               o->folder);
}

void gr__fit_state_close(gr_fit_run *f)
{
    gr__checkpoint_folder_close(&f->folder);
}
