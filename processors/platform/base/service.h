/* A thread that works beside others until it is stopped: it sleeps between its tasks, can be woken,
 * and shares data with the other threads under its lock.
 *
 *   start ──> run(arg) ──> pause ──> task ──> pause ──> ... ──> pause returns false ──> run returns
 *                            ^ wake, stop, or the time is over
 *
 * A thread that waits for others can pause as a service of its own, without starting a thread. All
 * times are of the monotonic clock. */
#ifndef SP_BASE_SERVICE_H
#define SP_BASE_SERVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

enum { SP_SERVICE_NO_LIMIT = -1 }; /* pauses until woken */

struct sp_service {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool running; /* of the thread that starts and stops */
    bool ending;  /* under the lock */
};

/* Prepares the lock; no thread is started. */
void sp_service_init(struct sp_service *service);

/* Starts the thread, which calls run(arg). SP_IO: the system allows no more threads. */
enum sp_err sp_service_start(struct sp_service *service, void *(*run)(void *arg), void *arg,
                             struct sp_fault *fault);

/* For run(), with the lock held, which is released in between: sleeps until the service is woken,
 * stopped, or `ms` milliseconds have passed. Returns false if run() must return. It may return
 * early, so the caller checks what it waits for. */
bool sp_service_pause(struct sp_service *service, int64_t ms);

/* For run(), without the lock: pauses as above. */
bool sp_service_sleep(struct sp_service *service, int64_t ms);

/* Ends the next or present pause. With the lock held; any thread. */
void sp_service_wake(struct sp_service *service);

/* Whether run() must return. Takes the lock; any thread. */
bool sp_service_ending(struct sp_service *service);

/* Tells the thread to end and waits for it; does nothing if none is running. The lock remains. */
void sp_service_stop(struct sp_service *service);

/* Stops the thread and destroys the lock. */
void sp_service_done(struct sp_service *service);

#endif
