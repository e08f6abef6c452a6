/* Converts a MediaWiki dump (its export format) to lines, by expat: each revision of a page is a
 * fetch of it. The id is the page's URL, made from the dump's <base> as the wiki makes it, or the
 * title if there is no <base>. The last revision of a page with <redirect> is a redirect, so each
 * revision waits for the next one, or for the end of the page. The text is wikitext. A text
 * that the wiki hides says nothing about the page, as a fetch that was forbidden.
 *
 * expat keeps whole tags and comments, all open elements and every name that it has seen, without
 * limits of its own, so its memory has one here. It follows entities by recursion; a dump has no
 * document type, which alone declares them. */
#include <expat.h>
#include <stddef.h>
#include <stdio.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "input/convert.h"
#include "input/losses.h"

enum element { OTHER, BASE, TITLE, TIMESTAMP, TEXT, ELEMENTS };

enum {
    MEMORY_MAX = 1 << 20, /* of expat; a dump takes 20 KB */
    NAME_MAX_BYTES = 8192 /* of a title: every revision of the page repeats it */
};

struct wiki {
    XML_Parser parser;
    const struct sp_input_fields *fields;
    uint64_t max_record;
    enum element inside; /* the element whose characters are being read */
    struct sp_buf values[ELEMENTS];
    bool cut[ELEMENTS]; /* the value is too long */
    bool waiting;       /* a revision is complete, but perhaps not the last */
    bool cut_behind;    /* a part of the dump is missing behind it */
    bool slot;          /* inside another content of the revision than its text, such as the JSON
                           that describes a file */
    bool hidden;        /* the text, by an administrator of the wiki */
    bool stub;          /* the text is not empty, but may have been left out of the dump */
    struct sp_buf redirect;
    struct sp_buf url;
    bool broken;
    bool typed; /* there is a document type */
    size_t memory;
    struct sp_buf *out;
};

/* ---- expat's memory ---- */

/* The converter whose parser this thread runs: expat's calls for memory do not say which. */
static _Thread_local struct wiki *running;

struct block {
    size_t bytes;
    max_align_t data[];
};

static void *change(void *data, size_t bytes)
{
    struct block *old = data ? (struct block *)(void *)((char *)data - sizeof *old) : NULL;
    size_t before = old ? old->bytes : 0;
    if (bytes > MEMORY_MAX - (running->memory - before))
        return NULL;
    struct block *b = sp_realloc(old, sizeof *b + bytes);
    b->bytes = bytes;
    running->memory += bytes - before;
    return b->data;
}

static void *allocate(size_t bytes)
{
    return change(NULL, bytes);
}

static void release_block(void *data)
{
    if (!data)
        return;
    struct block *b = (struct block *)(void *)((char *)data - sizeof *b);
    running->memory -= b->bytes;
    sp_free(b);
}

/* ---- the elements ---- */

static enum element element_of(const char *name)
{
    static const char *const names[ELEMENTS] = {"", "base", "title", "timestamp", "text"};
    for (int e = BASE; e < ELEMENTS; e++)
        if (strcmp(name, names[e]) == 0)
            return (enum element)e;
    return OTHER;
}

static void reset(struct wiki *w, enum element e)
{
    sp_buf_reset(&w->values[e]);
    w->cut[e] = false;
}

/* Dumps before 2012 have no lengths, but only stubs name the text by a number. */
static void start_text(struct wiki *w, const char **attributes)
{
    const char *length = NULL;
    bool numbered = false;
    for (; *attributes; attributes += 2) {
        w->hidden |= strcmp(attributes[0], "deleted") == 0;
        numbered |= strcmp(attributes[0], "id") == 0;
        if (strcmp(attributes[0], "bytes") == 0)
            length = attributes[1];
    }
    w->stub = length ? strcmp(length, "0") != 0 : numbered;
}

static void put_waiting(struct wiki *w, bool last);

