// Reads a launch, a chip and a listing.
#include "program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct field {
    const char *name;
    int *whole;
    double *real;
};

static bool set_field(struct program *program, const char *name, double value)
{
    struct chip *chip = &program->chip;
    struct launch *launch = &program->launch;
    const struct field fields[] = {
        {"architecture", &chip->architecture, NULL},
        {"multiprocessors", &chip->multiprocessors, NULL},
        {"warps", &chip->warps, NULL},
        {"blocks", &chip->blocks, NULL},
        {"registers", &chip->registers, NULL},
        {"shared", &chip->shared, NULL},
        {"shared_block_reserved", &chip->shared_block_reserved, NULL},
        {"clock", NULL, &chip->clock},
        {"busy_clock", NULL, &chip->busy_clock},
        {"dram", NULL, &chip->dram},
        {"dram_read", NULL, &chip->dram_read},
        {"dram_mixed", NULL, &chip->dram_mixed},
        {"dram_page", NULL, &chip->dram_page},
        {"l2_bytes", NULL, &chip->l2_bytes},
        {"l2_port", NULL, &chip->l2_port},
        {"l2_read", NULL, &chip->l2_read},
        {"l2_boxes", NULL, &chip->l2_boxes},
        {"box_row", NULL, &chip->box_row},
        {"l1_bytes", NULL, &chip->l1_bytes},
        {"l2_slices", NULL, &chip->l2_slices},
        {"partial_bytes", NULL, &chip->partial_bytes},
        {"atomic_float", NULL, &chip->atomic_float},
        {"atomic_sector", NULL, &chip->atomic_sector},
        {"lanes_fma", &chip->lanes_fma, NULL},
        {"lanes_heavy", &chip->lanes_heavy, NULL},
        {"lanes_alu", &chip->lanes_alu, NULL},
        {"lanes_half", &chip->lanes_half, NULL},
        {"lanes_double", NULL, &chip->lanes_double},
        {"lanes_add", &chip->lanes_add, NULL},
        {"lanes_special", &chip->lanes_special, NULL},
        {"lanes_convert", &chip->lanes_convert, NULL},
        {"tensor", NULL, &chip->tensor},
        {"tensor_f32", NULL, &chip->tensor_f32},
        {"tensor_warp", NULL, &chip->tensor_warp},
        {"lsu_lanes", &chip->lsu_lanes, NULL},
        {"reading_lanes", &chip->reading_lanes, NULL},
        {"shared_width", &chip->shared_width, NULL},
        {"latency_shared", &chip->latency_shared, NULL},
        {"latency_l1", &chip->latency_l1, NULL},
        {"latency_l2", &chip->latency_l2, NULL},
        {"latency_dram", &chip->latency_dram, NULL},
        {"launch_block", &chip->launch_block, NULL},
        {"launch_kernel", NULL, &chip->launch_kernel},
        {"kernel_registers", &launch->registers, NULL},
        {"kernel_shared", &launch->shared, NULL},
        {"data_drawn", &launch->drawn, NULL},
        {"caches_empty", &launch->empty, NULL},
        {"grid_x", &launch->grid[0], NULL},
        {"grid_y", &launch->grid[1], NULL},
        {"grid_z", &launch->grid[2], NULL},
        {"block_x", &launch->block[0], NULL},
        {"block_y", &launch->block[1], NULL},
        {"block_z", &launch->block[2], NULL},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!strcmp(fields[i].name, name)) {
            if (fields[i].whole)
                *fields[i].whole = (int)value;
            else
                *fields[i].real = value;
            return true;
        }
    }
    return false;
}

static int register_number(const char *text, int *index)
{
    int used = 0;
    if (!strncmp(text, "RZ", 2)) {
        *index = RZ;
        return 2;
    }
    if (!strncmp(text, "URZ", 3)) {
        *index = URZ;
        return 3;
    }
    if (sscanf(text, "UR%d%n", index, &used) == 1) {
        *index += UNIFORM;
        return *index < URZ ? used : 0;
    }
    return sscanf(text, "R%d%n", index, &used) == 1 ? used : 0;
}

