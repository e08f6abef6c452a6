/* One line of JSON to a page record, by simdjson. */
#ifndef SP_INPUT_JSON_H
#define SP_INPUT_JSON_H

#include "input/input.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that must be readable after a line. */
enum { SP_JSON_PADDING = 64 };

struct sp_json_ops {
    void *(*make)(const struct sp_input_fields *fields); /* which outlive it */
    void (*free)(void *parser);
    /* Views of the record point into the line or into memory of the parser, valid until its next
     * call. On failure *ret_why is a sentence. */
    enum sp_err (*parse)(void *parser, struct sp_view line, struct sp_page_record *ret_page,
                         const char **ret_why);
};

/* A time of ISO 8601 (a date, or date and time, of a zone or of UTC) as ms since 1970, later than
 * that; false where it is none. */
bool sp_input_time(struct sp_view text, int64_t *ret_ms);

/* json.cc, compiled for each instruction set. */
extern const struct sp_json_ops sp_json_ops_portable, sp_json_ops_haswell;

#ifdef __cplusplus
}
#endif

#endif
