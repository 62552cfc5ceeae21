/* nccl_link.h - elements of tensors from GPU to GPU, by NVIDIA's NCCL where it is installed: opened at run time. */
#ifndef GRADUS_NCCL_LINK_H
#define GRADUS_NCCL_LINK_H

#include "core/group/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A link between the GPUs of all ranks, in this rank's stream; gpu[16] is the driver's UUID of its own. *link NULL: a
 * rank has no NCCL from 2.17 on, or two share a GPU, which NCCL cannot, or the environment's GRADUS_NCCL is "off" on
 * one. False: it is there and fails, which why[size] tells, or the group has ended.
 */
bool gr__nccl_link(void *stream, const char *gpu, gr_group *g, gr_link **link, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