static int predicate_number(const char *text, int *index)
{
    int used = 0;
    if (!strncmp(text, "PT", 2)) {
        *index = PT;
        return 2;
    }
    if (!strncmp(text, "UPT", 3)) {
        *index = UPT;
        return 3;
    }
    if (sscanf(text, "UP%d%n", index, &used) == 1) {
        *index += UNIFORM_PREDICATE;
        return used;
    }
    return sscanf(text, "P%d%n", index, &used) == 1 ? used : 0;
}

// Inside the brackets of an address: terms joined by + as R2.64, UR4, R3.X4, 0x10, -0x10; so R2.64+-0x10 has two.
static void read_terms(const char *text, struct operand *to)
{
    to->index = RZ;
    to->uniform = URZ;
    to->half = 1;
    while (*text && *text != ']') {
        int index;
        text += *text == '+';
        bool negative = *text == '-';
        text += negative;
        int used = register_number(text, &index);
        if (used && index >= UNIFORM) {
            to->uniform = (short)index;
        } else if (used) {
            to->index = (short)index;
            to->wide |= !strncmp(text + used, ".64", 3);
            if (!strncmp(text + used, ".X", 2))
                to->half = (short)atoi(text + used + 2);
        } else {
            int64_t offset = strtoll(text, NULL, 0);
            to->value += negative ? -offset : offset;
        }
        while (*text && *text != ']' && *text != '+' && *text != '-')
            text++;
    }
}

static void read_constant(const char *text, struct operand *to)
{
    const char *second = strstr(text, "][");
    to->kind = CONSTANT;
    to->bank = (int)strtol(text + (text[1] == 'x' ? 3 : 2), NULL, 0);
    struct operand inside = {0};
    read_terms(second ? second + 2 : "]", &inside);
    to->value = inside.value;
    to->index = inside.index;
    to->uniform = inside.uniform;
}

static void read_float(const char *text, struct operand *to)
{
    float value = strtof(text, NULL);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    to->value = bits;
}

static void read_suffixes(const char *text, struct operand *to)
{
    to->reuse = strstr(text, ".reuse") != NULL;
    to->wide |= strstr(text, ".64") != NULL;
    if (to->kind != ADDRESS)
        to->half = strstr(text, ".H1") ? 2 : strstr(text, ".H0") ? 1 : 0;
}

static void read_operand(const char *text, struct operand *to)
{
    memset(to, 0, sizeof *to);
    snprintf(to->text, sizeof to->text, "%.19s", text);
    for (; *text == '-' || *text == '!' || *text == '~' || *text == '|'; text++) {
        if (*text == '-' && (isdigit((unsigned char)text[1]) || text[1] == '.' || text[1] == 'I'))
            break;
        to->negative |= *text == '-';
        to->absolute |= *text == '|';
        to->inverted |= *text == '!' || *text == '~';
    }
    int index, used;
    if ((used = register_number(text, &index)) != 0 && !isalpha((unsigned char)text[used])) {
        to->kind = REGISTER;
        to->index = (short)index;
    } else if ((used = predicate_number(text, &index)) != 0 && !isalpha((unsigned char)text[used])) {
        to->kind = PREDICATE;
        to->index = (short)index;
    } else if (!strncmp(text, "c[", 2) || !strncmp(text, "cx[", 3)) {
        read_constant(text, to);
    } else if (strchr(text, '[')) {
        to->kind = ADDRESS;
        const char *inner = strrchr(text, '[');
        read_terms(inner + 1, to);
    } else if (!strncmp(text, "SR", 2)) {
        to->kind = SPECIAL;
    } else if (isdigit((unsigned char)text[0]) || text[0] == '-' || text[0] == '+' || !strncmp(text, "INF", 3)) {
        to->kind = IMMEDIATE;
        if (strstr(text, "0x"))
            to->value = strtoll(text, NULL, 0);
        else if (strpbrk(text, ".eIN"))
            read_float(text, to);
        else
            to->value = strtoll(text, NULL, 10);
    } else {
        to->kind = OTHER;
    }
    read_suffixes(text, to);
}

