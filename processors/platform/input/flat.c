/* One line of JSON to a page record, without simdjson: see flat.h.
 *
 * Nearly all of a line is one string, the content. A line needs no index of its structure then:
 * each string is read once, 64 bytes at a time, and unescaped in the same step: the characters
 * after backslashes are replaced by a table look-up, and the backslashes are removed by a
 * compression (AVX-512 VBMI2). A string without a backslash is not copied.
 *
 * Invariant: a line is accepted only if simdjson accepts it with the same result. Whatever is rare
 * (nested values, fractions with exponents, surrogates without their other half) and whatever is
 * wrong is left to simdjson, which also words the reason. */
#include "input/flat.h"

#include <string.h>

#include "base/mem.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum field { FIELD_OTHER, URL, FETCH_TIME, STATUS, REDIRECT, TYPE, POPULARITY, CONTENT, FIELDS };

enum { BLOCK = 64, DIGITS_MAX = 15, STATUS_MAX = 999 };

struct sp_flat {
    const struct sp_input_fields *fields;
    const struct sp_json_ops *json;
    struct sp_view names[FIELDS];
    struct sp_buf text; /* the strings that had escapes */
};

/* Where parsing is in a line. */
struct place {
    const char *at;
    const char *end;
    char *out;     /* BLOCK bytes more than the rest of the line fit here */
    uint64_t high; /* not 0: bytes of 0x80 and more were seen, here or shortly behind */
};

struct sp_flat *sp_flat_new(const struct sp_input_fields *fields, const struct sp_json_ops *json)
{
    if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vbmi") ||
        !__builtin_cpu_supports("avx512vbmi2") || !__builtin_cpu_supports("bmi2"))
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

/* ---- strings ---- */

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

/* What a character after a backslash stands for; 0: \u, or an error. */
static const char meaning[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* The characters after the backslashes that begin an escape. Only runs of backslashes need thought:
 * a subtraction carries through each, as in simdjson ("odd-length sequences"). */
static inline uint64_t escaped_by(uint64_t backslash, uint64_t *ret_begin)
{
    const uint64_t odd = 0xAAAAAAAAAAAAAAAAull;
    uint64_t behind = backslash << 1;
    *ret_begin = backslash;
    if (!(behind & backslash))
        return behind;
    uint64_t code = (((behind | odd) - backslash) ^ odd);
    *ret_begin = code & backslash;
    return code ^ backslash;
}

static int hex_value(char c)
{
    if ((unsigned)(c - '0') < 10u)
        return c - '0';
    unsigned letter = (unsigned)((c | 0x20) - 'a');
    return letter < 6u ? (int)letter + 10 : -1;
}

/* The number in "\uXXXX" at `at`; -1: it is not one. */
static int32_t code_unit(const char *at)
{
    int32_t x = 0;
    if (at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0)
            return -1;
        x = x << 4 | digit;
    }
    return x;
}

