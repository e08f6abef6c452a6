/* Counts the records that a command has read, and why others could not be read: the first few
 * reasons, each with a count and its first record. Thread rule: one thread at a time. */
#ifndef SP_INPUT_READINGS_H
#define SP_INPUT_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_READINGS_REASONS = 16 };
#define SP_READINGS_UNKNOWN UINT64_MAX

/* Initialise with zeros. */
struct sp_readings {
    uint64_t records; /* all that were read, also those that are not about a page */
    uint64_t bad;     /* those of them that could not be read */
    uint64_t cut;     /* those of which only the first text.max_bytes were used */
    uint64_t before;  /* not read, because an earlier command with this state had read them */
    struct sp_readings_reason {
        char *why;
        uint64_t count;
        const char *input;          /* of its first record; borrowed. NULL: it is not known */
        uint64_t first;             /* number of that record in its input, from 0, if known */
        bool ends_input;            /* what is behind such a record was not read */
    } reasons[SP_READINGS_REASONS]; /* in the order of their first records */
    uint64_t others;                /* bad records with further reasons */
    uint64_t from; /* `records` minus this is the number of the next one in its input; may wrap */
    uint64_t empty_inputs;   /* inputs without any record */
    const char *empty_input; /* the name of the first one; borrowed */
};

/* In all of these functions the readings may be NULL; nothing is then counted. */

/* Counts `records` records. `why` (copied) says why they could not be read; NULL: they could. */
void sp_readings_add(struct sp_readings *t, uint64_t records, const char *why);
/* Counts a record of which only the beginning was used, if `cut`. */
void sp_readings_cut(struct sp_readings *t, bool cut);
/* Counts one of the readable records as bad after all. */
void sp_readings_spoil(struct sp_readings *t, const char *why);
/* Counts records that are skipped because an earlier command has read them. */
void sp_readings_pass(struct sp_readings *t, uint64_t records);
/* Called at the end of an input that had `records` records. The name is borrowed. */
void sp_readings_end_input(struct sp_readings *t, const char *name, uint64_t records);
/* The same for several inputs that were read as one. */
void sp_readings_end_inputs(struct sp_readings *t, const char *const *names, size_t count,
                            uint64_t records);
/* Sorts the reasons, the most frequent first; those of equal counts keep their order. */
void sp_readings_sort(struct sp_readings *t);
/* Frees the texts and zeroes the readings. */
void sp_readings_done(struct sp_readings *t);

#endif