// "@!P0 LDG.E.128 R4, desc[UR4][R2.64+0x10]" into its parts.
static void read_text(char *text, struct instruction *to)
{
    to->guard = PT;
    if (*text == '@') {
        int index = PT;
        to->guard_inverted = text[1] == '!';
        predicate_number(text + 1 + to->guard_inverted, &index);
        to->guard = (short)index;
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    size_t length = strcspn(text, " ");
    snprintf(to->name, sizeof to->name, "%.*s", (int)length, text);
    snprintf(to->base, sizeof to->base, "%.*s", (int)strcspn(to->name, "."), to->name);
    text += length;
    if (!strcmp(to->base, "RET")) // "RET.REL.NODEC R8 0x0" has no comma
        for (char *at = text + strspn(text, " "); *at; at++)
            *at = *at == ' ' ? ',' : *at;
    for (char *state = NULL, *part = strtok_r(text, ",", &state); part && to->count < MAX_OPERANDS;
         part = strtok_r(NULL, ",", &state)) {
        char plain[80];
        size_t n = 0;
        for (; *part; part++)
            if (*part != ' ' && n + 1 < sizeof plain)
                plain[n++] = *part;
        plain[n] = 0;
        if (n)
            read_operand(plain, &to->operands[to->count++]);
    }
}

// Bits 105 to 125 of the 128: stall 4, yield 1, write barrier 3, read barrier 3, wait 6, reuse 4 (Jia et al.,
// arXiv 1804.06826, section 2.1).
static void read_control(uint64_t high, struct instruction *to)
{
    uint64_t control = high >> 41;
    to->stall = control & 15;
    to->write_barrier = (control >> 5) & 7;
    to->read_barrier = (control >> 8) & 7;
    to->wait = (control >> 11) & 63;
    if (to->write_barrier >= BARRIERS)
        to->write_barrier = -1;
    if (to->read_barrier >= BARRIERS)
        to->read_barrier = -1;
}

static bool is_read(const struct instruction *it, int slot)
{
    int at = it->results + slot;
    return at < it->count && it->operands[at].kind == REGISTER && it->operands[at].index < RZ;
}

// Whether the operand cache has what an operand's slot reads: an instruction marks a register for reuse, and the slot
// keeps it until another register of that bank is read there (Huerta et al., arXiv 2503.20481, section 5.3.1).
static bool is_cached(const struct program *program, int number, int slot)
{
    const struct instruction *it = &program->code[number];
    int index = it->operands[it->results + slot].index;
    for (int i = number - 1; i >= 0 && program->code[i].pipe != PIPE_BRANCH; i--) {
        const struct instruction *before = &program->code[i];
        if (before->pipe == PIPE_MEMORY || !is_read(before, slot))
            continue;
        const struct operand *operand = &before->operands[before->results + slot];
        if (operand->index % 2 == index % 2)
            return operand->index == index && operand->reuse;
    }
    return false;
}

// Registers that an instruction reads from their banks. Memory and matrix instructions are left out: they take longer
// anyway.
static void count_reads(const struct program *program, struct instruction *it)
{
    int seen[3], number = (int)(it - program->code);
    if (it->pipe == PIPE_MEMORY || it->pipe == PIPE_TENSOR)
        return;
    for (int slot = 0; slot < 3; slot++) {
        if (!is_read(it, slot) || is_cached(program, number, slot))
            continue;
        int index = it->operands[it->results + slot].index;
        bool again = false;
        for (int k = 0; k < it->reads; k++)
            again |= seen[k] == index;
        if (!again)
            seen[it->reads++] = index;
    }
}

// "map ADDRESS TENSOR ELEMENT", and of each dimension "SIZE BOX EVERY": addresses are hexadecimal.
static bool read_map(const char *line, struct program *program)
{
    int used = 0;
    unsigned long long address, tensor;
    struct tensor_map map;
    if (program->map_count == MAPS || sscanf(line, "%llx %llx %d%n", &address, &tensor, &map.element, &used) != 3)
        return false;
    map.address = address;
    map.tensor = tensor;
    for (int i = 0; i < MAP_RANK; i++) {
        long long size;
        line += used;
        if (sscanf(line, "%lld %d %d%n", &size, &map.box[i], &map.every[i], &used) != 3 || map.box[i] < 1)
            return false;
        map.size[i] = size;
    }
    program->maps[program->map_count++] = map;
    return map.element > 0;
}

static bool read_line(char *line, struct program *program)
{
    char name[64];
    double value;
    unsigned long long high;
    unsigned address, word, bank;
    int used = 0;
    line[strcspn(line, "\n")] = 0;
    if (!*line)
        return true;
    if (sscanf(line, "i %x %llx %n", &address, &high, &used) == 2 && used) {
        struct instruction *to = &program->code[program->length++];
        memset(to, 0, sizeof *to);
        to->address = address;
        read_control(high, to);
        read_text(line + used, to);
        classify(to);
        return true;
    }
    if (sscanf(line, "c %u %x %x", &bank, &address, &word) == 3 && bank < CONSTANT_BANKS &&
        address < sizeof program->constants[bank]) {
        program->constants[bank][address / 4] = word;
        return true;
    }
    if (!strncmp(line, "map ", 4))
        return read_map(line + 4, program);
    if (sscanf(line, "data %x", &word) == 1) {
        program->launch.data = word;
        return true;
    }
    return sscanf(line, "%63s %lf", name, &value) == 2 && set_field(program, name, value);
}

// cuda::barrier is initialised by plain stores, behind which SYNCS.CCTL.IVALL tells those who keep barriers.
static void find_stored_barriers(struct program *program)
{
    for (int i = 0; i < program->length; i++) {
        if (strncmp(program->code[i].name, "SYNCS.CCTL", 10))
            continue;
        for (int k = i - 1; k >= 0 && strcmp(program->code[k].base, "BAR"); k--) {
            struct instruction *it = &program->code[k];
            if (strncmp(it->name, "STS.64", 6))
                continue;
            it->space = SPACE_PHASE;
            it->phase = PHASE_BEGIN;
            it->store = false;
        }
    }
}

bool read_program(FILE *from, struct program *program)
{
    char line[512];
    int room = 0;
    while (fgets(line, sizeof line, from)) {
        if (program->length == room) {
            room = room ? 2 * room : 1024;
            program->code = realloc(program->code, (size_t)room * sizeof *program->code);
            if (!program->code) {
                snprintf(program->error, sizeof program->error, "out of memory for %d instructions", room);
                return false;
            }
        }
        if (!read_line(line, program)) {
            snprintf(program->error, sizeof program->error, "line not understood: %.100s", line);
            return false;
        }
    }
    for (int i = 0; i < program->length; i++)
        count_reads(program, &program->code[i]);
    find_stored_barriers(program);
    program->address_step = program->length > 1 ? (int)(program->code[1].address - program->code[0].address) : 16;
    return true;
}

void free_program(struct program *program)
{
    free(program->code);
}

int instruction_at(const struct program *program, int64_t address)
{
    int64_t index = (address - program->code[0].address) / program->address_step;
    return index >= 0 && index < program->length && program->code[index].address == address ? (int)index : -1;
}

uint32_t constant_word(const struct program *program, int bank, int64_t offset)
{
    if (bank == 4) // addresses of variables: each 16 MiB from the next
        return offset % 8 ? 0x7e : (uint32_t)(offset / 8) << 24;
    if (bank < 0 || bank >= CONSTANT_BANKS || offset < 0 || offset / 4 >= CONSTANT_WORDS)
        return 0;
    return program->constants[bank][offset / 4] >> 8 * (offset % 4);
}
