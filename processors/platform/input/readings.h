/* What was read of the inputs of a command, and why records could not be: the first few reasons,
 * each with a count. Thread rule: one thread at a time. */
#ifndef SP_INPUT_READINGS_H
#define SP_INPUT_READINGS_H

#include <stdint.h>

enum { SP_READINGS_REASONS = 16 };

/* Zeroed: nothing was read. A reason beyond the first SP_READINGS_REASONS is counted as `others`.
 */
struct sp_readings {
    uint64_t records; /* read; those that say nothing of a page count as well */
    uint64_t bad;     /* of these, could not be read */
    uint64_t before;  /* handled by earlier calls with the same state, and not read */
    struct sp_readings_reason {
        char *why;
        uint64_t count;
    } reasons[SP_READINGS_REASONS]; /* in the order of their first records */
    uint64_t others;
    uint64_t empty_inputs;   /* without any record */
    const char *empty_input; /* the first of them; the caller's text */
};

/* In all of these NULL is allowed for the readings: nothing is counted. */

/* An item that stands for so many records; `why` (copied) says why they could not be read, NULL
 * that they could. */
void sp_readings_add(struct sp_readings *t, uint64_t records, const char *why);
/* One of the records counted as readable turns out to be of no use. */
void sp_readings_spoil(struct sp_readings *t, const char *why);
/* Records that an earlier call has handled are passed over. */
void sp_readings_pass(struct sp_readings *t, uint64_t records);
/* An input of so many records ends. The name is not copied. */
void sp_readings_end_input(struct sp_readings *t, const char *name, uint64_t records);
/* Commonest reason first; of equal counts, what came first. */
void sp_readings_sort(struct sp_readings *t);
/* Frees what it holds; it is zeroed then. */
void sp_readings_done(struct sp_readings *t);

#endif
