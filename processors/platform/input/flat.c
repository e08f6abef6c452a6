/* One line of JSON to a page record, without simdjson: see flat.h.
 *
 * Nearly all of a line is one string, the content. A line needs no index of its structure then:
 * each string is read once (json_string.h).
 *
 * Invariant: a line is accepted only if simdjson accepts it with the same result. Whatever is rare
 * (nested values, fractions with exponents, surrogates without their other half) and whatever is
 * wrong is left to simdjson, which also words the reason. */
#include "input/flat.h"

#include <string.h>

#include "base/mem.h"
#include "input/json_string.h"

enum field { FIELD_OTHER, URL, FETCH_TIME, STATUS, REDIRECT, TYPE, POPULARITY, CONTENT, FIELDS };

enum { DIGITS_MAX = 15, STATUS_MAX = 999 };

struct sp_flat {
    const struct sp_input_fields *fields;
    const struct sp_json_ops *json;
    sp_json_string_fn read_string;
    struct sp_view names[FIELDS];
    struct sp_buf text; /* the strings that had escapes */
};

struct sp_flat *sp_flat_new(const struct sp_input_fields *fields, const struct sp_json_ops *json,
                            const char *vectors)
{
    sp_json_string_fn read_string = sp_json_string_reader(vectors);
    if (!read_string)
        return NULL;
    const char *const names[FIELDS] = {NULL,
                                       fields->id,
                                       fields->time,
                                       fields->status,
                                       fields->redirect,
                                       fields->content_type,
                                       fields->popularity,
                                       fields->text};
    struct sp_flat *f = sp_calloc(1, sizeof *f);
    f->fields = fields;
    f->json = json;
    f->read_string = read_string;
    for (int i = URL; i < FIELDS; i++)
        f->names[i] = sp_view_str(names[i]);
    return f;
}

void sp_flat_free(struct sp_flat *f)
{
    if (!f)
        return;
    sp_buf_done(&f->text);
    sp_free(f);
}

/* ---- values ---- */

static void skip_space(struct sp_json_place *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n'))
        p->at++;
}

/* Skips white space and the character `c`. */
static bool take(struct sp_json_place *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_null(struct sp_json_place *p)
{
    if (p->end - p->at < 5 || memcmp(p->at, "null", 4) != 0)
        return false;
    p->at += 4;
    return true;
}

/* Reads digits, at most as many as a double holds exactly; returns their number. */
static size_t take_digits(struct sp_json_place *p, uint64_t *x)
{
    size_t n = 0;
    for (; p->at < p->end && (unsigned)(*p->at - '0') < 10u && n <= DIGITS_MAX; p->at++, n++)
        *x = *x * 10 + (unsigned)(*p->at - '0');
    return n;
}

/* Reads a number without sign and exponent. Integer and power are exact, so the quotient is the
 * double next to the number. */
static bool take_number(struct sp_json_place *p, double *ret, bool *ret_whole)
{
    static const double power[DIGITS_MAX + 1] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *start = p->at;
    uint64_t x = 0;
    size_t digits = take_digits(p, &x), decimals = 0;
    if (digits == 0 || (digits > 1 && *start == '0'))
        return false;
    *ret_whole = p->at == p->end || *p->at != '.';
    if (!*ret_whole) {
        p->at++;
        decimals = take_digits(p, &x);
        if (decimals == 0)
            return false;
    }
    if (digits + decimals > DIGITS_MAX || (p->at < p->end && (*p->at | 0x20) == 'e'))
        return false;
    *ret = (double)x / power[decimals];
    return true;
}

/* ---- the object ---- */

static enum field field_of(const struct sp_flat *f, struct sp_view key,
                           const struct sp_page_record *page)
{
    for (int i = URL; i < FIELDS; i++)
        if (sp_view_eq(key, f->names[i]))
            return (enum field)i;
    if (f->fields->dataset && page->content.len == 0 && sp_view_eq(key, sp_view_str("text")))
        return CONTENT;
    if (f->fields->dataset && page->url.len == 0 && sp_view_eq(key, sp_view_str("id")))
        return URL;
    return FIELD_OTHER;
}

static bool take_number_field(struct sp_json_place *p, enum field field,
                              const struct sp_input_fields *like, struct sp_page_record *page)
{
    const double seconds_below = 1e11; /* as in json.cc */
    double x;
    bool whole;
    if (!take_number(p, &x, &whole))
        return false;
    if (field == POPULARITY) {
        page->popularity = x;
        return true;
    }
    if (field == FETCH_TIME && like->any_time && x < seconds_below)
        x *= 1000;
    else if (!whole)
        return false;
    if (field == FETCH_TIME)
        page->fetch_time_ms = (int64_t)x;
    else if (field == STATUS && x <= STATUS_MAX)
        page->http_status = (int32_t)x;
    else
        return false;
    return true;
}

static bool take_string_field(const struct sp_flat *f, struct sp_json_place *p, enum field field,
                              struct sp_page_record *page)
{
    struct sp_view text;
    if (!f->read_string(p, &text))
        return false;
    switch (field) {
    case URL: /* an empty one is no reason to lose the `id` before it; so in json.cc */
        if (text.len > 0 || !page->url.data)
            page->url = text;
        return true;
    case REDIRECT:
        page->redirect_url = text;
        return true;
    case TYPE:
        page->content_type = text;
        return true;
    case CONTENT:
        if (text.len > 0 || !page->content.data)
            page->content = text;
        return true;
    case FETCH_TIME:
        return sp_input_time(text, &page->fetch_time_ms);
    case FIELD_OTHER:
        return true;
    case STATUS:
    case POPULARITY:
    case FIELDS:
        break;
    }
    return false;
}

static bool take_field(struct sp_flat *f, struct sp_json_place *p, struct sp_page_record *page,
                       bool *ret_other)
{
    struct sp_view key;
    if (!take(p, '"'))
        return false;
    key = sp_view(p->at, 0);
    while (p->at < p->end && (uint8_t)*p->at >= ' ' && *p->at != '"' && *p->at != '\\') {
        p->high |= (uint8_t)*p->at & 0x80u;
        p->at++;
    }
    key.len = (size_t)(p->at - key.data);
    if (p->at == p->end || *p->at++ != '"' || !take(p, ':'))
        return false;
    enum field field = field_of(f, key, page);
    *ret_other |= field == FIELD_OTHER;
    skip_space(p);
    if (p->at == p->end)
        return false;
    return *p->at == '"'   ? take_string_field(f, p, field, page)
           : *p->at == 'n' ? take_null(p)
                           : take_number_field(p, field, f->fields, page);
}

bool sp_flat_parse(struct sp_flat *f, struct sp_view line, struct sp_page_record *ret_page)
{
    struct sp_page_record page = {.fetch_time_ms = -1, .http_status = 200, .content_is_utf8 = true};
    bool other = false;
    sp_buf_reset(&f->text);
    struct sp_json_place p = {.at = line.data,
                              .end = line.data + line.len,
                              .out = sp_buf_reserve(&f->text, line.len + SP_JSON_BLOCK)};
    if (!take(&p, '{'))
        return false;
    do {
        if (!take_field(f, &p, &page, &other))
            return false;
    } while (take(&p, ','));
    if (!take(&p, '}'))
        return false;
    skip_space(&p);
    if (p.at != p.end || page.url.len == 0)
        return false;
    /* A field that is meant for the content may have to be named: json.cc knows their names. */
    if (!page.content.data && (other || !sp_view_eq(f->names[CONTENT], sp_view_str("content"))))
        return false;
    if (p.high && !f->json->is_utf8(line))
        return false;
    *ret_page = page;
    return true;
}
