/* Starts threads, and lowers their priority. */
#ifndef SP_BASE_THREAD_H
#define SP_BASE_THREAD_H

#include <pthread.h>

#include "base/fault.h"

/* Starts a thread that calls run(arg); the caller joins it with pthread_join. SP_IO: the system
 * allows no more threads; the fault names the limits to check. Thread rule: any thread. */
enum sp_err sp_thread_start(pthread_t *ret_thread, void *(*run)(void *arg), void *arg,
                            struct sp_fault *fault);

enum { SP_THREAD_BACKGROUND_NICE = 10 };

/* Lowers the priority of the calling thread for good: adds SP_THREAD_BACKGROUND_NICE to its nice
 * value, up to 19, so that it gets about a tenth of a processor that other threads want as well.
 * For work that nobody waits for. Where the system refuses, the priority stays as it is. Thread
 * rule: any thread; only the caller is affected. */
void sp_thread_background(void);

#endif
