/* What an operator asks a stage on Kafka over HTTP:
 *
 *   /livez     200 while the worker has polled within the last minute, else 503
 *   /readyz    200 while partitions are assigned and nothing is being restored, else 503
 *   /metrics   the worker's counters, Prometheus text format 0.0.4
 *
 * Whatever else is sent does no harm: 404, 405 (only GET and HEAD), 413; one thread, a fixed number
 * of connections of bounded memory, and if all are taken the oldest one makes room. Nothing here
 * writes. Thread rule: start and stop in one thread; the metrics are read from the server's. */
#ifndef SP_KAFKA_HEALTH_H
#define SP_KAFKA_HEALTH_H

#include "kafka/worker.h"

struct sp_health;

struct sp_health_options {
    const char *listen; /* "127.0.0.1:8080", "[::1]:8080", ":8080" (all addresses); port 0: any */
    const char *stage;  /* the label of all metrics */
    const struct sp_worker_metrics *metrics;
};

enum { SP_HEALTH_ALIVE_MS = 60000, SP_HEALTH_CONNECTIONS = 64, SP_HEALTH_TIMEOUT_SECONDS = 10 };

/* SP_INVALID, SP_IO. The options'
 * stage and metrics must outlive the server. */
enum sp_err sp_health_start(const struct sp_health_options *options, struct sp_health **ret_server,
                            struct sp_fault *fault);
/* The port it listens on. */
uint16_t sp_health_port(const struct sp_health *server);
/* Ends the thread and all connections. NULL is allowed. */
void sp_health_stop(struct sp_health *server);

#endif
