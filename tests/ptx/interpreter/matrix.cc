/*
 * matrix.cc - tensor cores: ldmatrix and mma.sync with float sums (PTX ISA 9.0, 9.7.14.5). Of lane l, g = l / 4 and
 * t = l % 4; a register of halves holds two neighbours, the first in its lower half:
 *
 *   a  register r: row g + 8 (r % 2), columns from t * PER + (r / 2) * 4 PER on     PER: elements of a register
 *   b  register r: column g, rows from t * PER + r * 4 PER on
 *   d  register r: row g + 8 (r / 2), column 2t + r % 2
 */
#include "tests/ptx/interpreter/fault.h"
#include "tests/ptx/interpreter/formats.h"
#include "tests/ptx/interpreter/memory.h"
#include "tests/ptx/interpreter/operations.h"
#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/interpreter/tensor_cores.h"
#include "tests/ptx/interpreter/together.h"

namespace ptx
{
/* --- ldmatrix ----------------------------------------------------------------------------------------------------- */

/* Matrix k: lane 8 k + j tells where row j lies, 8 halves; lane l gets two neighbours of row l / 4 (or of column). */
template <bool TRANSPOSED> static void load_matrices(warp &w, const instruction &i, mask)
{
    char *at[LANES];
    shared_rows(w, i, i.n_to == 4 ? ALL : (1u << 8 * i.n_to) - 1, at);
    for (u32 k = 0; k < i.n_to; k++) {
        u16 row[8][8];
        for (u32 j = 0; j < 8; j++)
            memcpy(row[j], at[8 * k + j], 16);
        u32 *to = w.row<u32>(i.to[k]);
        for (u32 l = 0; l < LANES; l++) {
            const u32 g = l / 4, t = 2 * (l % 4);
            to[l] = TRANSPOSED ? row[t][g] | (u32)row[t + 1][g] << 16 : row[g][t] | (u32)row[g][t + 1] << 16;
        }
    }
}

/* --- mma ---------------------------------------------------------------------------------------------------------- */

struct half_element {
    static const u32 PER = 2;
    static const element OF = element::F16;
    static float value(u32 bits)
    {
        return f16_value((u16)bits);
    }
};
struct bf16_element {
    static const u32 PER = 2;
    static const element OF = element::BF16;
    static float value(u32 bits)
    {
        return bf16_value((u16)bits);
    }
};
struct tf32_element { /* a tensor core does not look at the last 13 bits */
    static const u32 PER = 1;
    static const element OF = element::TF32;
    static float value(u32 bits)
    {
        return value_of<float>(bits & 0xFFFFE000);
    }
};

template <int K> struct factors {
    float a[16][K], b[K][8];
};

template <int K, class E> static void read_factors(const warp &w, const instruction &i, factors<K> *f)
{
    const u32 A = 16 * K / LANES / E::PER, B = 8 * K / LANES / E::PER;
    for (u32 l = 0; l < LANES; l++)
        for (u32 e = 0; e < E::PER; e++) {
            const u32 g = l / 4, t = l % 4 * E::PER + e;
            for (u32 r = 0; r < A; r++)
                f->a[g + 8 * (r % 2)][t + r / 2 * 4 * E::PER] = E::value(w.row<u32>(i.from[r])[l] >> 16 * e);
            for (u32 r = 0; r < B; r++)
                f->b[t + r * 4 * E::PER][g] = E::value(w.row<u32>(i.from[A + r])[l] >> 16 * e);
        }
}

/* d[8] += a[K] b[K][8], one row, in the order that is asked for. Products are exact in float. */
template <int K> static void add_row(float d[8], const float a[K], const float b[K][8])
{
    double exact[8];
    float part[K][8];
    const bool down = asked().products == sums::DOWN;
    switch (asked().products) {
    case sums::HARDWARE: /* tensor_core */
        break;
    case sums::EXACT:
        for (int x = 0; x < 8; x++)
            exact[x] = d[x];
        for (int k = 0; k < K; k++)
            for (int x = 0; x < 8; x++)
                exact[x] += (double)a[k] * b[k][x];
        for (int x = 0; x < 8; x++)
            d[x] = (float)exact[x];
        break;
    case sums::UP:
    case sums::DOWN:
        for (int k = 0; k < K; k++)
            for (int x = 0; x < 8; x++)
                d[x] += a[down ? K - 1 - k : k] * b[down ? K - 1 - k : k][x];
        break;
    case sums::PAIRS:
        for (int k = 0; k < K; k++)
            for (int x = 0; x < 8; x++)
                part[k][x] = a[k] * b[k][x];
        for (int n = K / 2; n; n /= 2)
            for (int k = 0; k < n; k++)
                for (int x = 0; x < 8; x++)
                    part[k][x] += part[k + n][x];
        for (int x = 0; x < 8; x++)
            d[x] += part[0][x];
        break;
    }
}

template <int K, class E> static void multiply(warp &w, const instruction &i, mask)
{
    const u32 sums_at = (16 + 8) * K / LANES / E::PER;
    factors<K> f;
    float d[16][8];
    read_factors<K, E>(w, i, &f);
    for (u32 r = 0; r < 4; r++)
        for (u32 l = 0; l < LANES; l++)
            d[l / 4 + 8 * (r / 2)][2 * (l % 4) + r % 2] = value_of<float>(w.row<u32>(i.from[sums_at + r])[l]);
    const settings &asked_for = asked();
    if (asked_for.products == sums::HARDWARE)
        tensor_core(d, f.a[0], f.b, K, E::OF, asked_for.arch);
    else
        for (u32 y = 0; y < 16; y++)
            add_row<K>(d[y], f.a[y], f.b);
    for (u32 r = 0; r < 4; r++)
        for (u32 l = 0; l < LANES; l++)
            w.row<u32>(i.to[r])[l] = bits_of(d[l / 4 + 8 * (r / 2)][2 * (l % 4) + r % 2]);
}

handler matrix_of(const statement &s)
{
    const std::string &op = s.opcode;
    if (op == "ldmatrix.sync.aligned.m8n8.x4.shared.b16")
        return load_matrices<false>;
    if (op == "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
        return load_matrices<true>;
    if (op == "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32")
        return multiply<8, half_element>;
    if (op == "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
        return multiply<16, half_element>;
    if (op == "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
        return multiply<16, bf16_element>;
    return op == "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" ? multiply<8, tf32_element> : nullptr;
}
} // namespace ptx
