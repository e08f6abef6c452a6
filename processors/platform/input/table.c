/* Converts a table to lines, by libcsv: the first row names the columns, each other row becomes an
 * object of its cells. Cells become texts; numbers only in columns that are numbers and if the cell
 * is one.
 *
 * Each row repeats the names, so these have a limit; otherwise a row of two bytes could become a
 * line of any length. */
#include <csv.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "input/convert.h"
#include "input/json.h"
#include "input/losses.h"

enum { NAME_MAX_BYTES = 1024, NAMES_MAX_BYTES = 1 << 20 };
enum { NO_MARK = 0xff }; /* begins no text in UTF-8 */

struct table {
    struct csv_parser parser;
    const struct sp_input_fields *fields;
    uint64_t max_record;
    struct sp_buf names; /* of the columns, each NUL-terminated */
    size_t *name_at;
    size_t name_cap;
    size_t columns;
    size_t column; /* of the next cell */
    bool begun;
    bool header_over;
    const char *broken; /* why the rest of the file is not read, or NULL */
    uint64_t rows;      /* that have ended, with the one that names the columns */
    struct sp_buf row;
    enum sp_loss lost; /* why the row is no page; SP_LOSSES: it is one */
    struct sp_buf *out;
};

static void *make(char separator, const struct sp_input_fields *fields, uint64_t max_record)
{
    struct table *t = sp_calloc(1, sizeof *t);
    t->fields = fields;
    t->max_record = max_record;
    t->lost = SP_LOSSES;
    csv_init(&t->parser, CSV_APPEND_NULL);
    csv_set_delim(&t->parser, (unsigned char)separator);
    if (fields->unquoted)
        csv_set_quote(&t->parser, NO_MARK);
    csv_set_realloc_func(&t->parser, sp_realloc);
    csv_set_free_func(&t->parser, sp_free);
    return t;
}

static void release(void *state)
{
    struct table *t = state;
    csv_free(&t->parser);
    sp_buf_done(&t->names);
    sp_buf_done(&t->row);
    sp_free(t->name_at);
    sp_free(t);
}

static bool is_number(struct sp_view v)
{
    size_t i = v.len && v.data[0] == '-';
    size_t digits = 0, points = 0;
    for (; i < v.len; i++) {
        digits += (unsigned)(v.data[i] - '0') < 10u;
        points += v.data[i] == '.';
    }
    bool leading_zero = v.len > 1 && v.data[0] == '0' && v.data[1] != '.';
    return digits > 0 && points <= 1 && digits + points + (v.data[0] == '-') == v.len &&
           v.data[v.len - 1] != '.' && v.data[0] != '.' && !leading_zero;
}

static bool holds_numbers(const struct sp_input_fields *f, const char *name)
{
    return strcmp(name, f->time) == 0 || strcmp(name, f->status) == 0 ||
           strcmp(name, f->popularity) == 0;
}

static void add_name(struct table *t, struct sp_view cell)
{
    if (cell.len > NAME_MAX_BYTES || t->names.len + cell.len >= NAMES_MAX_BYTES) {
        t->broken = sp_loss_text(SP_LOSS_NAME);
        return;
    }
    if (!sp_json_ops_portable.is_utf8(cell)) {
        t->broken = sp_loss_text(SP_LOSS_HEAD);
        return;
    }
    sp_grow(&t->name_at, &t->name_cap, t->columns + 1);
    t->name_at[t->columns++] = t->names.len;
    sp_buf_put_view(&t->names, cell);
    sp_buf_put_u8(&t->names, 0);
}

/* The first reason counts. */
static void lose(struct table *t, enum sp_loss why)
{
    if (t->lost == SP_LOSSES)
        t->lost = why;
}

static bool is_too_large(const struct table *t)
{
    return t->lost == SP_LOSS_CELL || t->lost == SP_LOSS_ROW;
}

/* A row that is no page is filled as well: its dead letter shows it. */
static void put_cell(struct table *t, const char *name, struct sp_view cell)
{
    if (!sp_json_ops_portable.is_utf8(cell))
        lose(t, SP_LOSS_UTF8);
    sp_buf_put_u8(&t->row, t->row.len ? ',' : '{');
    if (name) {
        sp_json_put_text(&t->row, name);
        sp_buf_put_u8(&t->row, ':');
    }
    if (name && holds_numbers(t->fields, name) && is_number(cell))
        sp_buf_put_view(&t->row, cell);
    else
        sp_json_put_string(&t->row, cell);
}

