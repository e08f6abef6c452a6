/* Converts a table to lines, by libcsv: the first row names the columns, each other row becomes an
 * object of its cells. Cells become texts; numbers only in columns that are numbers and if the cell
 * is one.
 *
 * Each row repeats the names, so these have a limit; otherwise a row of two bytes could become a
 * line of any length.
 *
 * A cell whose last quotation mark is missing holds the rows behind it, up to the next mark, which
 * begins a cell, or to the end of the file. libcsv takes such a mark as text unless it is strict. A
 * row is therefore kept until it ends; if the lines within its cell prove to be rows, the row that
 * lacks the mark is lost alone, and the next is read again. */
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
enum { LENIENT = CSV_APPEND_NULL, STRICT = CSV_APPEND_NULL | CSV_STRICT };

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
    enum sp_loss lost;  /* why the row is no page; SP_LOSSES: it is one */
    struct sp_buf text; /* [start, at) of the row that has begun; the rest is to be read */
    size_t start;
    size_t at;
    bool stray;        /* within a quoted cell, another seems to begin */
    bool ended;        /* the row ended with the line that was read last */
    bool dropped;      /* the row is so long that `text` has only a part of it */
    char before;       /* the byte before `text` */
    uint64_t row_line; /* in which the row begins, from 1 */
    uint64_t opened;   /* the line in which the cell of `next` began */
    size_t opened_column;
    size_t next;       /* in `text`: the line after that; 0: no mark seems to be missing */
    size_t next_look;  /* when the row has so many bytes, whether one is missing */
    size_t stray_line; /* in `text`: the line of a stray mark behind `next`; or 0 */
    struct sp_buf *out;
};

static void *make(char separator, const struct sp_input_fields *fields, uint64_t max_record)
{
    struct table *t = sp_calloc(1, sizeof *t);
    t->fields = fields;
    t->max_record = max_record;
    t->lost = SP_LOSSES;
    t->row_line = 1;
    csv_init(&t->parser, LENIENT);
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
    sp_buf_done(&t->text);
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
    t->stray = false;
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

/* ---- a quotation mark that is missing ---- */

static bool is_break(char c)
{
    return c == '\n' || c == '\r';
}

/* How many lines end in the text; `before` is the byte before it. */
static size_t count_lines(struct sp_view text, char before)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; before = text.data[i++])
        lines += is_break(text.data[i]) && !(text.data[i] == '\n' && before == '\r');
    return lines;
}

static char byte_before(const struct table *t, size_t at)
{
    return at ? t->text.data[at - 1] : t->before;
}

/* Notes where reading could go on if a quotation mark is missing in the cell that is being read. */
static void suspect(struct table *t)
{
    struct sp_view cell = sp_view((const char *)t->parser.entry_buf, t->parser.entry_pos);
    struct sp_view row = sp_view(t->text.data + t->start, t->at - t->start);
    if (!t->header_over || t->dropped || t->next || !t->parser.quoted || !cell.data)
        return;
    size_t within = count_lines(cell, 0);
    if (within == 0) /* most cells: do not look at the whole row for each */
        return;
    size_t i = 0, all = count_lines(row, byte_before(t, t->start));
    if (within > all)
        return;
    for (size_t left = all - within + 1; left > 0; i++)
        left -= count_lines(sp_view(row.data + i, 1), byte_before(t, t->start + i));
    if (i < row.len && row.data[i - 1] == '\r' && row.data[i] == '\n')
        i++;
    t->next = t->start + i;
    t->opened_column = t->column;
    t->opened = t->row_line + all - within;
}

struct trial {
    size_t columns;
    size_t cells;
    size_t rows;
    bool wrong;
};

static void on_trial_cell(void *data, size_t len, void *arg)
{
    (void)data, (void)len;
    ((struct trial *)arg)->cells++;
}

static void on_trial_row(int end, void *arg)
{
    struct trial *trial = arg;
    (void)end;
    trial->wrong |= trial->cells != trial->columns;
    trial->rows++;
    trial->cells = 0;
}

