/* together.h - what a warp does together, and pieces of registers. Each gives the handler of a statement, or NULL. */
#ifndef GRADUS_PTX_TOGETHER_H
#define GRADUS_PTX_TOGETHER_H

#include "tests/ptx/interpreter/warp.h"

namespace ptx
{
handler shuffle_of(const statement &s); /* shuffles.cc */
handler vote_of(const statement &s);
handler reduction_of(const statement &s);
handler warp_barrier_of(const statement &s);
handler matrix_of(const statement &s); /* matrix.cc: ldmatrix and mma */
handler copy_of(const statement &s);   /* copies.cc: cp.async, commit_group, wait_group, wait_all */
handler pieces_of(const statement &s); /* pieces.cc: mov between a register and a vector, bfi, bfe */

/* Copies that nobody waited for: throws fault. */
void copies_end(const warp &w);
} // namespace ptx

#endif
