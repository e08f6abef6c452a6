/* A loop that is divided among threads. */
#ifndef SP_BASE_PARALLEL_H
#define SP_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

enum { SP_PARALLEL_THREADS = 256 }; /* at most */

/* Calls step(arg, thread, from, to) once for each of the ranges [0, grain), [grain, 2 grain) … of
 * [0, count), and returns when all calls have returned. Calls run at the same time on up to
 * `threads` threads (1 to SP_PARALLEL_THREADS), fewer if the system cannot start as many; `thread`
 * is the number of the thread, below `threads`, and 0 is the caller's. `step` must be safe to call
 * from several threads. A grain of 0 counts as 1. */
void sp_parallel(unsigned threads, size_t count, size_t grain,
                 void (*step)(void *arg, unsigned thread, size_t from, size_t to), void *arg);

#endif
