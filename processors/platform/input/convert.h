/* Converts JSON arrays, tables (CSV, TSV) and MediaWiki dumps to JSON lines, so that only these
 * need a parser. Bytes go in as they are read, and lines come out. A record that cannot be read
 * becomes a line that is not JSON; the parser makes a dead letter of it that says why. Private to
 * this folder. Thread rule: one thread at a time for each converter. */
#ifndef SP_INPUT_CONVERT_H
#define SP_INPUT_CONVERT_H

#include "base/bytes.h"
#include "input/fields.h"

enum sp_convert_kind { SP_CONVERT_NONE, SP_CONVERT_ARRAY, SP_CONVERT_TABLE, SP_CONVERT_WIKI };

/* The bytes after a byte order mark and blanks. */
struct sp_view sp_convert_start(struct sp_view head);
/* The length of the line in which spreadsheets name the separator of the columns, such as "sep=;",
 * before the line that names the columns; 0: there is none. */
size_t sp_convert_separator_line(struct sp_view head);
/* Recognises the format from the first bytes of a file. A table is recognised by its first line,
 * which must name the column of the text; *ret_separator is then the separator of its columns. A
 * separator line is not part of the table. */
enum sp_convert_kind sp_convert_detect(struct sp_view head, const struct sp_input_fields *fields,
                                       const char *file, char *ret_separator);
/* Recognises a table that has no column for the text, either by the name of the file or because a
 * column has a name that is common for texts, ids and URLs. Returns its first line; empty if it is
 * no such table. */
struct sp_view sp_convert_foreign_table(struct sp_view head, const char *file);
/* How many of the first bytes of a file its format is recognised by. */
enum { SP_CONVERT_HEAD = 1 << 16 };

struct sp_convert;

/* The fields must outlive the converter. In tables and dumps, a record of more than `max_record`
 * bytes becomes a dead letter. Never NULL. */
struct sp_convert *sp_convert_new(enum sp_convert_kind kind, char separator,
                                  const struct sp_input_fields *fields, uint64_t max_record);
/* NULL is allowed. */
void sp_convert_free(struct sp_convert *c);
/* Takes the next bytes of the file and appends the lines that they complete. */
void sp_convert_feed(struct sp_convert *c, struct sp_view bytes, struct sp_buf *out);
/* The file is damaged behind the bytes taken so far: a record that they began is lost, and what
 * comes next begins another. */
void sp_convert_cut(struct sp_convert *c);
/* Appends the last lines at the end of the file. Returns true if the last line has no newline
 * because the file ends within its record. */
bool sp_convert_end(struct sp_convert *c, struct sp_buf *out);

/* What each kind implements. */
struct sp_convert_ops {
    void *(*make)(char separator, const struct sp_input_fields *fields, uint64_t max_record);
    void (*free)(void *state);
    void (*feed)(void *state, struct sp_view bytes, struct sp_buf *out);
    void (*cut)(void *state); /* NULL: a record that was begun cannot be taken for a complete one */
    bool (*end)(void *state, struct sp_buf *out);
};

extern const struct sp_convert_ops sp_convert_array, sp_convert_table, sp_convert_wiki;

#endif
