/* Code point classes and folding, from utf8proc, behind a table that is filled page by page
 * (256 code points) at first use: utf8proc itself takes 100 ns a code point, the table 2.
 *
 * Folding is Unicode's full case folding of the compatibility decomposition (NFKD), one code
 * point at a time. Decomposing instead of composing makes the result independent of what
 * follows; then marks are put in their canonical order. fold.h says what is lost against NFKD.
 * Hangul syllables stay composed, because their decomposition triples the bytes, and letters that
 * compose one are put together.
 *
 * Invariant: the table depends only on utf8proc's data, never on the texts seen. Memory: at
 * most 4 KiB a page for 4,352 pages; nothing here can fail. */
#include "text/fold.h"

#include <utf8proc.h>

#include "text/repair.h"
#include "text/scan.h"

enum {
    PAGES = 0x110000 / 256,
    FOLDED_MAX = 14,
    /* Hangul (Unicode, section 3.12): first consonants, vowels, and final consonants from the one
     * before the first on; syllables are in this order. */
    FIRSTS = 0x1100,
    FIRST_COUNT = 19,
    VOWELS = 0x1161,
    VOWEL_COUNT = 21,
    FINALS = 0x11A7,
    FINAL_COUNT = 28,
    SYLLABLES = 0xAC00,
    SYLLABLE_COUNT = FIRST_COUNT * VOWEL_COUNT * FINAL_COUNT
};

enum fold_kind {
    KIND_SPACE,  /* separates words */
    KIND_STOP,   /* ends a sentence */
    KIND_WORD,   /* part of a word */
    KIND_MARK,   /* part of the word before */
    KIND_SORTED, /* the same, and its place among other marks depends on its combining class */
    KIND_ALONE,  /* a word by itself, with the marks that follow */
    KIND_JOINS,  /* a vowel or final consonant of Hangul, which completes a syllable */
    KIND_NOTHING /* invisible: as if it were not there */
};

struct folded {
    uint8_t kind;
    uint8_t len;
    char text[FOLDED_MAX];
};

struct sp_fold {
    struct folded *pages[PAGES];
};

/* Ends of sentences that are not ASCII. */
static bool is_stop(uint32_t x)
{
    switch (x) {
    case 0x0589: /* Armenian */
    case 0x061F: /* Arabic question mark */
    case 0x06D4: /* Arabic full stop */
    case 0x0964: /* danda */
    case 0x0965: /* double danda */
    case 0x2026: /* ellipsis */
    case 0x203C:
    case 0x3002: /* ideographic full stop */
    case 0xFE52:
    case 0xFF01:
    case 0xFF0E:
    case 0xFF1F:
    case 0xFF61:
        return true;
    default:
        return false;
    }
}

/* Scripts written without spaces between words. */
static bool is_alone(uint32_t x)
{
    return (x >= 0x0E00 && x < 0x0F00) ||                                /* Thai, Lao */
           (x >= 0x1000 && x < 0x10A0) ||                                /* Myanmar */
           (x >= 0x1780 && x < 0x1800) ||                                /* Khmer */
           (x >= 0x1950 && x < 0x19E0) ||                                /* Tai Le, New Tai Lue */
           (x >= 0x2E80 && x < 0x3100) ||                                /* radicals, kana */
           (x >= 0x31F0 && x < 0x3200) ||                                /* kana extensions */
           (x >= 0x3400 && x < 0xA000) ||                                /* Han */
           (x >= 0xA9E0 && x < 0xAA80 && (x < 0xAA00 || x >= 0xAA60)) || /* Myanmar extended */
           (x >= 0xF900 && x < 0xFB00) ||                                /* Han, compatibility */
           (x >= 0xFF66 && x < 0xFFA0) ||                                /* half-width kana */
           (x >= 0x1B000 && x < 0x1B170) ||                              /* kana supplement */
           (x >= 0x20000 && x < 0x32000);                                /* Han, extensions */
}

static bool is_within(uint32_t x, uint32_t first, uint32_t count)
{
    return x >= first && x - first < count;
}

/* Selects a variant of the character before, or fills a place. */
static bool is_invisible(uint32_t x)
{
    return x == 0x034F || x == 0x115F || x == 0x1160 || is_within(x, 0x180B, 3) || x == 0x180F ||
           x == 0x3164 || is_within(x, 0xFE00, 16) || x == 0xFFA0 || is_within(x, 0xE0100, 240);
}