static void on_cell(void *data, size_t len, void *arg)
{
    struct table *t = arg;
    struct sp_view cell = sp_view(data, len);
    if (t->broken)
        return;
    if (!t->header_over) {
        add_name(t, cell);
        return;
    }
    size_t column = t->column++;
    const char *name = column < t->columns ? t->names.data + t->name_at[column] : NULL;
    /* An empty cell is left out, unless it is the text. */
    if (len == 0 && !(name && strcmp(name, t->fields->text) == 0))
        return;
    if (t->row.len + len > t->max_record && !is_too_large(t))
        t->lost = SP_LOSS_ROW;
    if (is_too_large(t))
        return;
    if (!name)
        lose(t, SP_LOSS_COLUMNS);
    put_cell(t, name, cell);
}

static void begin_row(struct table *t)
{
    sp_buf_reset(&t->row);
    t->lost = SP_LOSSES;
    t->column = 0;
}

/* The reason and the number of the row, and the row itself if the line then has no more bytes than
 * a line may have. */
static void put_lost(struct table *t)
{
    enum { NOTE_MAX = 512 };
    char note[NOTE_MAX];
    snprintf(note, sizeof note, "%s; row %" PRIu64 " has %zu cells, and the header %zu",
             sp_loss_text(t->lost), t->rows, t->column, t->columns);
    sp_buf_put_str(t->out, note);
    if (t->row.len > 0 && t->row.len + NOTE_MAX <= t->max_record) {
        sp_buf_put_str(t->out, ": ");
        sp_buf_put_view(t->out, sp_buf_view(&t->row));
        sp_buf_put_u8(t->out, '}');
    }
    sp_buf_put_u8(t->out, '\n');
}

static void on_row(int end, void *arg)
{
    struct table *t = arg;
    (void)end;
    if (t->broken)
        return;
    t->rows++;
    if (!t->header_over) {
        t->header_over = true;
        return;
    }
    if (t->lost != SP_LOSSES) {
        put_lost(t);
    } else if (t->row.len) {
        sp_buf_put_view(t->out, sp_buf_view(&t->row));
        sp_buf_put_str(t->out, "}\n");
    }
    begin_row(t);
}

static void put_broken(struct table *t)
{
    sp_buf_put_str(t->out, t->broken);
    sp_buf_put_str(t->out, "; the rest of the file is not read\n");
}

/* Of a cell that is too large, libcsv need not keep what it has: its row is no page. Without spaces
 * to take back, one byte is enough for libcsv, of which it may take back the last. */
static void check_size(struct table *t)
{
    if (t->parser.entry_pos <= t->max_record)
        return;
    if (!t->header_over)
        t->broken = sp_loss_text(SP_LOSS_NAME);
    t->lost = SP_LOSS_CELL;
    t->parser.entry_pos = 1;
    t->parser.spaces = 0;
}

static void feed(void *state, struct sp_view bytes, struct sp_buf *out)
{
    struct table *t = state;
    t->out = out;
    if (t->broken)
        return;
    size_t mark = t->begun ? 0 : sp_utf8_mark_bytes(bytes.data, bytes.len);
    if (mark)
        bytes = sp_view(bytes.data + mark, bytes.len - mark);
    t->begun = true;
    SP_ASSERT(csv_parse(&t->parser, bytes.data, bytes.len, on_cell, on_row, t) == bytes.len);
    check_size(t);
    if (t->broken)
        put_broken(t);
}

/* A row may end after any cell, so the part of one would be a page with a part of its text. */
static void cut(void *state)
{
    struct table *t = state;
    csv_fini(&t->parser, NULL, NULL, NULL);
    begin_row(t);
    if (!t->header_over)
        t->broken = "the row that names the columns is damaged";
}

static bool end(void *state, struct sp_buf *out)
{
    struct table *t = state;
    t->out = out;
    if (t->broken)
        return false;
    /* A cell whose quotation mark is missing would hold all rows after it. */
    csv_set_opts(&t->parser, CSV_APPEND_NULL | CSV_STRICT | CSV_STRICT_FINI);
    if (csv_fini(&t->parser, on_cell, on_row, t) != 0) {
        t->broken = sp_loss_text(SP_LOSS_QUOTES);
        put_broken(t);
    }
    return false;
}

const struct sp_convert_ops sp_convert_table = {make, release, feed, cut, end};
