/*
 * source.c - from an instruction's address to a line of source, by addr2line: the check build is a tool for developers,
 * and where the compiler is, binutils are.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/simt/check/check.h"

extern const char _end[] GR__SIMT_HIDDEN; /* of the program or library, as the linker names it */

bool gr__simt_in_image(const void *p)
{
    return (uintptr_t)p >= (uintptr_t)gr__simt_image_begin && (uintptr_t)p < (uintptr_t)_end;
}

uint32_t gr__simt_site_of_line(gr__simt_machine *m, const char *file, int line)
{
    const uint32_t first = ((uint32_t)line * 31 + (uint32_t)((uintptr_t)file >> 3)) % GR__SIMT_SITES;
    uint32_t i = first;
    do {
        if (!m->shadow->site[i].file)
            m->shadow->site[i].file = file, m->shadow->site[i].line = line;
        if (m->shadow->site[i].line == line && m->shadow->site[i].file == file)
            break;
        i = (i + 1) % GR__SIMT_SITES;
    } while (i != first);
    return GR__SIMT_BY_LINE | i;
}

/* The image's file, and its address for pc as addr2line wants it. */
static bool locate(uint32_t distance, char *path, size_t room, unsigned long *address)
{
    Dl_info info;
    if (!dladdr(gr__simt_image_begin, &info) || !info.dli_fname)
        return false;
    const bool fixed = ((const Elf64_Ehdr *)(const void *)gr__simt_image_begin)->e_type == ET_EXEC;
    *address = distance + (fixed ? (uintptr_t)gr__simt_image_begin : 0) - 1; /* of the call, not behind it */
    snprintf(path, room, "%s", strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe");
    if (!access(path, R_OK) && strcmp(path, "/proc/self/exe"))
        return true;
    const ssize_t n = readlink("/proc/self/exe", path, room - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Of the lines that led there by inlining, innermost first: the first that is not in a header of the emulator's. */
static bool outside(FILE *f, char *line, int room)
{
    char first[1024] = "";
    while (fgets(line, room, f) && line[0] != '?') {
        char *const discriminator = strstr(line, " (discriminator");
        *(discriminator ? discriminator : line + strcspn(line, "\n")) = '\0';
        if (!strstr(line, "/kernels/simt/") || !strstr(line, ".h:"))
            return true;
        if (!first[0])
            snprintf(first, sizeof first, "%s", line);
    }
    snprintf(line, (size_t)room, "%s", first);
    return line[0];
}

const char *gr__simt_site_text(gr__simt_machine *m, uint32_t site, char *text, size_t room)
{
    char path[512], line[1024];
    unsigned long address;
    if (site & GR__SIMT_BY_LINE) {
        const uint32_t i = site & (GR__SIMT_BY_LINE - 1);
        snprintf(text, room, "%s:%d", gr__simt_short(m->shadow->site[i].file), m->shadow->site[i].line);
        return text;
    }
    snprintf(text, room, "instruction 0x%x", site);
    if (!locate(site, path, sizeof path, &address))
        return text;
    snprintf(line, sizeof line, "addr2line -i -e '%s' 0x%lx 2>/dev/null", path, address);
    FILE *f = popen(line, "r");
    if (f && outside(f, line, sizeof line))
        snprintf(text, room, "%s", gr__simt_short(line));
    if (f)
        pclose(f);
    return text;
}
