/* The public side: several files one after another, chunks, skipping, and the parsers. */
#include "input/input.h"

#include <stdio.h>

#include "base/mem.h"
#include "input/folder.h"
#include "input/foreign.h"
#include "input/json.h"
#include "input/parser.h"

struct sp_input {
    char **files;
    size_t file_count;
    size_t next_file;
    struct sp_input_options options;
    enum sp_input_format format;
    bool is_tar;
    bool is_text;         /* a file of text or HTML: one document */
    struct sp_buf header; /* of a table without a column for the text */
    struct sp_window window;
    struct sp_buf spare; /* the memory of a chunk that was taken back */
    uint64_t records;    /* returned or skipped */
    uint64_t to_skip;
    uint64_t closed_bytes;
    uint64_t total_bytes;
};

void sp_input_options_default(struct sp_input_options *ret_options)
{
    *ret_options =
        (struct sp_input_options){.max_record_bytes = 64u << 20, .chunk_bytes = 1u << 19};
    sp_input_fields_default(&ret_options->fields);
}

enum { HEAD_BYTES = 16, TAR_MAGIC_AT = 257, TAR_MAGIC_BYTES = 5 };

/* ---- files ---- */

/* Whether it is a tar archive, in any of the formats since 1988. These are not read, whatever they
 * contain. */
static bool is_tar(struct sp_window *w)
{
    if (w->buf.len == 0 || w->buf.data[0] == '{')
        return false;
    sp_window_want(w, TAR_MAGIC_AT + TAR_MAGIC_BYTES);
    return w->buf.len >= TAR_MAGIC_AT + TAR_MAGIC_BYTES &&
           memcmp(w->buf.data + TAR_MAGIC_AT, "ustar", TAR_MAGIC_BYTES) == 0;
}

static bool is_named_text(const struct sp_input *in)
{
    return sp_source_is_plain_file(in->window.source) &&
           sp_input_text_type(in->files[in->next_file - 1]);
}

/* Whether the file's name says Markdown or HTML. Such files may begin like files of other formats.
 */
static bool is_named_markup(const struct sp_input *in)
{
    return is_named_text(in) &&
           strcmp(sp_input_text_type(in->files[in->next_file - 1]), "text/plain") != 0;
}

/* Called if the file has no known format. It is a document if its name says so, unless it has JSON
 * lines; otherwise it may be a table without the wanted columns. */
static void find_document(struct sp_input *in, struct sp_view head)
{
    const char *name = in->files[in->next_file - 1];
    struct sp_view start = sp_convert_start(head);
    in->is_text = is_named_text(in) && start.len > 0 && start.data[0] != '{' &&
                  !memmem(start.data, start.len, "\n{\"", 3);
    if (!in->is_text)
        sp_buf_put_view(&in->header, sp_convert_foreign_table(head, name));
}

/* What the format is recognised by, however many bytes a pipe gives at once. */
static struct sp_view head_of(struct sp_window *w)
{
    sp_window_want(w, SP_CONVERT_HEAD);
    return sp_view(w->buf.data, w->buf.len < SP_CONVERT_HEAD ? w->buf.len : SP_CONVERT_HEAD);
}

/* Sets up the conversion to lines, which begins with what has been read of the file so far. */
static void find_conversion(struct sp_input *in)
{
    struct sp_window *w = &in->window;
    const struct sp_input_fields *fields = &in->options.fields;
    struct sp_view head = head_of(w);
    char separator = ',';
    if (head.len == 0 || head.data[0] == '{')
        return;
    size_t before = sp_convert_separator_line(head);
    enum sp_convert_kind kind =
        sp_convert_detect(head, fields, in->files[in->next_file - 1], &separator);
    if (kind == SP_CONVERT_NONE) {
        find_document(in, head);
        return;
    }
    w->convert = sp_convert_new(kind, separator, fields, w->max_record);
    w->raw = w->buf;
    w->raw_at = before;
    w->raw_err = w->io != SP_OK ? w->io : w->damage;
    w->buf = (struct sp_buf){0};
    w->io = w->damage = SP_OK;
    w->end = false;
}

