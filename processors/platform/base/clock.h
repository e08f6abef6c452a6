/* The clocks, for progress, measurements, timeouts and metrics. The stages are pure and must not
 * read a clock; tools/lint checks that. Thread rule: any thread. */
#ifndef SP_BASE_CLOCK_H
#define SP_BASE_CLOCK_H

#include <stdint.h>

/* Monotonic time since an arbitrary moment, the same for all three: CLOCK_MONOTONIC. */
double sp_clock_seconds(void);
int64_t sp_clock_ms(void);
int64_t sp_clock_us(void);

/* Seconds of processor time that the calling thread, or the process, has used. */
double sp_clock_thread_seconds(void);
double sp_clock_process_seconds(void);

#endif
