/* Outputs and barriers of a run. The order of steps at a barrier makes a kill at any moment
 * harmless:
 *
 *   1  outputs are written (to the kernel: they survive the death of the process)
 *   2  one batch commits state, input positions and output lengths; before rows can reach the disk,
 *      outputs are synced to it, so that after a loss of power they are not shorter than recorded
 *
 * The first barrier comes before the first record. After a kill between the two steps, the next run
 * truncates the outputs to the lengths of the last barrier and reads the same records again. */
#include <string.h>

#include "base/huge.h"
#include "base/mem.h"
#include "codec/lines.h"
#include "local/job.h"

enum sp_err sp_job_failed(struct sp_job *j, enum sp_err err, const char *what)
{
    const char *detail = sp_db_err_text(j->db, err);
    bool damaged =
        err == SP_CORRUPT || strstr(detail, "Corruption") || strstr(detail, "No such file");
    const char *advice = "";
    if (damaged && j->options->state)
        advice = "; restore the state directory from a copy, or use another --state directory";
    else if (strstr(detail, "No space left"))
        advice = "; free some space and run again: it continues from the last barrier";
    return sp_fault_set(j->fault, err, "%s: %s%s", what, detail, advice);
}

void sp_job_on_status(void *arg, const struct sp_status_event *event)
{
    struct sp_job *j = arg;
    bool unknown = event->status == SP_STATUS_NONE && !event->version_ms; /* to be forgotten */
    sp_watching_status(j->watching, event);
    if (!j->output.name || j->output_err != SP_OK || unknown)
        return;
    size_t before = j->output.buffer.len;
    sp_lines_put_status(sp_output_buffer(&j->output), event);
    j->output_err = sp_output_wrote(&j->output, j->output.buffer.len - before, j->fault);
    j->result->events++;
}

static void set_name(char **at, const char *name)
{
    sp_free(*at);
    *at = sp_strdup(name);
}

/* Without a state directory, rows would be a second copy of what the stages have in memory, and no
 * run continues from them. So they are written only if that frees memory, and at the end, because
 * reports read them. */
static bool is_due(const struct sp_job *j)
{
    return !j->passing || sp_local_bus_sweep(j->bus, j->since_flush);
}

static enum sp_err flush(struct sp_job *j)
{
    enum sp_err err = sp_local_bus_flush(j->bus);
    j->since_flush = 0;
    if (err != SP_OK)
        return err;
    set_name(&j->position.output, j->output.name);
    set_name(&j->position.dead_letter, j->dead_letter.name);
    j->position.output_bytes = j->output.length;
    j->position.dead_letter_bytes = j->dead_letter.length;
    j->position.barriers++;
    sp_position_save(sp_db_store(j->db, SP_BUS_STORE_META), &j->position);
    sp_watching_save(j->watching);
    return SP_OK;
}

enum sp_err sp_job_barrier(struct sp_job *j)
{
    enum sp_err err =
        sp_local_bus_move(j->bus, (uint32_t)j->options->barrier_pages, &j->result->left_to_move);
    if (err != SP_OK)
        return sp_job_failed(j, err, "pages cannot move to the cells of the new partition map");
    err = j->output_err; /* statuses after it were not written */
    if (err == SP_OK)
        err = sp_output_flush(&j->output, j->fault);
    if (err == SP_OK)
        err = sp_output_flush(&j->dead_letter, j->fault);
    if (err != SP_OK)
        return err;
    if (j->options->state)
        sp_output_begin_sync(&j->output); /* so that sync_outputs waits for little */
    err = is_due(j) ? flush(j) : SP_OK;
    if (err == SP_OK) {
        err = sp_db_commit(j->db);
        sp_digests_committed(j->digests);
    }
    j->since_barrier = 0;
    if (!j->huge && (j->huge = sp_local_bus_is_large(j->bus)))
        sp_huge_thread();
    return err == SP_OK ? SP_OK : sp_job_failed(j, err, "the state cannot be committed");
}

/* Called by the thread that applies commits. */
static enum sp_err sync_outputs(void *arg)
{
    const struct sp_job *j = arg;
    enum sp_err err = sp_output_sync(&j->output);
    return err == SP_OK ? sp_output_sync(&j->dead_letter) : err;
}

enum sp_err sp_job_open_outputs(struct sp_job *j)
{
    const struct sp_position *p = &j->position;
    struct sp_output_known output = {p->output, p->output_bytes, p->ended},
                           dead_letter = {p->dead_letter, p->dead_letter_bytes, p->ended};
    enum sp_err err = sp_output_continue(&j->output, j->options->output, &output,
                                         &j->result->output_before, j->fault);
    return err != SP_OK ? err
                        : sp_output_continue(&j->dead_letter, j->options->dead_letter, &dead_letter,
                                             &j->result->dead_letter_before, j->fault);
}

enum sp_err sp_job_sync(struct sp_job *j, bool ended)
{
    j->position.ended = ended;
    if (sp_db_sync(j->db) != SP_OK)
        return sp_job_failed(j, SP_STORE, "the state cannot be written");
    return j->options->state ? sp_position_reached(&j->position, j->options->state, j->fault)
                             : SP_OK;
}

enum sp_err sp_job_first_barrier(struct sp_job *j)
{
    sp_db_before_commits(j->db, sync_outputs, j);
    enum sp_err err = sp_job_barrier(j);
    return err == SP_OK ? sp_job_sync(j, false) : err;
}
