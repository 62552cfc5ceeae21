/* row.c - see row.h. */
#include "train/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "terminal/build.h"
#include "terminal/json_values.h"
#include "terminal/system.h"
#include "train/target.h"

const char *row_state(gr_code code)
{
    switch (code) {
    case GR_OK:
        return "done";
    case GR_STOPPED:
        return "stopped";
    case GR_NO_MEMORY:
        return "out of memory";
    case GR_NUMERIC:
        return "numbers went bad";
    default:
        return "failed";
    }
}

static void put(json_t *row, const char *key, json_t *value)
{
    json_object_set_new(row, key, value ? value : json_null());
}

static void put_text(json_t *row, const char *key, const char *text)
{
    put(row, key, text ? json_plain(text) : NULL);
}

static void put_real(json_t *row, const char *key, double x)
{
    put(row, key, json_real_or_null(x));
}

static void put_metrics(json_t *row, const char *loss, const char *accuracy, const gr_metrics *m)
{
    put_real(row, loss, m->samples > 0 ? m->loss : NAN);
    put_real(row, accuracy, m->samples > 0 ? m->accuracy : NAN);
}

/* 1 and 0 without a loss scale. */
static void put_scale(json_t *row, double scale, int64_t skipped, bool known)
{
    put_real(row, "loss_scale", known ? scale : NAN);
    put(row, "skipped_updates", known ? json_integer(skipped) : NULL);
}

static void put_classes(json_t *row, const char *const keys[3], const gr_metrics *m)
{
    const bool there = m->samples > 0;
    put_real(row, keys[0], there ? m->precision : NAN);
    put_real(row, keys[1], there ? m->recall : NAN);
    put_real(row, keys[2], there ? m->f1 : NAN);
}

/* Row: the label, column: the answer. Whole numbers, as every sample counts once. */
static void put_confusion(json_t *row, const char *key, const gr_metrics *m)
{
    json_t *matrix = m->confusion ? json_array() : NULL;
    for (int i = 0; matrix && i < m->classes; i++) {
        json_t *line = json_array();
        for (int j = 0; j < m->classes; j++)
            json_array_append_new(line, json_integer((json_int_t)m->confusion[i * m->classes + j]));
        json_array_append_new(matrix, line);
    }
    put(row, key, matrix);
}

/* Shares of the time, and what to do about them. */
static void put_time_use(json_t *row, const gr_time_use *t)
{
    const double whole = t->wait + t->copy + t->compute + t->evaluate;
    put_real(row, "waiting", t->wait / whole); /* a run that has not begun: 0/0, null */
    put_real(row, "copying", t->copy / whole);
    put_real(row, "computing", t->compute / whole);
    put_real(row, "evaluating", t->evaluate / whole);
}

