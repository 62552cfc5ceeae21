// What instructions compute. The meanings are those of the CUDA Binary Utilities' instruction set reference, as far as
// it goes; carries, high halves and .EX follow what nvcc makes of 64-bit arithmetic.
#include "execute.h"

#include <string.h>

#include "meanings.h"

// Arithmetic of halves and doubles decides no address in practice; where it does, ones stand for the values.
static bool stand_in(struct warp *warp, const struct instruction *it, const struct parts *parts, uint32_t lanes)
{
    uint32_t words[LANES], zero[LANES] = {0};
    bool wide = it->pipe == PIPE_DOUBLE || has(it, "F64");
    for (int i = 0; i < LANES; i++)
        words[i] = wide ? 0x3ff00000u : it->base[0] == 'H' && !has(it, "F32") ? 0x3c003c00u : 0x3f800000u;
    for (int k = 0; k < parts->results; k++)
        write_predicate(warp, parts->to_predicates[k]->index, lanes, ~0u);
    if (!parts->to || parts->to->index == RZ)
        return true;
    for (int k = 0; k < it->result_registers; k++)
        write_word(warp, parts->to->index + k, lanes, wide && k == 0 ? zero : words);
    return true;
}

static const struct {
    const char *base;
    meaning *run;
} meanings[] = {
    {"IADD3", add3},
    {"VIADD", add3},
    {"IADD", add3},
    {"IADD2", add3},
    {"HFMA2", half_arithmetic},
    {"HADD2", half_arithmetic},
    {"HMUL2", half_arithmetic},
    {"IMAD", multiply_add},
    {"LEA", shift_add},
    {"LOP3", logic3},
    {"PLOP3", predicate_logic},
    {"SHF", funnel_shift},
    {"ISETP", compare_integers},
    {"FSETP", compare_floats},
    {"FADD", float_arithmetic},
    {"FMUL", float_arithmetic},
    {"FFMA", float_arithmetic},
    {"SEL", choose},
    {"FSEL", choose},
    {"IMNMX", choose},
    {"VIMNMX", choose},
    {"VIADDMNMX", choose},
    {"FMNMX", choose},
    {"PRMT", permute_bytes},
    {"MOV", copy},
    {"R2UR", copy},
    {"LDC", copy},
    {"LDCU", copy},
    {"S2R", read_special},
    {"CS2R", read_special},
    {"S2UR", read_special},
    {"POPC", single},
    {"FLO", single},
    {"IABS", single},
    {"SGXT", single},
    {"BREV", single},
    {"BMSK", single},
    {"MUFU", special},
    {"I2F", integer_to_float},
    {"I2FP", integer_to_float},
    {"F2I", float_to_integer},
    {"VOTE", vote},
    {"VOTEU", vote},
    {"SHFL", shuffle},
    {"P2R", predicates_to_register},
    {"R2P", register_to_predicates},
    {"FCHK", no_check},
    {"QSPC", is_global},
    {"REDUX", reduce},
    {"MATCH", match},
    {"MOVM", transpose},
    {"ELECT", elect},
};

// 1 + place in `meanings`, 1 + their number for what gets stand-ins, -1 for what is not understood.
static int operation_of(const struct instruction *it)
{
    const int count = (int)(sizeof meanings / sizeof *meanings);
    const char *base = it->base;
    if (!strcmp(base, "ULDC"))
        base = "LDC";
    else if (base[0] == 'U' && base[1])
        base++; // the uniform twin
    for (int i = 0; i < count; i++)
        if (!strcmp(meanings[i].base, base))
            return i + 1;
    return strchr("HDF", base[0]) || it->pipe == PIPE_TENSOR ? count + 1 : -1;
}

bool compute(struct warp *warp, struct instruction *it, uint32_t lanes)
{
    const int count = (int)(sizeof meanings / sizeof *meanings);
    if (!it->operation)
        it->operation = operation_of(it);
    if (it->operation < 0)
        return false;
    struct parts parts = take_apart(it);
    if (it->operation <= count && meanings[it->operation - 1].run(warp, it, &parts, lanes))
        return true;
    return strchr("HDFI", it->base[0]) && stand_in(warp, it, &parts, lanes);
}