static bool is_half_width_voicing(uint32_t x)
{
    return x == 0xFF9E || x == 0xFF9F;
}

static bool is_joining(uint32_t x)
{
    return is_within(x, VOWELS, VOWEL_COUNT) || is_within(x, FINALS + 1, FINAL_COUNT - 1);
}

static enum fold_kind kind_of(uint32_t x)
{
    if (is_stop(x))
        return KIND_STOP;
    if (is_invisible(x))
        return KIND_NOTHING;
    if (is_half_width_voicing(x))
        return KIND_MARK;
    switch ((int)utf8proc_category((utf8proc_int32_t)x)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return is_alone(x) ? KIND_ALONE : KIND_WORD;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return KIND_WORD;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return KIND_MARK;
    case UTF8PROC_CATEGORY_CF:
        return x == 0x200B ? KIND_SPACE : KIND_NOTHING; /* zero-width space may break */
    default:
        return KIND_SPACE;
    }
}

/* Whether a decomposition may stand for the code point: all of it belongs to words (a
 * vulgar fraction's slash or a sign's parentheses do not). */
static bool all_in_word(const utf8proc_int32_t *x, utf8proc_ssize_t count)
{
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        if (x[i] < 0x80) {
            if (!sp_scan_is_word((char)x[i]))
                return false;
        } else {
            enum fold_kind kind = kind_of((uint32_t)x[i]);
            if (kind == KIND_SPACE || kind == KIND_STOP || kind == KIND_NOTHING)
                return false;
        }
    }
    return true;
}

static uint32_t code_point_at(const char *text, size_t at, size_t end)
{
    size_t size;
    return sp_utf8_get(text + at, end - at, &size);
}

static unsigned combining_class(const char *text, size_t at, size_t end)
{
    return (unsigned)utf8proc_get_property((utf8proc_int32_t)code_point_at(text, at, end))
        ->combining_class;
}

static void fold_one(uint32_t x, struct folded *ret_folded)
{
    struct folded f = {.kind = (uint8_t)kind_of(x)};
    if (f.kind == KIND_SPACE || f.kind == KIND_STOP) {
        f.text[f.len++] = f.kind == KIND_STOP ? '.' : ' ';
    } else if (f.kind != KIND_NOTHING) {
        utf8proc_int32_t parts[FOLDED_MAX];
        int boundclass = 0;
        utf8proc_ssize_t n =
            is_within(x, SYLLABLES, SYLLABLE_COUNT)
                ? -1
                : utf8proc_decompose_char((utf8proc_int32_t)x, parts, FOLDED_MAX,
                                          UTF8PROC_CASEFOLD | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE,
                                          &boundclass);
        char utf8[FOLDED_MAX * 4];
        size_t len = 0;
        for (utf8proc_ssize_t i = 0; i < n && n <= FOLDED_MAX; i++)
            len += sp_utf8_put(utf8 + len, (uint32_t)parts[i]);
        if (len == 0 || len > FOLDED_MAX || !all_in_word(parts, n))
            len = sp_utf8_put(utf8, x);
        f.len = (uint8_t)len;
        memcpy(f.text, utf8, len);
        if (n == 1 && is_joining((uint32_t)parts[0]))
            f.kind = KIND_JOINS;
        else if (f.kind == KIND_MARK && combining_class(f.text, 0, f.len) > 0)
            f.kind = KIND_SORTED;
    }
    *ret_folded = f;
}

struct sp_fold *sp_fold_new(void)
{
    return sp_calloc(1, sizeof(struct sp_fold));
}

void sp_fold_free(struct sp_fold *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < PAGES; i++)
        sp_free(f->pages[i]);
    sp_free(f);
}

static const struct folded *fill_page(struct sp_fold *f, uint32_t page)
{
    struct folded *entries = sp_alloc(256 * sizeof *entries);
    for (uint32_t i = 0; i < 256; i++)
        fold_one(page << 8 | i, &entries[i]);
    f->pages[page] = entries;
    return entries;
}

/* ---- marks and letters that change what is before them ---- */

/* The start of the code point that ends before `end`, which is not 0. */
static size_t start_before(const char *text, size_t end)
{
    size_t at = end - 1;
    while (at > 0 && sp_utf8_continues(text[at]))
        at--;
    return at;
}

