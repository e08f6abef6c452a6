/* A bus on which others write, too: messages come twice, again much later, or damaged. The stages
 * cannot keep the right result then, but they must go on: no assertion, no damaged state. Where
 * messages only come again, none may be on its way without end once the others have stopped. */
#ifndef SP_TESTS_SIMULATION_HOSTILE_H
#define SP_TESTS_SIMULATION_HOSTILE_H

#include "state.h"

/* Adds what this message gives others to write to w->foreign. */
void sim_disturb(struct world *w, const struct sp_message *m);
void sim_disturb_done(struct world *w);
/* Whether messages are damaged in this world. One that names what was never there may be sent back
 * and forth without end. */
bool sim_damages(const struct world *w);
/* Whether the others have stopped. */
bool sim_is_left_alone(const struct world *w);

#endif
