/* One compare stage over a store in memory. A test sends it messages and gets those that it
 * sends. */
#ifndef SP_TESTS_COMPARE_HELPER_H
#define SP_TESTS_COMPARE_HELPER_H

#include "compare/compare.h"

struct stage {
    struct sp_db *db;
    struct sp_partition_map map;
    struct sp_compare_stage_options options; /* a test may change them before the stage opens */
    struct sp_outbox outbox;
    struct sp_compare_stage *compare;
};

/* A default map of so many cells, threshold 0.8, lossless routing. `send` owns the messages that it
 * gets. The stage is not open yet. */
void stage_init(struct stage *s, uint32_t cells, void (*send)(void *arg, struct sp_message *m),
                void *arg);
/* Makes the stage and loads its rows, which a test may have damaged. */
enum sp_err stage_open(struct stage *s);
void stage_done(struct stage *s);

struct sp_store *stage_store(struct stage *s);
void stage_commit(struct stage *s);
/* Drops what was not committed. */
enum sp_err stage_reopen(struct stage *s);
/* Commits, then opens the stage with the present options. */
void stage_restart(struct stage *s);

struct sp_message *put_of(struct sp_id page, struct sp_put put);
struct sp_message *remove_of(struct sp_id page, struct sp_remove remove);
/* Frees the message. */
enum sp_err stage_try_step(struct stage *s, struct sp_message *m);
void stage_step(struct stage *s, struct sp_message *m);
/* Works off all debt. */
void stage_settle(struct stage *s);

/* The cell of pages of so many shingles, all of which begin with words of the first
 * sub-dictionary. */
uint32_t stage_cell(const struct stage *s, uint32_t length);
struct sp_compare_stage_stats stage_stats(const struct stage *s);

#endif
