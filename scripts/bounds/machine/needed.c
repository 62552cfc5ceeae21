// Which instructions must be executed for addresses, branches and predicates of memory accesses: liveness of registers
// backwards from these. The rest is timed alone, which is most of it: products need no values.
#include "program.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = (REGISTERS + PREDICATES + 63) / 64 };

struct set {
    uint64_t words[WORDS];
};

static void add(struct set *set, int bit)
{
    set->words[bit / 64] |= 1ull << (bit % 64);
}

static void take(struct set *set, int bit)
{
    set->words[bit / 64] &= ~(1ull << (bit % 64));
}

static bool has(const struct set *set, int bit)
{
    return set->words[bit / 64] >> (bit % 64) & 1;
}

static bool join(struct set *to, const struct set *from)
{
    bool grown = false;
    for (int i = 0; i < WORDS; i++) {
        grown |= (from->words[i] & ~to->words[i]) != 0;
        to->words[i] |= from->words[i];
    }
    return grown;
}

static void add_registers(struct set *set, int first, int count)
{
    for (int i = first; i < first + count && i < URZ; i++)
        if (i != RZ)
            add(set, i);
}

static void add_predicate(struct set *set, int index)
{
    if (index != PT && index != UPT)
        add(set, REGISTERS + index);
}

// Registers that a source takes: as many words as memory moves, pairs of 64-bit values, up to four of a matrix.
static int source_width(const struct instruction *it, const struct operand *operand)
{
    bool product = strstr(it->base, "IMAD") && (strstr(it->name, ".WIDE") || strstr(it->name, ".HI"));
    bool whole =
        (!strcmp(it->base, "I2F") || strstr(it->base, "MOV") || strstr(it->base, "IADD3")) && strstr(it->name, "64");
    if (it->pipe == PIPE_TENSOR)
        return 4;
    if (it->space == SPACE_GLOBAL || it->space == SPACE_SHARED || it->space == SPACE_LOCAL)
        return it->bytes > 4 ? it->bytes / 4 : 1;
    if (it->pairs)
        return 2;
    if (product) // a sum of 64 bits; the factors have 32
        return operand == &it->operands[it->results + 2] ? 2 : 1;
    return operand->wide || whole || it->pipe == PIPE_DOUBLE ? 2 : 1;
}

static void add_operand(struct set *set, const struct instruction *it, const struct operand *operand)
{
    if (operand->kind == REGISTER)
        add_registers(set, operand->index, source_width(it, operand));
    if (operand->kind == PREDICATE)
        add_predicate(set, operand->index);
    if (operand->kind == ADDRESS || operand->kind == CONSTANT) {
        add_registers(set, operand->index, operand->wide || it->space == SPACE_GLOBAL ? 2 : 1);
        add_registers(set, operand->uniform, 2);
    }
    if (operand->kind == OTHER && !strcmp(operand->text, "PR"))
        for (int i = 0; i < PREDICATES; i++)
            add_predicate(set, i);
}

static void add_guard(struct set *set, const struct instruction *it)
{
    add_predicate(set, it->guard);
}

static bool is_memory(const struct instruction *it)
{
    return it->space == SPACE_GLOBAL || it->space == SPACE_SHARED || it->space == SPACE_LOCAL;
}

// Of what counts and copies everything matters: addresses, arrivals, bytes, parities, corners of boxes.
static void add_all(struct set *set, const struct instruction *it)
{
    for (int i = it->results; i < it->count; i++) {
        int index = it->operands[i].index, more = it->dimensions ? 2 + it->dimensions : 2;
        add_operand(set, it, &it->operands[i]);
        if (it->operands[i].kind == REGISTER && index != RZ)
            add_registers(set, index, 2);
        if (it->operands[i].kind == ADDRESS)
            add_registers(set, it->operands[i].uniform, more);
    }
}

