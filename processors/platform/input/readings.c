/* See readings.h. */
#include "input/readings.h"

#include <string.h>

#include "base/mem.h"
#include "input/losses.h"

/* `first`: the number of the first of these records. */
static void note(struct sp_readings *t, uint64_t records, uint64_t first, const char *why)
{
    t->bad += records;
    for (int i = 0; i < SP_READINGS_REASONS; i++) {
        struct sp_readings_reason *reason = &t->reasons[i];
        if (!reason->why) {
            reason->why = sp_strdup(why);
            reason->first = first;
            reason->ends_input = sp_loss_ends_array(why);
        }
        if (strcmp(reason->why, why) == 0) {
            reason->count += records;
            return;
        }
    }
    t->others += records;
}

void sp_readings_add(struct sp_readings *t, uint64_t records, const char *why)
{
    if (!t)
        return;
    if (why)
        note(t, records, t->records - t->from, why);
    t->records += records;
}

void sp_readings_cut(struct sp_readings *t, bool cut)
{
    if (t)
        t->cut += cut;
}

void sp_readings_spoil(struct sp_readings *t, const char *why)
{
    if (t)
        note(t, 1, SP_READINGS_UNKNOWN, why);
}

void sp_readings_pass(struct sp_readings *t, uint64_t records)
{
    if (!t)
        return;
    t->before += records;
    t->from -= records;
}

void sp_readings_end_input(struct sp_readings *t, const char *name, uint64_t records)
{
    if (!t)
        return;
    if (records == 0 && t->empty_inputs++ == 0)
        t->empty_input = name;
    for (int i = 0; i < SP_READINGS_REASONS && t->reasons[i].why; i++)
        if (!t->reasons[i].input && t->reasons[i].first != SP_READINGS_UNKNOWN)
            t->reasons[i].input = name;
    t->from = t->records;
}

void sp_readings_end_inputs(struct sp_readings *t, const char *const *names, size_t count,
                            uint64_t records)
{
    if (count == 1)
        sp_readings_end_input(t, names[0], records);
    if (t && count > 1 && records == 0) {
        t->empty_input = names[0];
        t->empty_inputs += count;
    }
}

void sp_readings_sort(struct sp_readings *t)
{
    for (int i = 1; t && i < SP_READINGS_REASONS; i++) {
        struct sp_readings_reason moved = t->reasons[i];
        int k = i;
        for (; k > 0 && t->reasons[k - 1].count < moved.count; k--)
            t->reasons[k] = t->reasons[k - 1];
        t->reasons[k] = moved;
    }
}

void sp_readings_done(struct sp_readings *t)
{
    for (int i = 0; t && i < SP_READINGS_REASONS; i++)
        sp_free(t->reasons[i].why);
    if (t)
        *t = (struct sp_readings){0};
}
