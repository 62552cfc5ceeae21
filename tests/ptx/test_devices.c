/* test_devices.c - a context on the second of two GPUs, used by several threads, beside errors that nobody has read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gradus.h"

/* The CUDA runtime's, here the interpreter's. */
int cudaSetDevice(int device);
int cudaGetDevice(int *device);
int cudaGetLastError(void);

static int current_device(void)
{
    int device = -1;
    cudaGetDevice(&device);
    return device;
}

static int open_second(void **state)
{
    setenv("GRADUS_GPU", "1", 1);
    *state = gr_open(&(gr_options){.device = "cuda"});
    return gr_ok(*state) ? 0 : -1;
}

static int close_it(void **state)
{
    cudaGetLastError();
    gr_close(*state);
    return 0;
}

/* relu(-1), relu(2) through the device's memory, copies and kernels; the bits of the answer. */
static void *positive_part(void *ctx)
{
    gr_tensor *x = gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){2});
    float y[2] = {-1, -1};
    bool good = gr_upload(x, (float[]){-1, 2}) && gr_download(gr_relu(x), y) && y[0] == 0 && y[1] == 2;
    gr_step_end(ctx);
    return good ? ctx : NULL;
}

static void a_number_that_is_none_is_refused(void **state)
{
    static const char *const wrong[] = {"first", "1x", "-1", "2"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("GRADUS_GPU", wrong[i], 1);
        gr_context *ctx = gr_open(&(gr_options){.device = "cuda"});
        assert_int_equal(gr_close(ctx), GR_USAGE);
    }
}

static void any_thread_may_use_a_context(void **state)
{
    pthread_t thread;
    void *answer = NULL;
    assert_int_equal(pthread_create(&thread, NULL, positive_part, *state), 0); /* its device is the first one */
    pthread_join(thread, &answer);
    assert_string_equal(gr_error_text(*state), "");
    assert_non_null(answer);
    cudaSetDevice(0);
    assert_non_null(positive_part(*state));
}

static void asking_about_a_gpu_chooses_none(void **state)
{
    gr_gpu_info info;
    const char *why = NULL;
    cudaSetDevice(1);
    assert_true(gr_gpu(0, &info, &why));
    assert_int_equal(current_device(), 1);
    assert_non_null(positive_part(*state));
}

/* It is told as what it is, not as memory that has run out, and stays to be told. */
static void an_error_that_nobody_read_is_not_lost(void **state)
{
    cudaSetDevice(99);
    assert_null(gr_tensor_new(*state, GR_F32, 1, (int64_t[]){1 << 20}));
    assert_int_equal(gr_error_code(*state), GR_DEVICE_FAULT);
    assert_null(strstr(gr_error_text(*state), "out of memory"));
    assert_int_not_equal(cudaGetLastError(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_is_none_is_refused),
        cmocka_unit_test_setup_teardown(any_thread_may_use_a_context, open_second, close_it),
        cmocka_unit_test_setup_teardown(asking_about_a_gpu_chooses_none, open_second, close_it),
        cmocka_unit_test_setup_teardown(an_error_that_nobody_read_is_not_lost, open_second, close_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
