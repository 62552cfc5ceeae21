/* bench_pin.h - threads that stay where they are. */
#ifndef GRADUS_BENCH_PIN_H
#define GRADUS_BENCH_PIN_H

/* Gives each thread of this process one of the processors that it may use, in turn. */
void pin_threads(void);

/* The calling thread may use all of them again, and those it starts. */
void unpin_thread(void);

#endif
