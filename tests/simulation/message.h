/* What the simulation does with messages that nobody else does. */
#ifndef SP_TESTS_SIMULATION_MESSAGE_H
#define SP_TESTS_SIMULATION_MESSAGE_H

#include "page/message.h"

/* A deep copy, for the messages a crash must leave in the channel. */
struct sp_message *message_copy(const struct sp_message *m);

/* One line: kind, page and what leads from one message to the next. */
void message_print(const struct sp_message *m);

#endif
