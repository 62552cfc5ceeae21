/*
 * settings.h - what the interpreter is asked for by the environment's GRADUS_PTX, words such as "arch=75 copies=early":
 *
 *   arch=75|80|90         whose PTX is run (80)
 *   order=forward|reverse|random[:SEED]   of blocks, of the warps of a block, of lanes that have parted (forward)
 *   copies=late|early     cp.async brings its bytes when they are waited for, or at once (late)
 *   streams=late|early|random[:SEED]      work in streams is done when somebody waits for it, or at once (late)
 *   sums=hardware|exact|up|down|pairs     how mma adds its products: as that architecture's tensor cores do; rounded
 *                         once; in floats, upwards, downwards, two by two (hardware)
 *   devices=N             how many there are (1)
 *   races=on|off          whether accesses of memory in no order are looked for (on)
 *   cover=FILE            a line for every kernel is added to FILE: what of its PTX was run
 */
#ifndef GRADUS_PTX_SETTINGS_H
#define GRADUS_PTX_SETTINGS_H

#include <cstdint>
#include <string>

namespace ptx
{
enum class order { FORWARD, REVERSE, RANDOM };
enum class moment { LATE, EARLY, RANDOM };
enum class sums { HARDWARE, EXACT, UP, DOWN, PAIRS };

struct settings {
    unsigned arch = 80, devices = 1;
    order turns = order::FORWARD;
    uint64_t seed = 1;
    moment copies = moment::LATE, streams = moment::LATE;
    sums products = sums::HARDWARE;
    bool races = true;
    std::string cover;
};

/* The process's, read from the environment at the first use. What is not understood ends the program, with a word. */
settings &asked();

/* Words as above. False: *wrong is the one that is not understood. */
bool understand(const std::string &words, settings *s, std::string *wrong);
} // namespace ptx

#endif
