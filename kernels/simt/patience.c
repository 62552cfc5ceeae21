/*
 * patience.c - threads that ask for something in vain: a lock that is not open yet, a number that another will write.
 * Threads take turns, so whoever asks for long lets others go first. Where all who can run do nothing else, nobody ever
 * will do what they wait for: the blocks take turns, too.
 */
#include "kernels/simt/machine.h"

enum { VAIN_TURNS = 1 << 24 }; /* of a block, one after another */

bool gr__simt_let_others_do_it(gr__simt_machine *m, const char *file, int line)
{
    if (++m->vain > VAIN_TURNS)
        return false;
    gr__simt_yield(file, line);
    return true;
}

void gr__simt_report_vain(gr__simt_machine *m, const char *place)
{
    if (m->grid)
        gr__simt_report(m,
                        "deadlock: an endless wait at %s; no other thread of the block will do what it waits for, and "
                        "blocks of a cooperative launch wait for each other at the grid's barrier alone, here",
                        place);
    else
        gr__simt_report(m,
                        "deadlock: an endless wait at %s; no other thread of the block will do what it waits for, and "
                        "a block that has not begun comes after this one, as it may on a GPU",
                        place);
}
