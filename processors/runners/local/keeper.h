/* Marks the owner of a database: a run, a stage on Kafka, or a copy of `serve --kafka`. Their
 * databases have one format and the same settings. Without the mark, a run would work on a part of
 * a stage's state, or a copy would be made in the state of a run. */
#ifndef SP_LOCAL_KEEPER_H
#define SP_LOCAL_KEEPER_H

#include "base/fault.h"
#include "store/store.h"

enum sp_keeper { SP_KEEPER_RUN, SP_KEEPER_STAGE, SP_KEEPER_COPY, SP_KEEPERS };

/* After the database was opened. SP_INVALID: another one keeps it, and nothing was changed; the
 * fault says who. */
enum sp_err sp_keeper_check(struct sp_db *db, enum sp_keeper keeper, const char *directory,
                            struct sp_fault *fault);
/* The same for a reader, which may read what a run or a copy keeps; a stage's database has only a
 * part of the pages. */
enum sp_err sp_keeper_check_read(struct sp_db *db, const char *directory, struct sp_fault *fault);

#endif
