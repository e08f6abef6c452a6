/* Waits of librdkafka that end in time when the system's clock is set back. Private to this
 * folder. */
#ifndef SP_KAFKA_STEADY_H
#define SP_KAFKA_STEADY_H

/* Links steady.c, whose cnd_timedwait then takes the place of the C library's. */
void sp_steady_waits(void);

#endif
