/* See convert.h. Detects what kind of file it is. */
#include "input/convert.h"

#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

struct sp_convert {
    const struct sp_convert_ops *ops;
    void *state;
};

void sp_input_fields_default(struct sp_input_fields *ret_fields)
{
    *ret_fields = (struct sp_input_fields){.id = "url",
                                           .text = "content",
                                           .time = "fetch_time_ms",
                                           .status = "http_status",
                                           .redirect = "redirect_url",
                                           .content_type = "content_type",
                                           .popularity = "popularity"};
}

/* Returns the length of the column name at the start of the line; *ret_name is the name without
 * quotes. */
static size_t column(struct sp_view line, char separator, struct sp_view *ret_name)
{
    const char *end = line.len ? memchr(line.data, separator, line.len) : NULL;
    size_t len = end ? (size_t)(end - line.data) : line.len;
    struct sp_view name = sp_view(line.data, len);
    if (name.len >= 2 && name.data[0] == '"' && name.data[name.len - 1] == '"')
        name = sp_view(name.data + 1, name.len - 2);
    *ret_name = name;
    return len;
}

static bool has_column(struct sp_view line, char separator, const char *wanted)
{
    for (;;) {
        struct sp_view name;
        size_t len = column(line, separator, &name);
        if (sp_view_eq(name, sp_view_str(wanted)))
            return true;
        if (len == line.len)
            return false;
        line = sp_view(line.data + len + 1, line.len - len - 1);
    }
}

static bool has_name_of_table(const char *file)
{
    const char *name = strrchr(file, '/');
    name = name ? name + 1 : file;
    return strcasestr(name, ".csv") || strcasestr(name, ".tsv");
}

static const char separators[] = "\t,;";

static bool has_text(struct sp_view line, char separator, const struct sp_input_fields *f)
{
    return has_column(line, separator, f->text) ||
           (f->dataset && has_column(line, separator, "text"));
}

/* A table of texts alone has no separator. `possible` are the separators that it may have. */
static bool is_table(struct sp_view line, const char *possible, const struct sp_input_fields *f,
                     const char *file, char *ret_separator)
{
    for (const char *s = possible; *s; s++)
        if (memchr(line.data, *s, line.len) && has_text(line, *s, f)) {
            *ret_separator = *s;
            return true;
        }
    return (f->any_id || (f->dataset && has_name_of_table(file))) && has_text(line, ',', f);
}

struct sp_view sp_convert_start(struct sp_view head)
{
    size_t mark = sp_utf8_mark_bytes(head.data, head.len);
    if (mark)
        head = sp_view(head.data + mark, head.len - mark);
    while (head.len && strchr(" \t\r\n", head.data[0]))
        head = sp_view(head.data + 1, head.len - 1);
    return head;
}

/* Lines end in LF, CR LF or CR. */
static struct sp_view first_line(struct sp_view head)
{
    size_t len = 0;
    while (len < head.len && head.data[len] != '\n' && head.data[len] != '\r')
        len++;
    return sp_view(head.data, len);
}

size_t sp_convert_separator_line(struct sp_view head)
{
    struct sp_view start = sp_convert_start(head), line = first_line(start);
    if (line.len != 5 || strncasecmp(line.data, "sep=", 4) != 0 || !strchr("\t,;|", line.data[4]))
        return 0;
    size_t before = (size_t)(start.data - head.data), len = line.len;
    len += len < start.len && start.data[len] == '\r';
    len += len < start.len && start.data[len] == '\n';
    return len > line.len ? before + len : 0;
}

/* The text behind the separator line. */
static struct sp_view table_start(struct sp_view head)
{
    size_t before = sp_convert_separator_line(head);
    return sp_convert_start(sp_view(head.data + before, head.len - before));
}

static bool has_usual_column(struct sp_view line, char separator)
{
    static const char *const usual[] = {"url", "id", "text", "content", "body", "html", "title"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (has_column(line, separator, usual[i]))
            return true;
    return false;
}

struct sp_view sp_convert_foreign_table(struct sp_view head, const char *file)
{
    struct sp_view line = first_line(table_start(head));
    if (line.len == 0 || strchr("{[<", line.data[0]))
        return sp_view(NULL, 0);
    bool found = has_name_of_table(file);
    for (const char *s = separators; *s && !found; s++)
        found = memchr(line.data, *s, line.len) && has_usual_column(line, *s);
    return found ? line : sp_view(NULL, 0);
}

enum sp_convert_kind sp_convert_detect(struct sp_view head, const struct sp_input_fields *fields,
                                       const char *file, char *ret_separator)
{
    head = sp_convert_start(head);
    if (head.len == 0 || head.data[0] == '{')
        return SP_CONVERT_NONE;
    if (head.data[0] == '[')
        return SP_CONVERT_ARRAY;
    if (head.data[0] == '<')
        return memmem(head.data, head.len, "<mediawiki", 10) ? SP_CONVERT_WIKI : SP_CONVERT_NONE;
    char given[] = {sp_convert_separator_line(head) ? head.data[strlen("sep=")] : 0, 0};
    return is_table(first_line(table_start(head)), *given ? given : separators, fields, file,
                    ret_separator)
               ? SP_CONVERT_TABLE
               : SP_CONVERT_NONE;
}

struct sp_convert *sp_convert_new(enum sp_convert_kind kind, char separator,
                                  const struct sp_input_fields *fields, uint64_t max_record)
{
    struct sp_convert *c = sp_calloc(1, sizeof *c);
    c->ops = kind == SP_CONVERT_ARRAY   ? &sp_convert_array
             : kind == SP_CONVERT_TABLE ? &sp_convert_table
                                        : &sp_convert_wiki;
    c->state = c->ops->make(separator, fields, max_record);
    return c;
}

void sp_convert_free(struct sp_convert *c)
{
    if (!c)
        return;
    c->ops->free(c->state);
    sp_free(c);
}

void sp_convert_feed(struct sp_convert *c, struct sp_view bytes, struct sp_buf *out)
{
    c->ops->feed(c->state, bytes, out);
}

void sp_convert_cut(struct sp_convert *c)
{
    if (c->ops->cut)
        c->ops->cut(c->state);
}

bool sp_convert_end(struct sp_convert *c, struct sp_buf *out)
{
    return c->ops->end(c->state, out);
}
