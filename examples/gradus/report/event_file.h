/*
 * event_file.h - files of events as TensorBoard reads them: records with masked CRC-32C (TFRecord), each a message
 * "Event" of protocol buffers (tensorflow/core/util/event.proto). Written here are numbers by step, and the settings
 * of a run as its plugin for hyper-parameters has them (tensorboard/plugins/hparams/plugin_data.proto).
 */
#ifndef GRADUS_EVENT_FILE_H
#define GRADUS_EVENT_FILE_H

#include <jansson.h>

#include "terminal/output.h"

/* What a file begins with: the version of the format. Times, here and below, are seconds since 1970. */
void event_begin(output *out, double time);

/* A number under a name that may have slashes. One that is not finite is left out. */
void event_scalar(output *out, double time, int64_t step, const char *name, double value);

/* That a run began with these settings: an object of texts, numbers and truth values; others are left out. */
void event_settings(output *out, double time, const json_t *settings);

/* That it ended, well or not. */
void event_end(output *out, double time, bool well);

#endif
