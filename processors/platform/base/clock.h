/* The clocks, for progress, measurements, timeouts and metrics. The stages are pure and must not
 * read a clock; tools/lint checks that. Thread rule: any thread. */
#ifndef SP_BASE_CLOCK_H
#define SP_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Monotonic time since an arbitrary moment, the same for all three: CLOCK_MONOTONIC. */
double sp_clock_seconds(void);
int64_t sp_clock_ms(void);
int64_t sp_clock_us(void);

/* Milliseconds since 1970 in UTC: CLOCK_REALTIME. */
int64_t sp_clock_wall_ms(void);

/* Seconds of processor time that the calling thread, or the process, has used. */
double sp_clock_thread_seconds(void);
double sp_clock_process_seconds(void);

/* Sleeps for so many milliseconds, or until `goes_on` returns false, which is called at least ten
 * times a second, also before the first and after the last sleep. Returns the last result of
 * `goes_on`. */
bool sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg);

#endif
