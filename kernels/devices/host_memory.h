/*
 * host_memory.h - device memory that is host memory, for the devices that compute on the CPU.
 */
#ifndef GRADUS_HOST_MEMORY_H
#define GRADUS_HOST_MEMORY_H

#include "core/device.h"

/* Fills in a device's memory functions (alloc, free, upload, download, add, on_host). */
void gr__use_host_memory(gr_device *d);

#endif
