/* Files of other formats as JSON lines, so that all that comes after need know only these: JSON
 * arrays, tables (CSV, TSV), dumps of MediaWiki. Bytes go in as they are read, lines come out; what
 * cannot be read becomes a line that is none, and so a dead letter that says why. Private to this
 * folder. */
#ifndef SP_INPUT_CONVERT_H
#define SP_INPUT_CONVERT_H

#include "base/bytes.h"
#include "input/fields.h"

enum sp_convert_kind { SP_CONVERT_NONE, SP_CONVERT_ARRAY, SP_CONVERT_TABLE, SP_CONVERT_WIKI };

/* Without the byte order mark and the blanks in front. */
struct sp_view sp_convert_start(struct sp_view head);
/* By the first bytes of a file. A table is known by its first line, which names the column of the
 * text; *ret_separator is what parts its columns. */
enum sp_convert_kind sp_convert_detect(struct sp_view head, const struct sp_input_fields *fields,
                                       char *ret_separator);
/* The first line, if it is one of a table without a column for the text: of a file with the name of
 * a table, or with a column of a name that people give to texts, ids and URLs. Else an empty view.
 */
struct sp_view sp_convert_foreign_table(struct sp_view head, const char *file);
/* Bytes that sp_convert_detect may want to see, where the file does not begin with '{'. */
enum { SP_CONVERT_HEAD = 1 << 16 };

struct sp_convert;

/* `max_record`: the bytes of a record of which no more is kept. Never NULL. */
struct sp_convert *sp_convert_new(enum sp_convert_kind kind, char separator,
                                  const struct sp_input_fields *fields, uint64_t max_record);
/* NULL is allowed. */
void sp_convert_free(struct sp_convert *c);
/* Appends what the next bytes of the file complete. */
void sp_convert_feed(struct sp_convert *c, struct sp_view bytes, struct sp_buf *out);
/* The file has ended. */
void sp_convert_end(struct sp_convert *c, struct sp_buf *out);

/* What each kind implements. */
struct sp_convert_ops {
    void *(*make)(char separator, const struct sp_input_fields *fields, uint64_t max_record);
    void (*free)(void *state);
    void (*feed)(void *state, struct sp_view bytes, struct sp_buf *out);
    void (*end)(void *state, struct sp_buf *out);
};

extern const struct sp_convert_ops sp_convert_array, sp_convert_table, sp_convert_wiki;

#endif
