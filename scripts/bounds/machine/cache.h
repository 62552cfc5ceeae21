// A cache of 128-byte lines in sectors of 32 bytes, least recently used line first out.
#ifndef BOUNDS_CACHE_H
#define BOUNDS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum { LINE = 128, SECTOR = 32, WAYS = 16 };

struct way {
    uint64_t tag;
    uint32_t used;
    uint8_t sectors, whole, dirty; // present, written as a whole, to be written back: a bit a sector
};

struct cache {
    struct way *ways;
    uint64_t sets;
    uint32_t clock;
    uint64_t read_in, written_back; // sectors that went past it
};

// A cache of `bytes`, at least one set. False: out of memory.
bool open_cache(struct cache *cache, double bytes);
void close_cache(struct cache *cache);

// Reads sectors (bit mask) of a line; returns the mask of those that were not there. They are then.
uint8_t read_line(struct cache *cache, uint64_t line, uint8_t sectors);

// Writes sectors. `whole`: those of them that are covered wholly; the others are read in first where absent.
void write_line(struct cache *cache, uint64_t line, uint8_t sectors, uint8_t whole);

// One access of a warp: the lines it touches and the sectors of each.
struct request {
    int lines;
    uint64_t line[64];
    uint8_t sectors[64], whole[64];
    uint32_t covered[64][4]; // bytes of each sector
    int count_sectors, count_whole;
};

// The sectors of a line that `bytes` from an address on lie in.
uint8_t sectors_of(uint64_t address, int bytes, uint64_t line);

// The request of lanes that each move `bytes` from their address on.
void gather(struct request *request, const uint64_t address[32], uint32_t lanes, int bytes);

#endif
