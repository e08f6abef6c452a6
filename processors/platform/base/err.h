/* Every error of samepage, in one list. A function that can fail returns enum sp_err; SP_OK is 0.
 * The class says what the runner does with an error; nothing else acts on it. Libraries return
 * errors and leave it to programs to exit. */
#ifndef SP_BASE_ERR_H
#define SP_BASE_ERR_H

enum sp_err_class {
    SP_CLASS_NONE,       /* no error */
    SP_CLASS_BAD_RECORD, /* this record goes to the dead letter, the stream goes on */
    SP_CLASS_RETRIABLE,  /* the same call may succeed later */
    SP_CLASS_FATAL       /* stop the process with a message */
};

/* name, name in metrics and dead letters, class, text */
#define SP_ERRORS(X)                                                                               \
    X(OK, ok, NONE, "no error")                                                                    \
    X(END, end, NONE, "end of input")                                                              \
    X(NOT_FOUND, not_found, NONE, "not found")                                                     \
    X(TRUNCATED, truncated, BAD_RECORD, "the record ends before it is complete")                   \
    X(MALFORMED, malformed, BAD_RECORD, "the record is not well formed")                           \
    X(TOO_LARGE, too_large, BAD_RECORD, "the record is larger than the configured limit")          \
    X(NO_URL, no_url, BAD_RECORD, "the record has no usable url")                                  \
    X(UNKNOWN_SCHEMA, unknown_schema, BAD_RECORD,                                                  \
      "the record was written with a schema this program lacks")                                   \
    X(INVALID, invalid, FATAL, "an argument or option is not valid")                               \
    X(IO, io, FATAL, "reading or writing failed")                                                  \
    X(NO_MEMORY, no_memory, FATAL, "out of memory")                                                \
    X(STATE_FORMAT, state_format, FATAL,                                                           \
      "the state directory was written by another version or configuration")                       \
    X(OTHER_MAP, other_map, FATAL,                                                                 \
      "it belongs to a cell of another partition map: partition.map or partition.previous_map is " \
      "missing")                                                                                   \
    X(CORRUPT, corrupt, FATAL, "stored data is damaged")                                           \
    X(FULL, full, FATAL,                                                                           \
      "a partition of tier 2 holds all the distinct contents that it can: start again with "       \
      "more tier2.partitions")                                                                     \
    X(STORE, store, FATAL, "the state store failed")                                               \
    X(BUSY, busy, RETRIABLE, "the resource is in use")

enum sp_err {
#define X(name, lower, class, text) SP_##name,
    SP_ERRORS(X)
#undef X
        SP_ERR_COUNT
};

/* A sentence for people; never NULL. */
const char *sp_err_text(enum sp_err err);
/* A stable lower-case word for metrics and dead letters ("too_large"); never NULL. */
const char *sp_err_name(enum sp_err err);
/* SP_CLASS_FATAL for a number that is none of the above. */
enum sp_err_class sp_err_class(enum sp_err err);

#endif
