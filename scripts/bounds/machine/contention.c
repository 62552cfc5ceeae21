#include "contention.h"

#include <string.h>

static void add(struct place places[PLACES], uint64_t number, double cycles)
{
    struct place *at = &places[(number * 0x9e3779b97f4a7c15ull >> 32) % PLACES];
    if (at->number == number)
        at->cycles += cycles;
    else if (at->cycles >= cycles)
        at->cycles -= cycles;
    else
        *at = (struct place){number, cycles - at->cycles};
}

// Cycles of L2 for a word: an integer is added every cycle (NVIDIA's whitepaper of GK110), a float waits for the sum
// that it is added to.
static double word_cycles(const struct chip *chip, const struct instruction *it)
{
    return strstr(it->name, ".F32") || strstr(it->name, ".F64") || strstr(it->name, "F16") ? chip->atomic_float : 1;
}

void count_atomics(struct contention *contention, const struct chip *chip, const struct step *step,
                   const struct request *request)
{
    const struct instruction *it = step->instruction;
    if (strstr(it->name, ".STRONG.SM"))
        return; // a block's own
    for (int i = 0; i < LANES; i++) {
        if (!(step->lanes >> i & 1))
            continue;
        add(contention->words, step->address[i] / 4, word_cycles(chip, it));
        if (strstr(it->name, ".CAS"))
            add(contention->swaps, step->address[i] / 4, 1);
    }
    for (int i = 0; i < request->lines; i++)
        add(contention->kilobytes, request->line[i] / (KILOBYTE / LINE),
            __builtin_popcount(request->sectors[i]) * chip->atomic_sector);
}

double busiest(const struct place places[PLACES])
{
    double most = 0;
    for (int i = 0; i < PLACES; i++)
        most = places[i].cycles > most ? places[i].cycles : most;
    return most;
}
