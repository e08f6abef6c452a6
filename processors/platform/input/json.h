/* Parses one line of JSON to a page record, with simdjson. Private to this folder and its tests.
 * Thread rule: one thread at a time for each parser. */
#ifndef SP_INPUT_JSON_H
#define SP_INPUT_JSON_H

#include "input/input.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes after a line that must be readable. */
enum { SP_JSON_PADDING = 64 };

struct sp_json_ops {
    void *(*make)(const struct sp_input_fields *fields); /* they must outlive the parser */
    void (*free)(void *parser);
    /* Views of the record point into the line or into the parser's memory and are valid until the
     * parser's next call. On an error *ret_why is a sentence, a literal. */
    enum sp_err (*parse)(void *parser, struct sp_view line, struct sp_page_record *ret_page,
                         const char **ret_why);
    bool (*is_utf8)(struct sp_view text);
};

/* Converts a date, or a date and time with or without a zone (ISO 8601; UTC without one), to
 * milliseconds since 1970. False: it is not one. */
bool sp_input_time(struct sp_view text, int64_t *ret_ms);

/* json.cc, compiled for each instruction set. */
extern const struct sp_json_ops sp_json_ops_portable, sp_json_ops_haswell;

#ifdef __cplusplus
}
#endif

#endif
