/* Lines of librdkafka that say again what was just logged. Each handle reports each broker that it
 * cannot reach, and a stage has half a dozen of them, which it opens again every few seconds. */
#ifndef SP_KAFKA_REPEATS_H
#define SP_KAFKA_REPEATS_H

#include <stdbool.h>

/* How long an equal line is left out. */
enum { SP_REPEATS_MS = 60000 };

/* Whether an equal line was logged in the last SP_REPEATS_MS; otherwise remembers this one. How
 * long a connection had been tried, and how many errors librdkafka itself has suppressed, make no
 * difference. Thread rule: any thread. */
bool sp_repeats(const char *facility, const char *line);

#endif
