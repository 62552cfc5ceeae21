// Which pipe an instruction takes, which memory it goes to, what it writes: by its name.
#include "program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct class
{
    const char *base;
    enum pipe pipe;
};

// Whitepapers of Volta to Hopper and the table of arithmetic throughput in the CUDA C++ Programming Guide; that IMAD
// takes the floating-point pipe: Huerta et al., arXiv 2503.20481.
static const struct class classes[] = {
    {"FFMA", PIPE_FMA},       {"FADD", PIPE_FMA},       {"FMUL", PIPE_FMA},         {"FSWZADD", PIPE_FMA},
    {"IMAD", PIPE_FMA_HEAVY}, {"IDP", PIPE_FMA_HEAVY},  {"HFMA2", PIPE_HALF},       {"HADD2", PIPE_HALF},
    {"HMUL2", PIPE_HALF},     {"HMNMX2", PIPE_ALU},     {"HSET2", PIPE_ALU},        {"HSETP2", PIPE_ALU},
    {"DFMA", PIPE_DOUBLE},    {"DADD", PIPE_DOUBLE},    {"DMUL", PIPE_DOUBLE},      {"DSETP", PIPE_DOUBLE},
    {"MUFU", PIPE_SPECIAL},   {"F2F", PIPE_SPECIAL},    {"FRND", PIPE_SPECIAL},     {"POPC", PIPE_SPECIAL},
    {"FLO", PIPE_SPECIAL},    {"BREV", PIPE_SPECIAL},   {"FCHK", PIPE_SPECIAL},     {"I2F", PIPE_CONVERT},
    {"F2I", PIPE_CONVERT},    {"I2I", PIPE_CONVERT},    {"HMMA", PIPE_TENSOR},      {"IMMA", PIPE_TENSOR},
    {"BMMA", PIPE_TENSOR},    {"DMMA", PIPE_TENSOR},    {"QMMA", PIPE_TENSOR},      {"BRA", PIPE_BRANCH},
    {"EXIT", PIPE_BRANCH},    {"BSSY", PIPE_BRANCH},    {"BSYNC", PIPE_BRANCH},     {"CALL", PIPE_BRANCH},
    {"RET", PIPE_BRANCH},     {"BAR", PIPE_BRANCH},     {"WARPSYNC", PIPE_BRANCH},  {"BREAK", PIPE_BRANCH},
    {"BRX", PIPE_BRANCH},     {"JMP", PIPE_BRANCH},     {"YIELD", PIPE_BRANCH},     {"NOP", PIPE_NONE},
    {"DEPBAR", PIPE_NONE},    {"LDGDEPBAR", PIPE_NONE}, {"NANOSLEEP", PIPE_BRANCH}, {"R2UR", PIPE_UNIFORM},
    {"S2UR", PIPE_UNIFORM},   {"VOTEU", PIPE_UNIFORM},  {"S2R", PIPE_BRANCH},       {"B2R", PIPE_BRANCH},
    {"LDG", PIPE_MEMORY},     {"STG", PIPE_MEMORY},     {"LD", PIPE_MEMORY},        {"ST", PIPE_MEMORY},
    {"LDS", PIPE_MEMORY},     {"STS", PIPE_MEMORY},     {"LDL", PIPE_MEMORY},       {"STL", PIPE_MEMORY},
    {"LDSM", PIPE_MEMORY},    {"STSM", PIPE_MEMORY},    {"LDGSTS", PIPE_MEMORY},    {"ATOM", PIPE_MEMORY},
    {"ATOMG", PIPE_MEMORY},   {"ATOMS", PIPE_MEMORY},   {"RED", PIPE_MEMORY},       {"REDG", PIPE_MEMORY},
    {"SHFL", PIPE_MEMORY},    {"LDC", PIPE_MEMORY},     {"REDUX", PIPE_MEMORY},     {"MATCH", PIPE_MEMORY},
    {"REDS", PIPE_MEMORY},    {"CCTL", PIPE_NONE},      {"MEMBAR", PIPE_NONE},      {"ERRBAR", PIPE_NONE},
    {"FENCE", PIPE_NONE},     {"ELECT", PIPE_UNIFORM},  {"MOVM", PIPE_SPECIAL},     {"HGMMA", PIPE_TENSOR},
    {"WARPGROUP", PIPE_NONE}, {"SYNCS", PIPE_MEMORY},   {"LDCU", PIPE_MEMORY},      {"FFMA2", PIPE_FMA},
    {"FADD2", PIPE_FMA},      {"FMUL2", PIPE_FMA},      {"OMMA", PIPE_TENSOR},      {"CREDUX", PIPE_MEMORY},
    {"BRXU", PIPE_BRANCH},
};

