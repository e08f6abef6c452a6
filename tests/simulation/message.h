/* Operations on messages that only the simulation needs. */
#ifndef SP_TESTS_SIMULATION_MESSAGE_H
#define SP_TESTS_SIMULATION_MESSAGE_H

#include "page/message.h"

/* A deep copy, for the messages that a crash must leave in the channel. */
struct sp_message *message_copy(const struct sp_message *m);

/* Prints one line: kind, page, and the fields that relate messages to one another. */
void message_print(const struct sp_message *m);

#endif
