/* Converts a MediaWiki dump (its export format) to lines, by expat: each revision of a page is a
 * fetch of it. The id is the page's URL, made from the dump's <base> as the wiki makes it, or the
 * title if there is no <base>. A page with <redirect> is a redirect. The text is wikitext. */
#include <expat.h>
#include <stdio.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "input/convert.h"

enum element { OTHER, BASE, TITLE, TIMESTAMP, TEXT, ELEMENTS };

struct wiki {
    XML_Parser parser;
    const struct sp_input_fields *fields;
    uint64_t max_record;
    enum element inside; /* the element whose characters are being read */
    struct sp_buf values[ELEMENTS];
    struct sp_buf redirect;
    struct sp_buf url;
    bool too_large;
    bool broken;
    struct sp_buf *out;
};

static enum element element_of(const char *name)
{
    static const char *const names[ELEMENTS] = {"", "base", "title", "timestamp", "text"};
    for (int e = BASE; e < ELEMENTS; e++)
        if (strcmp(name, names[e]) == 0)
            return (enum element)e;
    return OTHER;
}

static void on_start(void *arg, const char *name, const char **attributes)
{
    struct wiki *w = arg;
    w->inside = element_of(name);
    sp_buf_reset(&w->values[w->inside]);
    if (strcmp(name, "page") == 0) {
        sp_buf_reset(&w->redirect);
    } else if (strcmp(name, "revision") == 0) {
        sp_buf_reset(&w->values[TEXT]);
        sp_buf_reset(&w->values[TIMESTAMP]);
        w->too_large = false;
    } else if (strcmp(name, "redirect") == 0) {
        for (; *attributes; attributes += 2)
            if (strcmp(attributes[0], "title") == 0)
                sp_buf_put_str(&w->redirect, attributes[1]);
    }
}

static void on_text(void *arg, const char *text, int len)
{
    struct wiki *w = arg;
    if (w->inside == OTHER)
        return;
    struct sp_buf *value = &w->values[w->inside];
    if (value->len + (size_t)len > w->max_record)
        w->too_large = true;
    else
        sp_buf_put(value, text, (size_t)len);
}

/* Appends a title in the form that it has in the wiki's URLs. */
static void put_title(struct sp_buf *out, struct sp_view title)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < title.len; i++) {
        uint8_t c = (uint8_t)title.data[i];
        if (c == ' ') {
            sp_buf_put_u8(out, '_');
        } else if (c <= ' ' || c >= 0x7f || strchr("\"#%<>?[\\]^`{|}", c)) {
            sp_buf_put_u8(out, '%');
            sp_buf_put_u8(out, (uint8_t)hex[c >> 4]);
            sp_buf_put_u8(out, (uint8_t)hex[c & 15]);
        } else {
            sp_buf_put_u8(out, c);
        }
    }
}

static void put_url(struct wiki *w, const char *field, const struct sp_buf *title)
{
    struct sp_view base = sp_buf_view(&w->values[BASE]);
    while (base.len > 0 && base.data[base.len - 1] != '/')
        base.len--;
    sp_buf_reset(&w->url);
    if (base.len)
        sp_buf_put_view(&w->url, base);
    else
        sp_buf_put_str(&w->url, "doc:");
    put_title(&w->url, sp_buf_view(title));
    sp_json_put_text(w->out, field);
    sp_buf_put_u8(w->out, ':');
    sp_json_put_string(w->out, sp_buf_view(&w->url));
}

static void put_value(struct wiki *w, const char *field, struct sp_view value)
{
    sp_buf_put_u8(w->out, ',');
    sp_json_put_text(w->out, field);
    sp_buf_put_u8(w->out, ':');
    sp_json_put_string(w->out, value);
}

static void put_revision(struct wiki *w)
{
    const struct sp_input_fields *f = w->fields;
    sp_buf_put_u8(w->out, '{');
    put_url(w, f->id, &w->values[TITLE]);
    if (w->values[TIMESTAMP].len)
        put_value(w, f->time, sp_buf_view(&w->values[TIMESTAMP]));
    put_value(w, f->content_type, sp_view_str("text/plain"));
    if (w->redirect.len) {
        sp_buf_put_u8(w->out, ',');
        sp_json_put_text(w->out, f->status);
        sp_buf_put_str(w->out, ":301,");
        put_url(w, f->redirect, &w->redirect);
    }
    put_value(w, f->text, sp_buf_view(&w->values[TEXT]));
    sp_buf_put_str(w->out, "}\n");
}

static void on_end(void *arg, const char *name)
{
    struct wiki *w = arg;
    w->inside = OTHER;
    if (strcmp(name, "revision") != 0)
        return;
    if (w->too_large)
        sp_buf_put_str(w->out, "a revision is larger than input.max_record_bytes\n");
    else
        put_revision(w);
}

static void *make(char separator, const struct sp_input_fields *fields, uint64_t max_record)
{
    static const XML_Memory_Handling_Suite memory = {sp_alloc, sp_realloc, sp_free};
    struct wiki *w = sp_calloc(1, sizeof *w);
    (void)separator;
    w->fields = fields;
    w->max_record = max_record;
    w->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    XML_SetUserData(w->parser, w);
    XML_SetElementHandler(w->parser, on_start, on_end);
    XML_SetCharacterDataHandler(w->parser, on_text);
    return w;
}

static void release(void *state)
{
    struct wiki *w = state;
    XML_ParserFree(w->parser);
    for (int e = 0; e < ELEMENTS; e++)
        sp_buf_done(&w->values[e]);
    sp_buf_done(&w->redirect);
    sp_buf_done(&w->url);
    sp_free(w);
}

static void parse(struct wiki *w, struct sp_view bytes, bool last, struct sp_buf *out)
{
    char why[256];
    w->out = out;
    if (w->broken || XML_Parse(w->parser, bytes.data, (int)bytes.len, last) == XML_STATUS_OK)
        return;
    w->broken = true;
    snprintf(why, sizeof why,
             "the XML of the dump is damaged in line %lu: %s; the rest is not read\n",
             (unsigned long)XML_GetCurrentLineNumber(w->parser),
             XML_ErrorString(XML_GetErrorCode(w->parser)));
    sp_buf_put_str(out, why);
}

static void feed(void *state, struct sp_view bytes, struct sp_buf *out)
{
    parse(state, bytes, false, out);
}

static void end(void *state, struct sp_buf *out)
{
    parse(state, sp_view("", 0), true, out);
}

const struct sp_convert_ops sp_convert_wiki = {make, release, feed, end};