static enum pipe pipe_of(const char *base)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(classes[i].base, base))
            return classes[i].pipe;
    return base[0] == 'U' ? PIPE_UNIFORM : PIPE_ALU;
}

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static bool is_any(const char *base, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(base, *names))
            return true;
    return false;
}

static enum space space_of(const struct instruction *it)
{
    static const char *const shared[] = {"LDS", "STS", "LDSM", "STSM", "ATOMS", "REDS", NULL};
    static const char *const shuffles[] = {"SHFL", "REDUX", "CREDUX", "MATCH", NULL};
    if (it->pipe != PIPE_MEMORY)
        return SPACE_NONE;
    if (!strcmp(it->base, "SYNCS"))
        return SPACE_PHASE;
    if (is_any(it->base, shared))
        return SPACE_SHARED;
    if (is_any(it->base, shuffles))
        return SPACE_SHUFFLE;
    if (!strcmp(it->base, "LDL") || !strcmp(it->base, "STL"))
        return SPACE_LOCAL;
    return starts(it->base, "LDC") ? SPACE_CONSTANT : SPACE_GLOBAL;
}

// RED.E.ADD.F64, REDG.E.ADD.F32x4, ATOM.E.ADD.F16x2, ATOMG.E.CAS.128.
static int atomic_bytes_of(const char *name)
{
    const char *times = strchr(name, 'x');
    if (strstr(name, ".128"))
        return 16;
    int bytes = strstr(name, "64") ? 8 : strstr(name, "F16") ? 2 : 4;
    return times ? bytes * (times[1] - '0') : bytes;
}

static int bytes_of(const char *name)
{
    if (starts(name, "ATOM") || starts(name, "RED"))
        return atomic_bytes_of(name);
    if (strstr(name, ".128"))
        return 16;
    if (strstr(name, ".64"))
        return 8;
    if (strstr(name, ".U8") || strstr(name, ".S8"))
        return 1;
    if (strstr(name, ".U16") || strstr(name, ".S16"))
        return 2;
    if (starts(name, "LDSM") || starts(name, "STSM"))
        return strstr(name, ".4") ? 16 : strstr(name, ".2") ? 8 : 4;
    return 4;
}

// HMMA.16816.F16, IMMA.8816.S8.S8: rows, 8 columns, depth.
struct shape {
    const char *name;
    int rows, depth;
};

