/* Starts threads. */
#ifndef SP_BASE_THREAD_H
#define SP_BASE_THREAD_H

#include <pthread.h>

#include "base/fault.h"

/* Starts a thread that calls run(arg); the caller joins it with pthread_join. SP_IO: the system
 * allows no more threads; the fault names the limits to check. Thread rule: any thread. */
enum sp_err sp_thread_start(pthread_t *ret_thread, void *(*run)(void *arg), void *arg,
                            struct sp_fault *fault);

#endif
