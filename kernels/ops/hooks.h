/*
 * hooks.h - how a device says which kernels it has. A hook is a function pointer of gr_kernel: forward, backward,
 * scratch, halves. A list of GR_HOOK(operation, hook) names those that a device defines, and is read twice: it declares
 * the functions for the files that define them, and it fills the device's table.
 *
 * So a name that two sides spell differently is an error of the build: a function that is listed and not defined does
 * not link, one that is defined and not listed has no declaration, which the compiler refuses, and operations or hooks
 * that do not exist do not compile.
 */
#ifndef GRADUS_HOOKS_H
#define GRADUS_HOOKS_H

#include "kernels/ops/kernels.h"

#define GR_DECLARE_forward(function) void function(const gr_call *call);
#define GR_DECLARE_backward(function) void function(const gr_call *call);
#define GR_DECLARE_scratch(function) size_t function(const gr_call *call, gr_pass pass);
#define GR_DECLARE_halves(function) bool function(const gr_call *call, gr_pass pass);

#endif
