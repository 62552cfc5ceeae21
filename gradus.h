/*
 * gradus.h - Gradus, a training framework in C: everything a program needs.
 *
 * Read in this order: core/core.h (contexts, errors, tensors, the step), core/group/group.h (ranks that train
 * together), kernels/ops/ops.h (operations), nn/nn.h (layers and models), nn/zoo/zoo.h (published networks),
 * data/data.h (images and batches), amp/amp.h (the loss scale), optim/optim.h (optimizers and the fit loop);
 * core/watch.h is for results as they come and for tools that look on, core/temporary.h for files of one's own that are
 * to appear whole.
 */
#ifndef GRADUS_H
#define GRADUS_H

#include "amp/amp.h"
#include "core/core.h"
#include "core/group/group.h"
#include "core/temporary.h"
#include "core/watch.h"
#include "data/data.h"
#include "kernels/ops/ops.h"
#include "nn/nn.h"
#include "nn/zoo/zoo.h"
#include "optim/optim.h"

#endif
