/*
 * tiny_attention.c - self-attention (Vaswani et al. 2017) and layer normalisation (Ba et al. 2016), made of products of
 * matrices, exponentials and sums: tiny_attention [UPDATES].
 *
 * The task: a sequence of 8 positions, each with a key of four numbers and a value; the answer at each position is the
 * value at the one other position that has the same key. No layer that looks at one position at a time can do that.
 *
 *   x[T,D]    keys and values side by side            q = x Wq    k' = Wk' x'    v = x Wv
 *   e = exp(q k')                                     scores of each position for each other
 *   a = e / (the sum of its row)                      softmax: rows add up to 1
 *   y = norm(a v) Wo                                  the answer, compared with what it should be
 *
 * A quotient is a product with exp(-log(.)). A row's sum, in every column, is a product with a matrix of ones. The
 * transpose of k is not taken: it is computed from the transpose of x, which is data.
 */
#include <gradus.h>
#include <stdio.h>
#include <stdlib.h>

enum { T = 8, KEY = 4, D = KEY + 1, H = 8 /* of queries, keys and values */ };

typedef struct {
    gr_context *ctx;
    gr_tensor *wq, *wk, *wv, *wo;                      /* [D,H], [H,D] transposed, [D,H], [H,1]: the parameters */
    gr_tensor *x, *xt, *target, *others;               /* [T,D], [D,T], [T,1]; others: 0 on the diagonal, else 1 */
    gr_tensor *row_sums, *features, *centre, *epsilon; /* constants: see norm and softmax */
} model;

/* --- compositions ------------------------------------------------------------------------------------------------- */

/* a / b, element by element; b above 0. */
static gr_tensor *divide(gr_tensor *a, gr_tensor *b)
{
    return gr_mul(a, gr_exp(gr_scale(gr_log(b), -1)));
}

/* Rows of exp(scores), each divided by its sum; a position does not look at itself. */
static gr_tensor *softmax(const model *m, gr_tensor *scores)
{
    gr_tensor *e = gr_mul(gr_exp(scores), m->others);
    return divide(e, gr_matmul(e, m->row_sums));
}

/* Rows minus their mean, divided by their deviation: (x - mean) exp(-log(variance + epsilon) / 2). */
static gr_tensor *norm(const model *m, gr_tensor *x)
{
    gr_tensor *centred = gr_matmul(x, m->centre); /* I - 1/H: takes the mean of a row from each of its elements */
    gr_tensor *variance = gr_matmul(gr_mul(centred, centred), m->features); /* 1/H everywhere: means, in every column */
    return gr_mul(centred, gr_exp(gr_scale(gr_log(gr_add(variance, m->epsilon, NULL)), -0.5)));
}

static gr_tensor *attention(const model *m)
{
    gr_tensor *q = gr_matmul(m->x, m->wq), *kt = gr_matmul(m->wk, m->xt), *v = gr_matmul(m->x, m->wv);
    gr_tensor *looks = softmax(m, gr_matmul(q, kt));
    return gr_matmul(gr_add(norm(m, gr_matmul(looks, v)), gr_matmul(looks, v), NULL), m->wo);
}

/* --- tensors and data --------------------------------------------------------------------------------------------- */

static double uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes */
    return (double)(*state >> 8) / (1 << 24) * 2 - 1;
}

/* A matrix: random numbers up to scale, or scale where they are to be equal, with more on the diagonal. */
static gr_tensor *matrix(gr_context *ctx, bool variable, int rows, int columns, double scale, double diagonal,
                         unsigned *random)
{
    float values[64];
    const int64_t shape[2] = {rows, columns};
    for (int i = 0; i < rows * columns; i++)
        values[i] = (float)(scale * (random ? uniform(random) : 1) + (i / columns == i % columns ? diagonal : 0));
    gr_tensor *t = variable ? gr_variable(ctx, 2, shape) : gr_tensor_new(ctx, GR_F32, 2, shape);
    gr_upload(t, values);
    return t;
}

static model make(gr_context *ctx)
{
    unsigned random = 1;
    return (model){.ctx = ctx,
                   .wq = matrix(ctx, true, D, H, 0.5, 0, &random),
                   .wk = matrix(ctx, true, H, D, 0.5, 0, &random),
                   .wv = matrix(ctx, true, D, H, 0.5, 0, &random),
                   .wo = matrix(ctx, true, H, 1, 0.5, 0, &random),
                   .x = matrix(ctx, false, T, D, 0, 0, NULL),
                   .xt = matrix(ctx, false, D, T, 0, 0, NULL),
                   .target = matrix(ctx, false, T, 1, 0, 0, NULL),
                   .others = matrix(ctx, false, T, T, 1, -1, NULL),
                   .row_sums = matrix(ctx, false, T, T, 1, 0, NULL),
                   .features = matrix(ctx, false, H, H, 1.0 / H, 0, NULL),
                   .centre = matrix(ctx, false, H, H, -1.0 / H, 1, NULL),
                   .epsilon = matrix(ctx, false, T, H, 1e-5, 0, NULL)};
}

/* A new sequence: positions i and i + T/2, shuffled, share a key of -1 and 1; values are random. */
static void draw(const model *m, unsigned *random)
{
    float x[T][D], xt[D][T], target[T];
    int place[T];
    for (int i = 0; i < T; i++)
        place[i] = i;
    for (int i = T - 1; i > 0; i--) {
        const int j = (int)((uniform(random) + 1) / 2 * (i + 1)), other = place[j];
        place[j] = place[i];
        place[i] = other;
    }
    const unsigned first = (unsigned)((uniform(random) + 1) * 8); /* four different keys of sixteen */
    for (int i = 0; i < T; i++) {
        for (int c = 0; c < KEY; c++)
            x[place[i]][c] = (first + 5u * (unsigned)(i % (T / 2))) >> c & 1 ? 1 : -1;
        x[place[i]][KEY] = (float)uniform(random);
    }
    for (int i = 0; i < T; i++)
        target[place[i]] = x[place[(i + T / 2) % T]][KEY];
    for (int i = 0; i < T * D; i++)
        xt[i % D][i / D] = x[i / D][i % D];
    gr_upload(m->x, x);
    gr_upload(m->xt, xt);
    gr_upload(m->target, target);
}

int main(int argc, char **argv)
{
    const int updates = argc > 1 ? atoi(argv[1]) : 3000;
    gr_context *ctx = gr_open(&(gr_options){.seed = 1});
    const model m = make(ctx);
    gr_module *parameters = gr_variables(ctx, 4, (gr_tensor *[]){m.wq, m.wk, m.wv, m.wo}, NULL);
    gr_optimizer *adam = gr_adam(ctx, parameters, &(gr_adam_options){.lr = 0.01});
    unsigned random = 7;
    double mean = 0;
    for (int update = 1; update <= updates && gr_ok(ctx); update++) {
        draw(&m, &random);
        gr_tensor *loss = gr_mse(attention(&m), m.target);
        gr_minimize(adam, loss);
        mean += gr_item(loss) / (updates / 10);
        gr_step_end(ctx);
        if (update % (updates / 10) == 0) {
            printf("update %5d: mean squared error %.4f\n", update, mean);
            mean = 0;
        }
    }
    if (!gr_ok(ctx))
        fprintf(stderr, "%s\n", gr_error_text(ctx));
    return gr_close(ctx);
}