/* Whether the lines from `next` on that were read are rows with as many cells as there are columns.
 * A few are enough if a mark is where none can be in a cell. */
static bool proves_rows(const struct table *t, bool few, bool last)
{
    const size_t most = few ? 3 : 1000;
    struct trial trial = {.columns = t->columns};
    struct csv_parser parser;
    bool sound = t->columns > 1;
    csv_init(&parser, STRICT | CSV_STRICT_FINI);
    csv_set_delim(&parser, t->parser.delim_char);
    csv_set_realloc_func(&parser, sp_realloc);
    csv_set_free_func(&parser, sp_free);
    for (size_t i = t->next, end; sound && i < t->at && trial.rows < most; i = end) {
        for (end = i + 1; end < t->at && !is_break(t->text.data[end - 1]); end++)
            ;
        sound = csv_parse(&parser, t->text.data + i, end - i, on_trial_cell, on_trial_row,
                          &trial) == end - i &&
                !trial.wrong;
    }
    if (sound && last && trial.rows < most)
        sound = csv_fini(&parser, on_trial_cell, on_trial_row, &trial) == 0 && !trial.wrong;
    /* Another cell of the same column begins with a mark, and may lack its end as well. */
    bool again = few && trial.rows == 0 && trial.cells == t->opened_column && parser.quoted;
    csv_free(&parser);
    return sound && (trial.rows > 0 || again);
}

/* Loses the row, if a mark is missing in it, and goes back to the line after it. */
static bool recover(struct table *t, bool few, bool last)
{
    enum { NOTE_MAX = 512, SHOWN = 1 << 12 };
    char note[NOTE_MAX];
    if (!t->next || !proves_rows(t, few, last))
        return false;
    snprintf(note, sizeof note, "%s; row %" PRIu64 ", whose cell begins in line %" PRIu64 ": ",
             sp_loss_text(SP_LOSS_QUOTE), ++t->rows, t->opened);
    sp_buf_put_str(t->out, note);
    size_t from = t->start;
    while (is_break(t->text.data[from]))
        from++;
    for (size_t i = from; i < t->next && i < from + SHOWN; i++)
        sp_buf_put_u8(t->out, is_break(t->text.data[i]) ? ' ' : (uint8_t)t->text.data[i]);
    sp_buf_put_u8(t->out, '\n');
    csv_set_opts(&t->parser, LENIENT);
    csv_fini(&t->parser, NULL, NULL, NULL);
    t->row_line +=
        count_lines(sp_view(t->text.data + t->start, t->next - t->start), byte_before(t, t->start));
    t->start = t->at = t->next;
    t->next = t->next_look = t->stray_line = 0;
    begin_row(t);
    return true;
}

/* ---- rows ---- */

static void put_row(struct table *t)
{
    t->rows++;
    if (!t->header_over) {
        t->header_over = true;
        return;
    }
    if (t->stray && t->column < t->columns)
        lose(t, SP_LOSS_QUOTE);
    if (t->lost != SP_LOSSES) {
        put_lost(t);
    } else if (t->row.len) {
        sp_buf_put_view(t->out, sp_buf_view(&t->row));
        sp_buf_put_str(t->out, "}\n");
    }
    begin_row(t);
}

/* The row is put later, because its text may have to be read again. */
static void on_row(int end, void *arg)
{
    struct table *t = arg;
    (void)end;
    t->ended = true;
}

static void put_broken(struct table *t)
{
    sp_buf_put_str(t->out, t->broken);
    sp_buf_put_str(t->out, "; the rest of the file is not read\n");
}

/* Of a cell that is too large, libcsv need not keep what it has: its row is no page. Without spaces
 * to take back, one byte is enough for libcsv, of which it may take back the last. */
static void drop_cell(struct table *t)
{
    if (!t->header_over)
        t->broken = sp_loss_text(SP_LOSS_NAME);
    t->lost = SP_LOSS_CELL;
    t->parser.entry_pos = 1;
    t->parser.spaces = 0;
}

