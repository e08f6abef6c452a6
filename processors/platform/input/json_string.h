/* Reads a JSON string 64 bytes at a time, and unescapes it in the same step. Private to the parser
 * of flat lines (flat.h) and its tests. */
#ifndef SP_INPUT_JSON_STRING_H
#define SP_INPUT_JSON_STRING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { SP_JSON_BLOCK = 64 };

/* Where parsing is in a line. */
struct sp_json_place {
    const char *at;
    const char *end;
    char *out;     /* SP_JSON_BLOCK bytes more than the rest of the line fit here */
    uint64_t high; /* not 0: bytes of 0x80 and more were seen, here or shortly behind */
};

/* Reads the string whose opening quote is at p->at, and leaves p->at behind its closing quote.
 * *ret_text points into the line, or to p->out if it had escapes. False: it is not a good string,
 * or has surrogates without their other half. SP_JSON_BLOCK bytes behind the line are read. */
typedef bool (*sp_json_string_fn)(struct sp_json_place *p, struct sp_view *ret_text);

/* "avx512vbmi2" or "avx2"; NULL: the best that the processor has. Returns NULL if it lacks that. */
sp_json_string_fn sp_json_string_reader(const char *name);

#endif
