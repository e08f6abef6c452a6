/* Big worlds: hundreds or thousands of pages in a few large groups, and events that hit many
 * members of a group: its winner becomes a redirect, its pages are erased or change one after
 * another, redirects to it form a chain, pages are erased or change while they move to another
 * group, a page changes its text and returns to it again and again. Rules about winners and the
 * limits of large groups differ from world to world. */
#ifndef SP_TESTS_SIMULATION_BIG_H
#define SP_TESTS_SIMULATION_BIG_H

#include "state.h"

/* Draws the pages and their texts; returns the number of events. */
uint32_t sim_big_draw(struct world *w);
/* The limits of large groups, and rules about winners. */
void sim_big_rules(struct world *w);
/* winner.relation of this world, or NULL. */
const char *sim_big_relation(const struct world *w);
/* Cells cut the total length at this number and above. */
uint32_t sim_big_least(const struct world *w);
/* How many of a hundred steps are events. */
uint32_t sim_big_haste(struct world *w);
void sim_big_event(struct world *w);
/* To be called with each message that is sent. */
void sim_big_note(struct world *w, const struct sp_message *m);

#endif