/* Detects the format by the first bytes that can be read, which may come after damaged ones. */
static void find_format(struct sp_input *in)
{
    struct sp_window *w = &in->window;
    if (w->convert)
        return;
    sp_window_want(w, HEAD_BYTES);
    in->format = SP_INPUT_LINES;
    if (w->buf.len >= 5 && memcmp(w->buf.data, "WARC/", 5) == 0)
        in->format = SP_INPUT_WARC;
    else if (w->buf.len >= 11 && memcmp(w->buf.data, "filedesc://", 11) == 0)
        in->format = SP_INPUT_ARC;
    else if (w->buf.len >= 4 && memcmp(w->buf.data, "Obj\1", 4) == 0)
        in->format = SP_INPUT_AVRO;
    else if (is_tar(w))
        in->is_tar = true;
    else if (w->buf.len && is_named_markup(in) && w->buf.data[0] != '{')
        in->is_text = true;
    else
        find_conversion(in);
}

static void close_current(struct sp_input *in);

static enum sp_err refuse_table(const struct sp_input *in, struct sp_fault *fault)
{
    enum { SHOWN = 200 };
    bool separated = false;
    for (size_t i = 0; i < in->header.len; i++)
        separated |= in->header.data[i] && strchr(",;\t", in->header.data[i]);
    return sp_fault_set(
        fault, SP_INVALID,
        "%s is a table without a column \"%s\": its first line, which should name the "
        "columns, is %.*s; give "
        "--text-field NAME for the text, and --id-field NAME for the ids%s",
        in->files[in->next_file - 1], in->options.fields.text,
        (int)(in->header.len < SHOWN ? in->header.len : SHOWN), in->header.data,
        separated ? "" : "; names are separated by commas, semicolons or tabs");
}

/* Opens files[next_file - 1] by `open` and detects its format. */
static enum sp_err open_as(struct sp_input *in, struct sp_fault *fault,
                           enum sp_err (*open)(const char *, struct sp_source **,
                                               struct sp_fault *))
{
    struct sp_window *w = &in->window;
    in->is_tar = in->is_text = false;
    sp_buf_reset(&in->header);
    enum sp_err err = open(in->files[in->next_file - 1], &w->source, fault);
    if (err != SP_OK)
        return err;
    w->block = in->options.chunk_bytes;
    w->max_record = in->options.max_record_bytes;
    if (in->options.read_once)
        sp_source_read_once(w->source);
    find_format(in);
    return SP_OK;
}

/* What the file is if it is not read; NULL: it is. */
static const char *foreign_format(struct sp_input *in)
{
    struct sp_window *w = &in->window;
    if (in->is_tar)
        return "a tar archive; unpack it and name its folder, or pipe its files in: "
               "tar -xOf FILE | samepage ... -";
    if (in->format != SP_INPUT_LINES || w->convert)
        return NULL;
    struct sp_view head = head_of(w);
    const char *foreign = sp_input_foreign(head);
    return foreign ? foreign
                   : sp_input_misnamed(head, in->files[in->next_file - 1],
                                       sp_source_is_packed(w->source));
}

static enum sp_err open_next(struct sp_input *in, struct sp_fault *fault)
{
    in->next_file++;
    enum sp_err err = open_as(in, fault, sp_source_open);
    if (err == SP_OK && in->is_text) {
        uint64_t closed_bytes = in->closed_bytes; /* the bytes read for detection are read again */
        close_current(in);
        in->closed_bytes = closed_bytes;
        err = open_as(in, fault, sp_source_open_text);
    }
    if (err != SP_OK)
        return err;
    const char *foreign = foreign_format(in);
    if (foreign)
        return sp_fault_set(fault, SP_INVALID, "%s is %s", in->files[in->next_file - 1], foreign);
    return in->header.len ? refuse_table(in, fault) : SP_OK;
}

static void close_current(struct sp_input *in)
{
    struct sp_window *w = &in->window;
    if (w->source)
        in->closed_bytes += sp_source_read_bytes(w->source);
    sp_source_close(w->source);
    sp_avro_file_unref(w->avro);
    sp_convert_free(w->convert);
    sp_buf_done(&w->raw);
    sp_buf_done(&w->buf);
    sp_free(w->members);
    *w = (struct sp_window){0};
}

enum sp_err sp_input_open(const char *const *files, size_t file_count,
                          const struct sp_input_options *options, struct sp_input **ret_input,
                          struct sp_fault *fault)
{
    struct sp_input *in = sp_calloc(1, sizeof *in);
    bool known = true;
    in->options = *options;
    in->files = sp_calloc(file_count + 1, sizeof *in->files);
    in->file_count = file_count;
    enum sp_err err = SP_OK;
    /* Opens each file, to detect errors and to add up the sizes. The first is opened last and stays
     * open. */
    for (size_t i = file_count; i-- > 0 && err == SP_OK;) {
        in->files[i] = sp_strdup(files[i]);
        in->next_file = i;
        bool stream = sp_source_is_stream(files[i]);
        known &= !stream;
        if (i > 0 && stream)
            continue;
        err = open_next(in, fault);
        if (err != SP_OK)
            break;
        in->total_bytes += sp_source_total_bytes(in->window.source);
        if (i > 0)
            close_current(in);
    }
    in->closed_bytes = 0;
    if (err != SP_OK) {
        sp_input_close(in);
        return err;
    }
    if (!known)
        in->total_bytes = 0;
    *ret_input = in;
    return SP_OK;
}