/* "weight-decay" is the key "weight_decay". */
static const char *key_of(const char *option_name, char key[64])
{
    snprintf(key, 64, "%s", option_name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return key;
}

/*
 * What another optimizer takes is 0 where 0 is a choice of its own (an amount, a flag), else null, as is a usual
 * value.
 */
static json_t *parameter_value(const option *o, bool taken, double x)
{
    const json_int_t whole = (json_int_t)x;
    switch (o->type) {
    case OPTION_FLAG:
        return json_boolean(x > 0);
    case OPTION_AMOUNT:
        return json_real(x);
    case OPTION_CHOICE:
        return taken ? json_string(name_at(o->names, (int)whole)) : NULL;
    case OPTION_COUNT:
        return x > 0 ? json_integer(whole) : NULL;
    default:
        return x > 0 ? json_real(x) : NULL;
    }
}

/* Parameters that several optimizers share, or those of one alone. */
static void put_parameters(json_t *row, const resolved *s, bool shared)
{
    char key[64];
    for (const option *o = parameter_options(); o->name; o++) {
        const int place = optimizer_takes(s->optimizer, o->name);
        if ((optimizers_taking(o->name) > 1) == shared)
            put(row, key_of(o->name, key), parameter_value(o, place >= 0, place >= 0 ? s->parameters[place] : 0));
    }
}

static void put_schedule(json_t *row, const resolved *s)
{
    put_text(row, "lr_schedule", lr_schedule_names[s->schedule.kind]);
    put(row, "lr_every",
        s->schedule.every ? json_integer(s->schedule.every) : NULL); /* null: not a schedule of steps */
    put_real(row, "lr_gamma", s->schedule.gamma > 0 ? s->schedule.gamma : NAN);
}

static void put_batch(json_t *row, const resolved *s)
{
    const int64_t shards = s->asked.shards ? s->asked.shards : 1, micro = resolved_micro_batch(s);
    put(row, "batch", json_integer(s->batch));
    put(row, "micro_batch", json_integer(micro));
    put(row, "accumulate", json_integer((s->batch + micro - 1) / micro));
    put_text(row, "batch_schedule", s->asked.batch_schedule); /* null: one batch size */
    put(row, "shards", json_integer(shards));
    put_text(row, "batch_norm", shards > 1 ? batch_norm_names[s->asked.batch_norm.value] : NULL); /* null: one shard */
}

static void put_run(json_t *row, const result *r)
{
    const resolved *s = r->run;
    put_text(row, "recipe", s->recipe->name);
    put_text(row, "data", r->data);
    put_text(row, "data_hash", r->data_hash && *r->data_hash ? r->data_hash : NULL);
    put_text(row, "device", r->device);
    put_text(row, "isa", r->isa);
    put(row, "threads", r->threads > 0 ? json_integer(r->threads) : NULL);
    put(row, "ranks", json_integer(s->asked.ranks ? s->asked.ranks : 1));
    put_text(row, "precision", r->precision);
    put_text(row, "optimizer", s->optimizer->name);
    put_real(row, "lr", s->lr);
    put_parameters(row, s, true);
    put_schedule(row, s);
    put_text(row, "model", s->asked.model); /* null: the recipe's own */
    put_text(row, "augment", s->augment);
    put_batch(row, s);
    put_real(row, "lr_min", s->schedule.lr_min);
    put_real(row, "warm_up", s->schedule.warm_up);
    put_text(row, "lr_rule", lr_rule_names[s->asked.lr_rule.value]);
    put(row, "base_batch", s->base_batch ? json_integer(s->base_batch) : NULL);
    put_real(row, "clip_norm", s->asked.clip_norm.value > 0 ? s->asked.clip_norm.value : NAN); /* null: not clipped */
    put(row, "decay_weights_only", json_boolean(s->asked.decay_weights_only));
    put_text(row, "freeze", s->asked.freeze); /* null: all is trained */
    put(row, "freeze_statistics", json_boolean(s->asked.freeze_statistics));
    put_real(row, "head_lr", s->asked.head_lr > 0 ? s->asked.head_lr : NAN); /* null: as the others' */
    put_real(row, "ema", s->asked.ema.value > 0 ? s->asked.ema.value : NAN); /* null: the weights themselves */
    put_real(row, "label_smoothing", s->asked.label_smoothing.value > 0 ? s->asked.label_smoothing.value : NAN);
    put_text(row, "lr_scale", s->asked.lr_scale);         /* null: one rate */
    put_text(row, "freeze_after", s->asked.freeze_after); /* null: none is frozen within the run */
    put_text(row, "lookahead", s->lookahead.every > 0 ? s->asked.lookahead : NULL);
    put_text(row, "whiten", s->asked.whiten); /* null: all is drawn */
    put_real(row, "warm_up_from", s->schedule.warm_up_from);
    put_parameters(row, s, false);
    put(row, "seed", json_integer(s->asked.seed));
    put_text(row, "budget", s->asked.budget); /* null: of epochs or updates, whose numbers stand below */
    put_text(row, "tta", views_count(&s->tta) > 1 ? s->asked.tta : NULL); /* null: the pictures alone */
    put_real(row, "target_accuracy", s->target > 0 ? s->target : NAN);
}

static void put_usage(json_t *row, const usage *u, bool trained)
{
    const bool limits = u->limits.flops > 0;
    put_real(row, "cores_busy", trained ? u->cores_busy : NAN);
    put(row, "resident_bytes", u->resident_bytes > 0 ? json_integer(u->resident_bytes) : NULL);
    put_real(row, "cpu_power", trained ? u->cpu_power : NAN);
    put_real(row, "model_gflops", trained ? 1e-9 * u->model_flops : NAN);
    put_real(row, "operand_gbs", trained ? 1e-9 * u->operand_bytes : NAN);
    put_real(row, "limit_gflops", limits ? 1e-9 * u->limits.flops : NAN); /* null: not asked for */
    put_real(row, "limit_gbs", limits ? 1e-9 * u->limits.read : NAN);
    put_real(row, "mfu", trained ? usage_mfu(u) : NAN);
}

static void put_measured(json_t *row, const result *r)
{
    const gr_fit_result *fit = &r->fit;
    bool trained = fit->updates > 0;
    put(row, "epochs", json_integer(fit->epochs));
    put(row, "updates", json_integer(fit->updates));
    put(row, "samples", json_integer(fit->samples));
    put_real(row, "train_loss", trained ? fit->train_loss : NAN);
    put_real(row, "train_accuracy", trained ? fit->train_accuracy : NAN);
    put_metrics(row, "val_loss", "val_accuracy", &fit->val);
    put_metrics(row, "test_loss", "test_accuracy", &fit->test);
    put_classes(row, (const char *[]){"val_precision", "val_recall", "val_f1"}, &fit->val);
    put_classes(row, (const char *[]){"test_precision", "test_recall", "test_f1"}, &fit->test);
    put_real(row, "tta_accuracy", r->tta.samples > 0 ? r->tta.accuracy : NAN);
    put_real(row, "seconds", trained ? fit->seconds : NAN);
    put_real(row, "seconds_to_target", trained ? target_seconds(r) : NAN); /* null: not reached */
    put_real(row, "samples_per_second", trained ? (double)fit->samples / fit->seconds : NAN);
    put(row, "peak_bytes", r->peak_bytes > 0 ? json_integer(r->peak_bytes) : NULL);
    put_scale(row, fit->loss_scale, fit->skipped, trained);
    put(row, "workers", json_integer(fit->workers));
    put(row, "prefetch", json_integer(fit->prefetch));
    put_text(row, "preload", preload_names[resolved_preload(r->run)]);
    put_time_use(row, &fit->time);
    put_text(row, "bottleneck", r->bottleneck && *r->bottleneck ? r->bottleneck : NULL);
    const bool gpu = r->gpu.readings > 0;
    put_real(row, "gpu_utilisation", gpu ? r->gpu.utilisation : NAN);
    put(row, "gpu_memory_bytes", gpu ? json_integer(r->gpu.memory_bytes) : NULL);
    put_real(row, "gpu_power", gpu ? r->gpu.power : NAN);
    put_usage(row, &r->usage, trained);
}

/* What made the row, and when. */
static void put_origin(json_t *row)
{
    char processor[256], now[32];
    put_text(row, "version", gr_version());
    put_text(row, "commit", build_commit());
    put_text(row, "compiler", build_compiler());
    put_text(row, "processor", processor_name(processor, sizeof processor));
    put_text(row, "jpeg_decoder", gr_jpeg_decoder());
    put_text(row, "date", now_text(now));
}

json_t *row_json(const result *r)
{
    json_t *row = json_object();
    put_run(row, r);
    put_measured(row, r);
    put_text(row, "state", row_state(r->code));
    put_origin(row);
    put(row, "history", r->history ? json_incref(r->history) : json_array());
    put_confusion(row, "val_confusion", &r->fit.val);
    put_confusion(row, "test_confusion", &r->fit.test);
    if (r->time)
        put(row, "time", json_incref(r->time));
    if (r->error && *r->error)
        put_text(row, "error", r->error);
    return row;
}

json_t *row_epoch(const gr_progress *p)
{
    json_t *epoch = json_object();
    put(epoch, "epoch", json_integer(p->epoch));
    put(epoch, "updates", json_integer(p->update));
    put(epoch, "batch", json_integer(p->batch));
    put_real(epoch, "train_loss", p->loss);
    put_real(epoch, "train_accuracy", p->accuracy);
    put_metrics(epoch, "val_loss", "val_accuracy", &p->val);
    put_metrics(epoch, "test_loss", "test_accuracy", &p->test);
    put_real(epoch, "noise_scale", p->noise.scale); /* these null: not asked for */
    put_real(epoch, "gradient_norm2", p->noise.gradient);
    put_real(epoch, "gradient_noise", p->noise.noise);
    put_real(epoch, "sharpness", p->sharp.sharpness);
    put_real(epoch, "seconds", p->seconds);
    put_scale(epoch, p->loss_scale, p->skipped, true);
    put_time_use(epoch, &p->time);
    return epoch;
}

json_t *row_columns(void)
{
    const resolved run = settings_resolve(&(settings){0}, &recipes[0]);
    json_t *row = row_json(&(result){.run = &run}), *columns = json_array(), *value;
    const char *key;
    json_object_foreach(row, key, value)
    {
        if (strcmp(key, "history") != 0 && !strstr(key, "_confusion"))
            json_array_append_new(columns, json_string(key));
    }
    json_decref(row);
    return columns;
}