static bool writes_one_of(const struct instruction *it, const struct set *live)
{
    for (int i = 0; i < it->results; i++) {
        const struct operand *to = &it->operands[i];
        if (to->kind == PREDICATE && has(live, REGISTERS + to->index))
            return true;
        for (int k = 0; to->kind == REGISTER && k < it->result_registers && to->index + k < REGISTERS; k++)
            if (to->index != RZ && to->index != URZ && has(live, to->index + k))
                return true;
    }
    return !strcmp(it->base, "R2P");
}

static void remove_results(struct set *live, const struct instruction *it)
{
    if (it->guard != PT && it->guard != UPT)
        return; // may leave the old value
    for (int i = 0; i < it->results; i++) {
        const struct operand *to = &it->operands[i];
        if (to->kind == PREDICATE)
            take(live, REGISTERS + to->index);
        for (int k = 0; to->kind == REGISTER && k < it->result_registers && to->index + k < REGISTERS; k++)
            take(live, to->index + k);
    }
}

struct analysis {
    struct program *program;
    struct set *live;               // before each instruction
    bool values[SPACE_SHUFFLE + 1]; // stored values of this space are read back as addresses
};

// Neither a guard nor a predicate among the operands, as in BRA.U UP0, 0x240.
static bool always(const struct instruction *it)
{
    bool tests = false;
    for (int i = it->results; i < it->count; i++)
        tests |= it->operands[i].kind == PREDICATE;
    return it->guard == PT && !it->guard_inverted && !tests;
}

// What is live behind an instruction: before all that may follow it.
static struct set live_after(const struct analysis *analysis, int index)
{
    const struct program *program = analysis->program;
    const struct instruction *it = &program->code[index];
    struct set live = {0};
    bool jumps = !strcmp(it->base, "BRA") || !strcmp(it->base, "CALL") || !strcmp(it->base, "JMP");
    bool leaves = !strcmp(it->base, "RET") || !strncmp(it->base, "BRX", 3) || !strcmp(it->base, "EXIT");
    if (index + 1 < program->length && !(always(it) && (jumps || leaves)))
        join(&live, &analysis->live[index + 1]);
    if (jumps) {
        int target = instruction_at(program, it->operands[it->count - 1].value);
        if (target >= 0)
            join(&live, &analysis->live[target]);
    }
    if (!strcmp(it->base, "RET") || !strncmp(it->base, "BRX", 3))
        for (int i = 0; i + 1 < program->length; i++)
            if (!strcmp(program->code[i].base, "CALL") || it->base[0] == 'B')
                join(&live, &analysis->live[i + 1]);
    return live;
}

static bool visit(struct analysis *analysis, int index)
{
    struct instruction *it = &analysis->program->code[index];
    struct set live = live_after(analysis, index);
    bool stored = (it->store || it->atomic) && is_memory(it) && analysis->values[it->space];
    if (writes_one_of(it, &live)) {
        it->needed = true;
        remove_results(&live, it);
        for (int i = it->results; i < it->count; i++)
            add_operand(&live, it, &it->operands[i]);
        add_guard(&live, it);
        if (it->load && is_memory(it))
            analysis->values[it->space] = true;
    }
    if (is_memory(it) || it->pipe == PIPE_BRANCH) {
        add_guard(&live, it);
        for (int i = 0; i < it->count; i++)
            if (it->operands[i].kind == ADDRESS || stored || (it->pipe == PIPE_BRANCH && i >= it->results))
                add_operand(&live, it, &it->operands[i]);
        it->needed |= stored;
    }
    if (it->phase || it->dimensions) {
        add_guard(&live, it);
        add_all(&live, it);
    }
    return join(&analysis->live[index], &live);
}

void mark_needed(struct program *program)
{
    struct analysis analysis = {program, calloc((size_t)program->length, sizeof(struct set)), {false}};
    bool grown = analysis.live != NULL, values[SPACE_SHUFFLE + 1];
    while (grown) {
        memcpy(values, analysis.values, sizeof values);
        grown = false;
        for (int i = program->length - 1; i >= 0; i--)
            grown |= visit(&analysis, i);
        grown |= memcmp(values, analysis.values, sizeof values) != 0;
    }
    free(analysis.live);
}
