/* One line of JSON to a page record, by simdjson. */
#ifndef SP_INPUT_JSON_H
#define SP_INPUT_JSON_H

#include "input/input.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sp_json;

struct sp_json *sp_json_new(void);
void sp_json_free(struct sp_json *j);

/* Bytes that must be readable behind a line. */
enum { SP_JSON_PADDING = 64 };

/* Views of the record point into the line or into memory of j, valid until its next call. On failure
 * *ret_why is a sentence. */
enum sp_err sp_json_parse(struct sp_json *j, struct sp_view line, struct sp_page_record *ret_page,
                          const char **ret_why);

#ifdef __cplusplus
}
#endif

#endif