void sp_input_close(struct sp_input *in)
{
    if (!in)
        return;
    close_current(in);
    for (size_t i = 0; i < in->file_count; i++)
        sp_free(in->files[i]);
    sp_free(in->files);
    sp_buf_done(&in->header);
    sp_buf_done(&in->spare);
    sp_free(in);
}

enum sp_input_format sp_input_format(const struct sp_input *in)
{
    return in->format;
}

uint64_t sp_input_total_bytes(const struct sp_input *in)
{
    return in->total_bytes;
}

uint64_t sp_input_read_bytes(const struct sp_input *in)
{
    return in->closed_bytes + (in->window.source ? sp_source_read_bytes(in->window.source) : 0);
}

enum sp_err sp_input_skip(struct sp_input *in, uint64_t records)
{
    in->to_skip = records;
    return SP_OK;
}

uint64_t sp_input_unskipped(const struct sp_input *in)
{
    return in->to_skip;
}

/* ---- chunks ---- */

void sp_chunk_free(struct sp_chunk *chunk)
{
    if (!chunk)
        return;
    sp_avro_file_unref(chunk->avro);
    sp_buf_done(&chunk->data);
    sp_free(chunk->slices);
    sp_free(chunk);
}

void sp_input_take_back(struct sp_input *in, struct sp_chunk *chunk)
{
    /* More than this was needed by a record larger than a chunk. */
    if (chunk && chunk->data.cap <= 4 * in->options.chunk_bytes) {
        sp_buf_done(&in->spare);
        in->spare = chunk->data;
        chunk->data = (struct sp_buf){0};
    }
    sp_chunk_free(chunk);
}

/* Moves the consumed bytes from the window to the chunk; the rest is copied to a new window, which
 * takes the spare memory. */
static void take_window(struct sp_window *w, struct sp_buf *spare, struct sp_chunk *chunk,
                        size_t consumed)
{
    struct sp_buf rest = *spare;
    if (consumed)
        w->before = w->buf.data[consumed - 1];
    *spare = (struct sp_buf){0};
    sp_buf_reset(&rest);
    /* Room for the next read and for the padding: growing would copy the whole block. */
    sp_buf_reserve(&rest, w->buf.len - consumed + w->block + SP_JSON_PADDING);
    if (consumed < w->buf.len)
        sp_buf_put(&rest, w->buf.data + consumed, w->buf.len - consumed);
    chunk->data = w->buf;
    chunk->data.len = consumed;
    memset(sp_buf_reserve(&chunk->data, SP_JSON_PADDING), 0, SP_JSON_PADDING);
    w->buf = rest;
    sp_window_moved(w, consumed);
}

static size_t split(struct sp_input *in, struct sp_chunk *chunk)
{
    switch (in->format) {
    case SP_INPUT_WARC:
        return sp_warc_split(&in->window, chunk);
    case SP_INPUT_ARC:
        return sp_arc_split(&in->window, chunk);
    case SP_INPUT_AVRO:
        return sp_avro_split(&in->window, chunk);
    case SP_INPUT_LINES:
        break;
    }
    return sp_lines_split(&in->window, chunk);
}

/* Damage ends the window. A bad item represents what was lost, unless it cut a record that does. */
static void note_damage(struct sp_input *in, struct sp_chunk *chunk)
{
    struct sp_window *w = &in->window;
    if (!w->damage || w->buf.len > 0)
        return;
    if (!w->damage_told) {
        sp_chunk_add_bad(chunk, w, chunk->data.len, 0, w->damage, sp_source_why(w->source));
        chunk->slices[chunk->slice_count - 1].offset = w->offset;
    }
    w->damage = SP_OK;
    w->damage_told = false;
    w->end = false;
    w->discard_line = false; /* the rest of the line was lost as well */
    w->discard = 0;
    w->resync = false; /* what follows begins a member */
}