static void on_start(void *arg, const char *name, const char **attributes)
{
    struct wiki *w = arg;
    bool page = strcmp(name, "page") == 0;
    if (page || strcmp(name, "revision") == 0)
        put_waiting(w, page);
    w->slot |= strcmp(name, "content") == 0;
    /* What is behind a revision, as a file's upload, has other times. */
    w->inside = w->slot || w->waiting ? OTHER : element_of(name);
    reset(w, w->inside);
    if (page) {
        w->slot = false; /* whatever damage has left open */
        sp_buf_reset(&w->redirect);
    } else if (strcmp(name, "revision") == 0) {
        reset(w, TEXT);
        reset(w, TIMESTAMP);
        w->slot = w->hidden = w->stub = false;
    } else if (w->inside == TEXT) {
        start_text(w, attributes);
    } else if (strcmp(name, "redirect") == 0) {
        sp_buf_reset(&w->redirect);
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
    uint64_t most = w->inside == TEXT ? w->max_record : NAME_MAX_BYTES;
    w->cut[w->inside] |= value->len + (size_t)len > most;
    if (!w->cut[w->inside])
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

static void put_revision(struct wiki *w, bool redirect)
{
    const struct sp_input_fields *f = w->fields;
    sp_buf_put_u8(w->out, '{');
    put_url(w, f->id, &w->values[TITLE]);
    if (w->values[TIMESTAMP].len)
        put_value(w, f->time, sp_buf_view(&w->values[TIMESTAMP]));
    put_value(w, f->content_type, sp_view_str("text/plain"));
    if (redirect) {
        sp_buf_put_u8(w->out, ',');
        sp_json_put_text(w->out, f->status);
        sp_buf_put_str(w->out, ":301,");
        put_url(w, f->redirect, &w->redirect);
    } else if (w->hidden) {
        sp_buf_put_u8(w->out, ',');
        sp_json_put_text(w->out, f->status);
        sp_buf_put_str(w->out, ":403");
    }
    put_value(w, f->text, sp_buf_view(&w->values[TEXT]));
    sp_buf_put_str(w->out, "}\n");
}

static void put_loss(struct wiki *w, enum sp_loss loss)
{
    sp_buf_put_str(w->out, sp_loss_text(loss));
    sp_buf_put_u8(w->out, '\n');
}

static void cut_values(struct wiki *w)
{
    w->cut[TITLE] = w->cut[TIMESTAMP] = w->cut[TEXT] = true;
    sp_buf_reset(&w->redirect);
    w->cut_behind = false;
}

/* Writes the revision that waits, if there is one. */
static void put_waiting(struct wiki *w, bool last)
{
    bool redirect = last && w->redirect.len > 0;
    if (!w->waiting)
        return;
    w->waiting = false;
    if (w->cut[TEXT])
        put_loss(w, SP_LOSS_REVISION);
    else if (w->cut[BASE] || w->cut[TITLE] || w->cut[TIMESTAMP] || w->redirect.len > NAME_MAX_BYTES)
        put_loss(w, SP_LOSS_TITLE);
    else if (w->stub && w->values[TEXT].len == 0 && !w->hidden && !redirect)
        put_loss(w, SP_LOSS_STUB);
    else
        put_revision(w, redirect);
    if (w->cut_behind)
        cut_values(w);
}

static void on_end(void *arg, const char *name)
{
    struct wiki *w = arg;
    w->inside = OTHER;
    w->slot &= strcmp(name, "content") != 0;
    w->waiting |= strcmp(name, "revision") == 0;
    if (strcmp(name, "page") == 0)
        put_waiting(w, true);
}

static void on_document_type(void *arg, const char *name, const char *system, const char *public,
                             int has_subset)
{
    struct wiki *w = arg;
    (void)name, (void)system, (void)public, (void)has_subset;
    w->typed = true;
    XML_StopParser(w->parser, XML_FALSE);
}

static void *make(char separator, const struct sp_input_fields *fields, uint64_t max_record)
{
    static const XML_Memory_Handling_Suite memory = {allocate, change, release_block};
    struct wiki *w = running = sp_calloc(1, sizeof *w);
    (void)separator;
    w->fields = fields;
    w->max_record = max_record;
    w->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    XML_SetUserData(w->parser, w);
    XML_SetElementHandler(w->parser, on_start, on_end);
    XML_SetCharacterDataHandler(w->parser, on_text);
    XML_SetStartDoctypeDeclHandler(w->parser, on_document_type);
    return w;
}

static void release(void *state)
{
    struct wiki *w = running = state;
    XML_ParserFree(w->parser);
    for (int e = 0; e < ELEMENTS; e++)
        sp_buf_done(&w->values[e]);
    sp_buf_done(&w->redirect);
    sp_buf_done(&w->url);
    sp_free(w);
}

static const char *reason(const struct wiki *w)
{
    enum XML_Error code = XML_GetErrorCode(w->parser);
    return w->typed                      ? "it has a document type, which no dump has"
           : code == XML_ERROR_NO_MEMORY ? "a tag or comment is too long, elements are nested too "
                                           "deeply, or there are too many names"
                                         : XML_ErrorString(code);
}

static void parse(struct wiki *w, struct sp_view bytes, bool last, struct sp_buf *out)
{
    char why[256];
    w->out = out;
    running = w;
    if (w->broken || XML_Parse(w->parser, bytes.data, (int)bytes.len, last) == XML_STATUS_OK)
        return;
    w->broken = true;
    put_waiting(w, true);
    snprintf(why, sizeof why, "%s in line %lu: %s; the rest is not read\n",
             sp_loss_text(SP_LOSS_XML), (unsigned long)XML_GetCurrentLineNumber(w->parser),
             reason(w));
    sp_buf_put_str(out, why);
}

static void feed(void *state, struct sp_view bytes, struct sp_buf *out)
{
    parse(state, bytes, false, out);
}

/* A part of the dump is missing, and expat goes on in the element that it was in. */
static void cut(void *state)
{
    struct wiki *w = state;
    if (w->waiting)
        w->cut_behind = true;
    else
        cut_values(w);
}

static bool end(void *state, struct sp_buf *out)
{
    parse(state, sp_view("", 0), true, out);
    return false;
}

const struct sp_convert_ops sp_convert_wiki = {make, release, feed, cut, end};
