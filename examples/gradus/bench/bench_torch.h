/* bench_torch.h - PyTorch and this program in turns, in one run: what else the machine does hits both alike. */
#ifndef GRADUS_BENCH_TORCH_H
#define GRADUS_BENCH_TORCH_H

#include "bench/bench_settings.h"

/*
 * Compares PyTorch's results and gradients of cases[n] with this program's at the batch sizes asked for, then measures
 * both in turns, and tells which of the two is faster. What takes PyTorch too long, or has no room for both, is left
 * out and said. Returns 0 or an exit code, complained of; GR_DEVICE_FAULT: they differ.
 */
int bench_torch(const bench_settings *s, const bench_case *cases, int n, const int64_t *batches, int n_batches);

#endif
