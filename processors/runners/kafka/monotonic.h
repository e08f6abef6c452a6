/* Waits of librdkafka that end in time when the system's clock is set back. Private to this
 * folder. */
#ifndef SP_KAFKA_MONOTONIC_H
#define SP_KAFKA_MONOTONIC_H

/* Links monotonic.c, whose cnd_timedwait then takes the place of the C library's. */
void sp_monotonic_waits(void);

#endif