static const struct shape *shape_of(const char *name)
{
    static const struct shape shapes[] = {{".16816", 16, 16}, {".16832", 16, 32}, {".16864", 16, 64}, {".1688", 16, 8},
                                          {".8816", 8, 16},   {".8832", 8, 32},   {".1684", 16, 4},   {".884", 8, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strstr(name, shapes[i].name))
            return &shapes[i];
    return NULL;
}

// Multiply-adds of a matrix instruction, in units of the fp16 rate: tf32 at half of it, 8 bits at twice, 4 bits at four
// times.
static double tensor_work_of(const char *name)
{
    const struct shape *shape = shape_of(name);
    double work = shape ? shape->rows * 8 * shape->depth : 0;
    if (strstr(name, "TF32"))
        return 2 * work;
    if (starts(name, "OMMA"))
        return work / 4;
    return starts(name, "IMMA") || starts(name, "QMMA") ? work / 2 : work;
}

// Registers of a lane with its part of a matrix instruction's sums. HMMA.884 makes four products at once.
static int sum_registers_of(const char *name)
{
    const struct shape *shape = shape_of(name);
    int bytes = starts(name, "DMMA") ? 8 : starts(name, "HMMA") && strstr(name, ".F16") ? 2 : 4;
    if (!shape)
        return 4;
    return shape->rows * 8 * bytes / (4 * LANES) * (starts(name, "HMMA.884") ? 4 : 1);
}

// HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0: four warps multiply, each a quarter of the rows. Factors lie in
// shared memory, but for the first where a register stands in its place. The tensor cores read them once for all four.
static void classify_products(struct instruction *it)
{
    int m, n, k, bytes = strstr(it->name, "TF32") ? 4 : 2;
    if (strcmp(it->base, "HGMMA") || sscanf(it->name, "HGMMA.%dx%dx%d", &m, &n, &k) != 3)
        return;
    const struct operand *last = &it->operands[it->count - 1];
    bool registers = it->count > 1 && it->operands[1].kind == REGISTER;
    it->products = true;
    it->tensor_work = (double)m * n * k / GROUP_WARPS * (bytes / 2);
    it->operand_bytes = (double)((registers ? 0 : m) + n) * k * bytes / GROUP_WARPS;
    it->result_registers = strstr(it->name, ".F32") ? n / 2 : n / 4;
    it->products_group = it->count && last->kind == OTHER && starts(last->text, "gsb");
}

// SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2+URZ], R5 and its like.
static enum phase_step phase_of(const char *name)
{
    return starts(name, "SYNCS.EXCH")       ? PHASE_BEGIN
           : starts(name, "SYNCS.ARRIVE")   ? PHASE_ARRIVE
           : starts(name, "SYNCS.PHASECHK") ? PHASE_TEST
                                            : PHASE_NONE;
}

// UTMALDG.4D [UR8], [UR14] brings a box, UTMASTG.2D [UR4], [UR8] sends one away. UBLKCP.S.G and UBLKCP.G.S do so with
// bytes that lie side by side.
static int dimensions_of(const char *name)
{
    int dimensions = 0;
    if (!strcmp(name, "UBLKCP.S.G") || !strcmp(name, "UBLKCP.G.S"))
        return 1;
    bool moves = sscanf(name, "UTMALDG.%dD", &dimensions) == 1 || sscanf(name, "UTMASTG.%dD", &dimensions) == 1;
    return moves ? dimensions : 0;
}

static bool writes_nothing(const struct instruction *it)
{
    static const char *const none[] = {"ST",        "STG",       "STS",    "STL",     "STSM",    "RED",    "REDG",
                                       "REDS",      "BRA",       "EXIT",   "BAR",     "BSSY",    "BSYNC",  "CALL",
                                       "RET",       "NOP",       "BRX",    "BRXU",    "JMP",     "CCTL",   "BREAK",
                                       "YIELD",     "MEMBAR",    "DEPBAR", "LDGSTS",  "ERRBAR",  "R2P",    "WARPSYNC",
                                       "NANOSLEEP", "LDGDEPBAR", "FENCE",  "UTMALDG", "UTMASTG", "UBLKCP", NULL};
    return is_any(it->base, none);
}

// The written operands come first: predicates, then one register, then carries of it.
static int results_of(const struct instruction *it)
{
    if (writes_nothing(it))
        return 0;
    int n = 0;
    bool sets = strstr(it->base, "SETP") || strstr(it->base, "PLOP3") || strstr(it->base, "DSETP");
    bool extreme = it->pairs && strstr(it->base, "MNMX"); // IMNMX.U64 PT, PT, R4, R2, UR8, !PT, !PT
    while (n < it->count && n < (sets || extreme ? 2 : 1) && it->operands[n].kind == PREDICATE)
        n++;
    if (sets || !strcmp(it->base, "FCHK") || (n && starts(it->base, "VOTE")))
        return n;
    if (n < it->count && it->operands[n].kind == REGISTER)
        n++;
    static const char *const carrying[] = {"IADD3", "UIADD3", "LEA", "ULEA", "VOTE", "VOTEU", "IMAD", "UIMAD", NULL};
    if (is_any(it->base, carrying))
        while (n + 1 < it->count && n < 3 && it->operands[n].kind == PREDICATE && !it->operands[n].inverted)
            n++;
    return n;
}

static int result_registers_of(const struct instruction *it)
{
    if (it->space == SPACE_GLOBAL || it->space == SPACE_SHARED || it->space == SPACE_LOCAL ||
        it->space == SPACE_CONSTANT)
        return it->bytes > 4 ? it->bytes / 4 : 1;
    if (it->pipe == PIPE_TENSOR)
        return sum_registers_of(it->name);
    if (starts(it->name, "CS2R"))
        return strstr(it->name, ".32") ? 1 : 2;
    bool two = is_any(it->base, (const char *const[]){"FFMA2", "FADD2", "FMUL2", NULL});
    bool pair = it->pairs && !strstr(it->base, "SETP");
    return two || pair || it->pipe == PIPE_DOUBLE || strstr(it->name, ".WIDE") || strstr(it->name, ".64") ||
                   starts(it->name, "F2F.F64") || starts(it->name, "I2F.F64")
               ? 2
               : 1;
}

// BAR.SYNC.DEFER_BLOCKING 0x1, 0x100: the barrier's number and how many threads it is for, all of the block's where it
// does not say. BAR.ARV arrives and does not wait.
static void classify_barrier(struct instruction *it)
{
    const struct operand *number = &it->operands[0], *threads = &it->operands[1];
    if (strcmp(it->base, "BAR"))
        return;
    bool some = it->count > 1 && number->kind == IMMEDIATE && threads->kind == IMMEDIATE && threads->value >= LANES &&
                number->value >= 0 && number->value < NAMED_BARRIERS;
    it->barrier = !strstr(it->name, ".ARV");
    it->barrier_at = some ? 1 + (int)number->value : it->barrier ? WHOLE_BLOCK : 0;
    it->barrier_warps = some ? (int)threads->value / LANES : 0;
}

// Blackwell's IADD.64, SEL.64, ISETP.GE.S64.AND and their uniform twins. Shifts have the upper word by itself.
static bool works_on_pairs(const struct instruction *it)
{
    static const char *const bases[] = {"IADD",   "IADD3", "SEL",  "MOV",    "ISETP",  "IMNMX",
                                        "UIADD3", "USEL",  "UMOV", "UISETP", "UIMNMX", NULL};
    return is_any(it->base, bases) && strstr(it->name, "64");
}

void classify(struct instruction *it)
{
    it->pairs = works_on_pairs(it);
    it->adds = is_any(it->base, (const char *const[]){"IADD", "IADD3", "VIADD", NULL});
    it->pipe = pipe_of(it->base);
    it->space = space_of(it);
    it->bytes = bytes_of(it->name);
    it->atomic = starts(it->base, "ATOM") || starts(it->base, "RED");
    it->asynchronous = !strcmp(it->base, "LDGSTS");
    it->atomic &= it->space != SPACE_SHUFFLE;
    it->store = starts(it->base, "ST") && it->space != SPACE_NONE;
    it->load = it->space != SPACE_NONE && !it->store && !it->atomic;
    classify_barrier(it);
    it->copies_group = !strcmp(it->base, "LDGDEPBAR") || !strcmp(it->base, "UTMACMDFLUSH");
    it->copies_wait = !strcmp(it->base, "DEPBAR");
    it->results = results_of(it);
    it->result_registers = result_registers_of(it);
    it->tensor_work = it->pipe == PIPE_TENSOR ? tensor_work_of(it->name) : 0;
    it->products_wait = starts(it->name, "WARPGROUP.DEPBAR");
    it->phase = phase_of(it->name);
    it->dimensions = dimensions_of(it->name);
    it->run = it->dimensions && starts(it->base, "UBLKCP");
    it->leaves = it->dimensions && (starts(it->base, "UTMASTG") || strstr(it->name, ".G.S"));
    classify_products(it);
}
