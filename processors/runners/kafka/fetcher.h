/* Fetches a partition from its leader without librdkafka, for restores. Private to this folder.
 *
 * librdkafka makes an object of each record in one thread and frees it in another, which was more
 * than a third of the processor time of a restore. Here the bytes of a fetch are read as they are
 * (batches.h), while the broker already prepares the next ones.
 *
 * It knows one request (Fetch, version 4, which brokers from 0.11 to 4 have) and one kind of
 * connection, without TLS and SASL. It retries nothing: whatever goes wrong, the caller continues
 * with librdkafka, which also has the words for it. Memory: the bytes of one fetch. Every wait is
 * bounded. Thread rule: one thread. */
#ifndef SP_KAFKA_FETCHER_H
#define SP_KAFKA_FETCHER_H

#include <librdkafka/rdkafka.h>

#include "kafka/batches.h"

struct sp_fetcher;

/* Whether a consumer's settings permit it: security.protocol is plaintext, and check.crcs is off.
 */
bool sp_fetcher_may(rd_kafka_t *consumer);
/* Connects to the leader. `known` is a handle that is asked for it; `consumer` has the settings:
 * client.id, fetch.wait.max.ms, and queued.max.messages.kbytes, which is the size of a fetch here.
 * NULL: it cannot. */
struct sp_fetcher *sp_fetcher_open(rd_kafka_t *known, rd_kafka_t *consumer, const char *topic,
                                   int32_t partition);
/* NULL is allowed. */
void sp_fetcher_close(struct sp_fetcher *f);
/* Asks for the committed records from an offset on. False: it cannot; close it. */
bool sp_fetcher_ask(struct sp_fetcher *f, int64_t offset);
/* Waits for what was asked for. Borrowed until the next call of sp_fetcher_take; there may be no
 * batch. False: as above. */
bool sp_fetcher_take(struct sp_fetcher *f, struct sp_batches *ret_batches);

#endif