static void forget_row(struct table *t)
{
    t->row_line +=
        count_lines(sp_view(t->text.data + t->start, t->at - t->start), byte_before(t, t->start));
    t->start = t->at;
    t->next = t->next_look = t->stray_line = 0;
}

static void forget_text(struct table *t)
{
    t->before = byte_before(t, t->start);
    if (t->start > 0)
        memmove(t->text.data, t->text.data + t->start, t->text.len - t->start);
    t->text.len -= t->start;
    t->at -= t->start;
    t->next -= t->next ? t->start : 0;
    t->stray_line -= t->stray_line ? t->start : 0;
    t->start = 0;
}

/* Reads the line [at, end) of the text, or the part of it that there is. */
static void read_line(struct table *t, size_t end)
{
    bool first = true; /* a cell of an earlier line has not ended, if that is what is wrong */
    size_t line = t->at;
    t->ended = false;
    for (; t->at < end; first = false) {
        csv_set_opts(&t->parser, STRICT);
        t->at += csv_parse(&t->parser, t->text.data + t->at, end - t->at, on_cell, on_row, t);
        if (t->at == end)
            break;
        if (first)
            suspect(t);
        bool stray = t->parser.quoted && t->at >= t->start + 2 &&
                     t->text.data[t->at - 2] == (char)t->parser.delim_char;
        if (stray && !t->stray_line && t->next && line > t->next)
            t->stray_line = line;
        t->stray |= stray;
        csv_set_opts(&t->parser, LENIENT);
        t->at += csv_parse(&t->parser, t->text.data + t->at, 1, on_cell, on_row, t);
    }
}

/* What follows the line that was just read: the end of its row, or another line of it. */
static void after_line(struct table *t)
{
    bool large = t->parser.entry_pos > t->max_record;
    if (large)
        suspect(t);
    size_t len = t->at - t->start;
    bool look = t->next && (t->ended || large || len >= t->next_look);
    if (look && recover(t, !large, false))
        return;
    /* The cell whose mark is missing may itself have several lines. */
    if (look && t->ended && t->stray_line) {
        t->next = t->stray_line;
        if (recover(t, true, false))
            return;
    }
    if (look)
        t->next_look = 2 * len;
    if (large)
        drop_cell(t);
    if (t->ended)
        put_row(t);
    t->dropped = !t->ended && (t->dropped || large || len > 2 * t->max_record);
    if (t->ended || t->dropped)
        forget_row(t);
}

static void read_text(struct table *t)
{
    while (t->at < t->text.len && !t->broken) {
        size_t end = t->at + 1;
        while (end < t->text.len && !is_break(t->text.data[end - 1]))
            end++;
        read_line(t, end);
        after_line(t);
    }
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
    forget_text(t);
    sp_buf_put_view(&t->text, bytes);
    read_text(t);
    if (t->broken)
        put_broken(t);
}

/* A row may end after any cell, so the part of one would be a page with a part of its text. */
static void cut(void *state)
{
    struct table *t = state;
    csv_set_opts(&t->parser, LENIENT);
    csv_fini(&t->parser, NULL, NULL, NULL);
    t->at = t->text.len;
    forget_row(t);
    t->dropped = false;
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
    bool closed, again;
    do {
        t->ended = false;
        /* A cell whose quotation mark is missing would hold all rows after it. */
        csv_set_opts(&t->parser, STRICT | CSV_STRICT_FINI);
        closed = csv_fini(&t->parser, on_cell, on_row, t) == 0;
        if (!closed)
            suspect(t);
        again = recover(t, closed, true);
        if (again)
            read_text(t);
    } while (again && !t->broken);
    if (!closed && !t->broken)
        t->broken = sp_loss_text(SP_LOSS_QUOTES);
    if (t->broken)
        put_broken(t);
    else if (t->ended)
        put_row(t);
    return false;
}

const struct sp_convert_ops sp_convert_table = {make, release, feed, cut, end};
