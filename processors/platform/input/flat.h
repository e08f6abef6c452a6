/* Parses one line of JSON that is a flat object of strings and plain numbers, which nearly all
 * lines of crawls are, several times faster than simdjson. Private to this folder and its tests.
 * Thread rule: one thread at a time for each parser. */
#ifndef SP_INPUT_FLAT_H
#define SP_INPUT_FLAT_H

#include "input/json.h"

struct sp_flat;

/* Returns NULL if the processor has no vector instructions for it. `fields` and `json` must outlive
 * the parser; `json` checks UTF-8. `vectors` as in sp_json_string_reader. */
struct sp_flat *sp_flat_new(const struct sp_input_fields *fields, const struct sp_json_ops *json,
                            const char *vectors);
void sp_flat_free(struct sp_flat *f);

/* False: nothing is known of the line, and simdjson must read it; it may be good or bad. True:
 * *ret_page is what simdjson would make of it. Its views point into the line or into the parser's
 * memory and are valid until the next call. SP_JSON_PADDING bytes behind the line are read. */
bool sp_flat_parse(struct sp_flat *f, struct sp_view line, struct sp_page_record *ret_page);

#endif
