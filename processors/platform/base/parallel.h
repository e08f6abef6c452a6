/* A loop over all threads. */
#ifndef SP_BASE_PARALLEL_H
#define SP_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

enum { SP_PARALLEL_THREADS = 256 };

/* Calls step(arg, thread, from, to) for consecutive ranges of [0, count) of up to `grain`, each
 * once, from `threads` threads (thread 0 is the caller's), or from fewer where the system has no
 * more of them; returns when all are done. */
void sp_parallel(unsigned threads, size_t count, size_t grain,
                 void (*step)(void *arg, unsigned thread, size_t from, size_t to), void *arg);

#endif
