/*
 * autograd_by_hand.c - y = relu(x w + b), differentiated by the tape and by the chain rule written out, side by side.
 *
 * Given dy, the gradient of some loss by y, the chain rule says
 *
 *   dz = dy where y > 0, else 0        (z = x w + b: relu hands dy through where it was open)
 *   dx = dz w^T    dw = x^T dz    db = sum of the rows of dz
 */
#include <gradus.h>
#include <math.h>
#include <stdio.h>

enum { N = 3, IN = 2, OUT = 2 }; /* samples, inputs and outputs of each */

static const double x[N][IN] = {{1.0, 2.0}, {-1.0, 0.5}, {3.0, -2.0}};
static const double w[IN][OUT] = {{0.5, -1.0}, {0.25, 2.0}};
static const double b[OUT] = {0.1, -0.2};
static const double dy[N][OUT] = {{1.0, -1.0}, {2.0, 0.5}, {0.25, 3.0}};

typedef struct {
    double y[N][OUT], dx[N][IN], dw[IN][OUT], db[OUT];
} answer;

static answer by_hand(void)
{
    answer a = {0};
    for (int n = 0; n < N; n++) {
        for (int j = 0; j < OUT; j++) {
            double z = b[j];
            for (int i = 0; i < IN; i++)
                z += x[n][i] * w[i][j];
            a.y[n][j] = z > 0 ? z : 0;
            double dz = z > 0 ? dy[n][j] : 0;
            a.db[j] += dz;
            for (int i = 0; i < IN; i++) {
                a.dw[i][j] += x[n][i] * dz;
                a.dx[n][i] += dz * w[i][j];
            }
        }
    }
    return a;
}

/* A leaf of the tape that holds these values. */
static gr_tensor *variable(gr_context *ctx, int ndim, const int64_t *shape, const void *values)
{
    gr_tensor *t = gr_variable(ctx, ndim, shape);
    gr_upload(t, values);
    return t;
}

static answer by_tape(gr_context *ctx)
{
    answer a = {0};
    gr_tensor *X = variable(ctx, 2, (int64_t[]){N, IN}, x), *W = variable(ctx, 2, (int64_t[]){IN, OUT}, w);
    gr_tensor *B = variable(ctx, 1, (int64_t[]){OUT}, b), *dY = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){N, OUT});
    gr_upload(dY, dy);
    gr_tensor *Y = gr_relu(gr_dense(X, W, B, NULL)); /* computes, and leaves two nodes on the tape */
    gr_download(Y, a.y);
    gr_backward_from(Y, dY); /* walks them from last to first */
    gr_download(gr_grad(X), a.dx);
    gr_download(gr_grad(W), a.dw);
    gr_download(gr_grad(B), a.db);
    return a;
}

/* Prints rows x cols numbers of both; returns how many differ by more than rounding. */
static int compare(const char *name, int rows, int cols, const double *tape, const double *hand)
{
    int wrong = 0;
    for (int i = 0; i < rows * cols; i++) {
        double difference = fabs(tape[i] - hand[i]);
        wrong += !(difference <= 1e-14); /* also when it is no number */
        printf("%-2s[%d,%d] %10.4f %10.4f %12.1e\n", name, i / cols, i % cols, tape[i], hand[i], difference);
    }
    return wrong;
}

int main(void)
{
    /* Plain loops in double precision: step through them in a debugger. */
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    answer tape = by_tape(ctx), hand = by_hand();
    if (!gr_ok(ctx)) {
        fprintf(stderr, "%s\n", gr_error_text(ctx));
        return gr_close(ctx);
    }
    gr_close(ctx);
    printf("%-7s %10s %10s %12s\n", "", "tape", "by hand", "difference");
    int wrong = compare("y", N, OUT, tape.y[0], hand.y[0]) + compare("dx", N, IN, tape.dx[0], hand.dx[0]) +
                compare("dw", IN, OUT, tape.dw[0], hand.dw[0]) + compare("db", 1, OUT, tape.db, hand.db);
    printf("%s\n", wrong ? "They differ." : "They agree.");
    return wrong > 0;
}
