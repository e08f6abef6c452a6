/* The clocks, for the parts that may look at one: progress, figures, timeouts, metrics. The stages
 * are pure: tools/lint keeps these calls out of them. Thread rule: any thread. */
#ifndef SP_BASE_CLOCK_H
#define SP_BASE_CLOCK_H

#include <stdint.h>

/* From some moment on, never going back. */
double sp_clock_seconds(void);
int64_t sp_clock_ms(void);
int64_t sp_clock_us(void);

/* Seconds of processor time: other work on the machine does not slow them. */
double sp_clock_thread_seconds(void);
double sp_clock_process_seconds(void);

#endif
