/* Distinguishes failures after which a database is wiped and restored from its changelog from those
 * that end when its disk has room again. */
#include <string.h>

#include "kafka/internal.h"

/* In the life of a process; after that the damage is assumed to be in the changelog. */
enum { WIPES = 3 };

bool sp_damage_is(enum sp_err err, const char *text)
{
    return err == SP_CORRUPT ||
           (err == SP_STORE && (strstr(text, "RocksDB: Corruption") ||
                                strstr(text, "RocksDB: IO error: No such file")));
}

enum sp_err sp_damage_note(struct sp_worker *w, struct sp_task *t, enum sp_err err,
                           const char *what, const char *detail)
{
    const char *text = t->db && err == SP_STORE ? sp_db_message(t->db) : detail;
    if (err == SP_STORE && strstr(text, "No space left on device")) {
        SET(w, disk_full, 1);
        return sp_failure_note_cause(&w->failure, SP_ABORT_STAGE, what, text);
    }
    if (!t->db || !sp_damage_is(err, text) || w->earlier->wipes >= WIPES)
        return sp_failure_note(&w->failure, err, what, text);
    w->earlier->wipes++;
    t->damaged = true;
    return sp_failure_note_cause(&w->failure, SP_ABORT_STAGE, what, text);
}