/* Returns a chunk of the current file, perhaps without records; NULL at the end of the file. */
static struct sp_chunk *cut_chunk(struct sp_input *in)
{
    struct sp_window *w = &in->window;
    if (w->buf.len == 0 && !w->damage && !sp_window_more(w) && !w->damage && !w->discard)
        return NULL;
    if (w->offset == 0)
        find_format(in);
    struct sp_chunk *chunk = sp_calloc(1, sizeof *chunk);
    chunk->file = in->files[in->next_file - 1];
    chunk->format = in->format;
    chunk->first = in->records;
    size_t consumed = split(in, chunk);
    take_window(w, &in->spare, chunk, consumed);
    chunk->avro = w->avro ? sp_avro_file_ref(w->avro) : NULL;
    note_damage(in, chunk);
    in->records += chunk->count;
    return chunk;
}

enum sp_err sp_input_next_chunk(struct sp_input *in, struct sp_chunk **ret_chunk,
                                struct sp_fault *fault)
{
    for (;;) {
        struct sp_window *w = &in->window;
        struct sp_chunk *chunk = w->source ? cut_chunk(in) : NULL;
        if (w->io != SP_OK) {
            sp_chunk_free(chunk);
            return sp_fault_set(fault, w->io, "%s: reading failed", in->files[in->next_file - 1]);
        }
        if (!chunk) {
            close_current(in);
            if (in->next_file == in->file_count)
                return SP_END;
            enum sp_err err = open_next(in, fault);
            if (err != SP_OK)
                return err;
            continue;
        }
        chunk->skip = in->to_skip < chunk->count ? in->to_skip : chunk->count;
        in->to_skip -= chunk->skip;
        if (chunk->count > chunk->skip) {
            *ret_chunk = chunk;
            return SP_OK;
        }
        sp_chunk_free(chunk);
    }
}

uint64_t sp_chunk_first(const struct sp_chunk *chunk)
{
    return chunk->first + chunk->skip;
}

uint64_t sp_chunk_count(const struct sp_chunk *chunk)
{
    return chunk->count - chunk->skip;
}

/* ---- parsing ---- */

static void parse_slice(struct sp_parser *p, const struct sp_chunk *chunk,
                        const struct sp_slice *slice, struct sp_input_item *item)
{
    struct sp_view bytes = sp_view(chunk->data.data + slice->at, slice->len);
    if (slice->err != SP_OK)
        sp_item_fail(item, slice->err, slice->why);
    else if (chunk->format == SP_INPUT_WARC)
        sp_warc_parse(p, bytes, item);
    else if (chunk->format == SP_INPUT_ARC)
        sp_arc_parse(p, bytes, item);
    else
        sp_lines_parse(p, bytes, item);
    item->page.whole = bytes;
    item->raw = sp_view(bytes.data, bytes.len < SP_RAW_MAX ? bytes.len : SP_RAW_MAX);
    item->half = item->err != SP_OK && slice->open_end;
}

void sp_chunk_parse(struct sp_parser *p, struct sp_chunk *chunk,
                    void (*each)(void *arg, const struct sp_input_item *item), void *arg)
{
    uint64_t number = chunk->first, wanted = chunk->first + chunk->skip;
    for (size_t i = 0; i < chunk->slice_count; i++) {
        const struct sp_slice *slice = &chunk->slices[i];
        struct sp_input_item item = {
            .number = number, .records = 1, .file = chunk->file, .offset = slice->offset};
        uint64_t skip = wanted > number ? wanted - number : 0;
        number += slice->records;
        if (skip >= slice->records)
            continue;
        if (chunk->format == SP_INPUT_AVRO && slice->err == SP_OK) {
            sp_avro_parse(p, chunk, slice, skip, &item, each, arg);
            continue;
        }
        parse_slice(p, chunk, slice, &item);
        each(arg, &item);
    }
}

enum sp_err sp_parser_json(struct sp_parser *p, struct sp_view line,
                           struct sp_page_record *ret_page, const char **ret_why)
{
    struct sp_input_item item = {.err = SP_OK};
    sp_buf_reset(&p->body);
    sp_buf_put_view(&p->body, line);
    memset(sp_buf_reserve(&p->body, SP_JSON_PADDING), 0, SP_JSON_PADDING);
    sp_lines_parse(p, sp_buf_view(&p->body), &item);
    *ret_page = item.page;
    *ret_why = item.why;
    return item.err;
}

uint64_t sp_input_size_of(const char *const *names, size_t count,
                          const struct sp_input_options *options)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        struct sp_input *input;
        struct sp_fault fault;
        if (sp_source_is_stream(names[i]))
            return 0;
        if (sp_input_open(&names[i], 1, options, &input, &fault) != SP_OK)
            return 0;
        sum += sp_input_total_bytes(input);
        sp_input_close(input);
    }
    return sum;
}