/* Moves the code point from `at` to `end` before the marks of a higher class (Unicode, section
 * 3.11), of which no letter of a language has so many. */
static void put_in_order(char *text, size_t at, size_t end)
{
    enum { MARKS_MOST = 8 };
    unsigned order = combining_class(text, at, end);
    size_t to = at;
    for (int i = 0; i < MARKS_MOST && order > 0 && to > 0 && (text[to - 1] & 0x80); i++) {
        size_t before = start_before(text, to);
        if (combining_class(text, before, to) <= order)
            break;
        to = before;
    }
    if (to < at) {
        char mark[4];
        memcpy(mark, text + at, end - at);
        memmove(text + to + (end - at), text + to, at - to);
        memcpy(text + to, mark, end - at);
    }
}

/* Of the marks from `at` on. */
static void put_all_in_order(struct sp_buf *out, size_t at)
{
    while (at < out->len) {
        size_t end = at + 1;
        while (end < out->len && sp_utf8_continues(out->data[end]))
            end++;
        put_in_order(out->data, at, end);
        at = end;
    }
}

/* Whether the text ends in a word. A mark on something else is not part of one either. */
static bool ends_in_word(const struct sp_buf *out)
{
    char last = out->len > 0 ? out->data[out->len - 1] : ' ';
    return (last & 0x80) || sp_scan_is_word(last);
}

/* The syllable of what is before and a letter that completes it, or 0. */
static uint32_t syllable(uint32_t before, uint32_t letter)
{
    if (is_within(before, FIRSTS, FIRST_COUNT) && is_within(letter, VOWELS, VOWEL_COUNT))
        return SYLLABLES + ((before - FIRSTS) * VOWEL_COUNT + letter - VOWELS) * FINAL_COUNT;
    if (is_within(before, SYLLABLES, SYLLABLE_COUNT) && (before - SYLLABLES) % FINAL_COUNT == 0 &&
        is_within(letter, FINALS + 1, FINAL_COUNT - 1))
        return before + letter - FINALS;
    return 0;
}

/* False if the letter stands by itself. */
static bool join(const struct folded *e, struct sp_buf *out)
{
    if (out->len == 0 || !(out->data[out->len - 1] & 0x80))
        return false;
    size_t at = start_before(out->data, out->len);
    uint32_t joined =
        syllable(code_point_at(out->data, at, out->len), code_point_at(e->text, 0, e->len));
    if (joined) {
        out->len = at;
        sp_buf_reserve(out, 4);
        out->len += sp_utf8_put(out->data + at, joined);
    }
    return joined;
}

void sp_fold_text(struct sp_fold *f, struct sp_view text, struct sp_buf *out)
{
    const struct sp_scan_kernel *kernel = sp_scan_kernel();
    bool alone = false; /* the last character written was a word by itself */
    size_t i = 0;
    while (i < text.len) {
        if (!(text.data[i] & 0x80)) {
            size_t n = kernel->ascii(text.data + i, text.len - i);
            char *at = sp_buf_reserve(out, n + 1);
            if (alone && sp_scan_is_word(text.data[i])) {
                *at++ = ' ';
                out->len++;
            }
            alone = false;
            memcpy(at, text.data + i, n);
            out->len += n;
            i += n;
            continue;
        }
        size_t size;
        uint32_t x = sp_utf8_get(text.data + i, text.len - i, &size);
        const struct folded *page = f->pages[x >> 8];
        if (!page)
            page = fill_page(f, x >> 8);
        const struct folded *e = &page[x & 0xFF];
        i += size;
        bool is_mark = e->kind == KIND_MARK || e->kind == KIND_SORTED;
        if (e->kind == KIND_NOTHING || (is_mark && !ends_in_word(out)) ||
            (e->kind == KIND_JOINS && join(e, out)))
            continue;
        char *at = sp_buf_reserve(out, 1 + sizeof e->text);
        bool apart =
            e->kind == KIND_ALONE || (alone && (e->kind == KIND_WORD || e->kind == KIND_JOINS));
        *at = ' ';
        at += apart;
        memcpy(at, e->text, sizeof e->text);
        out->len += apart + e->len;
        alone = e->kind == KIND_ALONE || (alone && is_mark);
        if (e->kind == KIND_SORTED)
            put_all_in_order(out, out->len - e->len);
    }
}