/* Unescapes "\uXXXX", or two that are one character. May read behind the line. */
static bool take_code_point(struct place *p)
{
    int32_t x = code_unit(p->at), low;
    uint8_t *out = (uint8_t *)p->out;
    if (x < 0)
        return false;
    p->at += 6;
    if (x >= 0xD800 && x < 0xE000) {
        low = code_unit(p->at);
        if (x >= 0xDC00 || low < 0xDC00 || low >= 0xE000)
            return false;
        p->at += 6;
        x = 0x10000 + ((x - 0xD800) << 10) + (low - 0xDC00);
        *out++ = (uint8_t)(0xF0 | x >> 18);
        *out++ = (uint8_t)(0x80 | (x >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (x >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (x & 0x3F));
    } else if (x >= 0x800) {
        *out++ = (uint8_t)(0xE0 | x >> 12);
        *out++ = (uint8_t)(0x80 | (x >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (x & 0x3F));
    } else if (x >= 0x80) {
        *out++ = (uint8_t)(0xC0 | x >> 6);
        *out++ = (uint8_t)(0x80 | (x & 0x3F));
    } else {
        *out++ = (uint8_t)x;
    }
    p->out = (char *)out;
    return true;
}

/* Unescapes from p->at, where a string's first backslash is, to its closing quote, at which p->at
 * is left. */
AVX512 static bool unescape(struct place *p)
{
    const __m512i low = _mm512_loadu_si512(meaning), high = _mm512_loadu_si512(meaning + BLOCK);
    while (p->at < p->end) {
        __m512i x = _mm512_loadu_si512(p->at);
        uint64_t backslash = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\\'));
        uint64_t quote = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"'));
        uint64_t control = _mm512_cmplt_epu8_mask(x, _mm512_set1_epi8(' '));
        uint64_t top = _mm512_movepi8_mask(x), begin;
        uint64_t escaped = escaped_by(backslash, &begin);
        uint64_t stop = (quote & ~escaped) | control;
        /* An escape that the block cuts is left to the next block. */
        unsigned n = stop ? (unsigned)__builtin_ctzll(stop) : BLOCK - (unsigned)(begin >> 63);
        uint64_t before = _bzhi_u64(~0ull, n);
        __m512i meant = _mm512_permutex2var_epi8(low, x, high);
        uint64_t known = _mm512_test_epi8_mask(meant, meant) & ~top;
        uint64_t other = escaped & before & ~known;
        p->high |= top;
        if (other) { /* its backslash is in the block, because no escape was cut before it */
            n = (unsigned)__builtin_ctzll(other) - 1;
            before = _bzhi_u64(~0ull, n);
        }
        x = _mm512_mask_mov_epi8(x, escaped, meant);
        _mm512_storeu_si512(p->out, _mm512_maskz_compress_epi8(before & ~begin, x));
        p->out += __builtin_popcountll(before & ~begin);
        p->at += n;
        if (other) {
            if (!take_code_point(p))
                return false;
        } else if (stop) {
            return p->at < p->end && *p->at == '"';
        }
    }
    return false;
}

/* Reads the string whose opening quote is at p->at. */
AVX512 static bool take_string(struct place *p, struct sp_view *ret_text)
{
    const char *start = ++p->at;
    uint64_t stop = 0;
    for (; p->at < p->end; p->at += BLOCK) {
        __m512i x = _mm512_loadu_si512(p->at);
        stop = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\\')) |
               _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"')) |
               _mm512_cmplt_epu8_mask(x, _mm512_set1_epi8(' '));
        p->high |= _mm512_movepi8_mask(x);
        if (stop)
            break;
    }
    if (!stop)
        return false;
    p->at += __builtin_ctzll(stop);
    if (p->at >= p->end)
        return false;
    size_t len = (size_t)(p->at - start);
    *ret_text = sp_view(start, len);
    if (*p->at == '\\') {
        char *text = p->out;
        memcpy(text, start, len);
        p->out += len;
        if (!unescape(p))
            return false;
        *ret_text = sp_view(text, (size_t)(p->out - text));
    } else if (*p->at != '"') {
        return false;
    }
    p->at++;
    return true;
}

/* ---- values ---- */

static void skip_space(struct place *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n'))
        p->at++;
}

/* Skips white space and the character `c`. */
static bool take(struct place *p, char c)
{
    skip_space(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool take_null(struct place *p)
{
    if (p->end - p->at < 5 || memcmp(p->at, "null", 4) != 0)
        return false;
    p->at += 4;
    return true;
}

/* Reads digits, at most as many as a double holds exactly; returns their number. */
static size_t take_digits(struct place *p, uint64_t *x)
{
    size_t n = 0;
    for (; p->at < p->end && (unsigned)(*p->at - '0') < 10u && n <= DIGITS_MAX; p->at++, n++)
        *x = *x * 10 + (unsigned)(*p->at - '0');
    return n;
}

/* Reads a number without sign and exponent. Integer and power are exact, so the quotient is the
 * double next to the number. */
static bool take_number(struct place *p, double *ret, bool *ret_whole)
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

static bool take_number_field(struct place *p, enum field field, const struct sp_input_fields *like,
                              struct sp_page_record *page)
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

static bool take_string_field(struct place *p, enum field field, struct sp_page_record *page)
{
    struct sp_view text;
    if (!take_string(p, &text))
        return false;
    switch (field) {
    case URL:
        page->url = text;
        return true;
    case REDIRECT:
        page->redirect_url = text;
        return true;
    case TYPE:
        page->content_type = text;
        return true;
    case CONTENT:
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

static bool take_field(struct sp_flat *f, struct place *p, struct sp_page_record *page,
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
    return *p->at == '"'   ? take_string_field(p, field, page)
           : *p->at == 'n' ? take_null(p)
                           : take_number_field(p, field, f->fields, page);
}

bool sp_flat_parse(struct sp_flat *f, struct sp_view line, struct sp_page_record *ret_page)
{
    struct sp_page_record page = {.fetch_time_ms = -1, .http_status = 200, .content_is_utf8 = true};
    bool other = false;
    sp_buf_reset(&f->text);
    struct place p = {.at = line.data,
                      .end = line.data + line.len,
                      .out = sp_buf_reserve(&f->text, line.len + BLOCK)};
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

#else

struct sp_flat *sp_flat_new(const struct sp_input_fields *fields, const struct sp_json_ops *json)
{
    (void)fields;
    (void)json;
    return NULL;
}

void sp_flat_free(struct sp_flat *f)
{
    (void)f;
}

bool sp_flat_parse(struct sp_flat *f, struct sp_view line, struct sp_page_record *ret_page)
{
    (void)f;
    (void)line;
    (void)ret_page;
    return false;
}

#endif
