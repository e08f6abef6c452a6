/* Names of elements and of page furniture, each behind a small hash table made once, before
 * main.
 *
 * The words that mark furniture in class and id attributes are those that boilerplate
 * removers agree on (trafilatura, Readability, jusText's successors): a hint only, which
 * blocks.c drops again where it would cost most of the text. */
#include "text/tags.h"

#include <strings.h>

#include "base/assert.h"
#include "text/scan.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum {
    TAG_SLOTS = 256,
    HINT_SLOTS = 256,
    NAME_MAX_LEN = 16,
    CLASS_MAX_LEN = 128, /* bytes of an attribute's value that are read */
    VALUE_WORDS = CLASS_MAX_LEN / 64 + 1
};

const uint16_t sp_tag_flags[SP_TAG_COUNT] = {0,
#define X(name, flags) flags,
                                             SP_TAGS(X)
#undef X
};

static const char *const tag_names[SP_TAG_COUNT] = {"",
#define X(name, flags) #name,
                                                    SP_TAGS(X)
#undef X
};

static const char *const hint_names[] = {
    "ad",         "ads",          "advert",     "advertisement", "adsense",     "banner",
    "breadcrumb", "breadcrumbs",  "catlinks",   "consent",       "cookie",      "cookies",
    "crumbs",     "disclaimer",   "drawer",     "dropdown",      "foot",        "footer",
    "gdpr",       "hidden",       "masthead",   "menu",          "menubar",     "modal",
    "nav",        "navbar",       "navbox",     "navigation",    "navlinks",    "newsletter",
    "noprint",    "pager",        "pagination", "popup",         "printfooter", "promo",
    "promoted",   "promotion",    "related",    "share",         "sharing",     "sidebar",
    "sitenav",    "skip",         "skiplink",   "social",        "sponsor",     "sponsored",
    "subscribe",  "toc",          "toolbar",    "topbar",        "topnav",      "widget",
    "widgets",    "bottomnav",    "subnav",     "login",         "reflist",     "references",
    "refbegin",   "bibliography", "signup",     "search",
};

static const char *const negations[] = {"with", "has", "no", "non", "without", "not"};

struct name_key {
    uint64_t head; /* the first 8 bytes, in lower case, padded with zeros */
    uint64_t tail; /* bytes 8 to 15 */
};

struct name_slot {
    struct name_key key;
    uint8_t value; /* 0: empty */
};

static struct name_slot tag_slots[TAG_SLOTS];
static struct name_slot hint_slots[HINT_SLOTS];
static uint32_t hint_lengths[32]; /* by the first letter: bit n is set if a hint has length n */

static inline uint32_t slot_of(struct name_key k)
{
    return (uint32_t)((k.head * 0x9e3779b97f4a7c15ull ^ k.tail * 0xc2b2ae3d27d4eb4full) >> 56);
}

static inline uint64_t lower_bytes(uint64_t x, size_t n)
{
    return n >= 8 ? x | 0x2020202020202020ull
                  : (x | 0x2020202020202020ull) & ((1ull << (8 * n)) - 1);
}

static __attribute__((noinline)) struct name_key long_key_of(const char *name, size_t len,
                                                             size_t room)
{
    uint64_t words[2] = {0, 0};
    memcpy(words, name, room >= sizeof words ? sizeof words : len);
    return (struct name_key){lower_bytes(words[0], len),
                             len > 8 ? lower_bytes(words[1], len - 8) : 0};
}

/* len from 1 to NAME_MAX_LEN; most names have at most 8 bytes. */
static inline struct name_key key_of(const char *name, size_t len, size_t room)
{
    uint64_t word;
    if (len > sizeof word || room < sizeof word)
        return long_key_of(name, len, room);
    memcpy(&word, name, sizeof word);
    return (struct name_key){lower_bytes(word, len), 0};
}

static void slot_put(struct name_slot *slots, const char *name, uint8_t value)
{
    struct name_key k = key_of(name, strlen(name), 0);
    uint32_t at = slot_of(k);
    while (slots[at].value)
        at = (at + 1) % TAG_SLOTS;
    slots[at] = (struct name_slot){k, value};
}

static inline uint8_t slot_get(const struct name_slot *slots, struct name_key k)
{
    for (uint32_t at = slot_of(k); slots[at].value; at = (at + 1) % TAG_SLOTS)
        if (slots[at].key.head == k.head && slots[at].key.tail == k.tail)
            return slots[at].value;
    return 0;
}

enum { HINT_FURNITURE = 1, HINT_NEGATION = 2 };

static void hint_put(const char *name, uint8_t value)
{
    slot_put(hint_slots, name, value);
    hint_lengths[name[0] & 31] |= 1u << strlen(name);
}

__attribute__((constructor)) static void fill_slots(void)
{
    for (int i = 1; i < SP_TAG_COUNT; i++)
        slot_put(tag_slots, tag_names[i], (uint8_t)i);
    for (size_t i = 0; i < sizeof hint_names / sizeof *hint_names; i++)
        hint_put(hint_names[i], HINT_FURNITURE);
    for (size_t i = 0; i < sizeof negations / sizeof *negations; i++)
        hint_put(negations[i], HINT_NEGATION);
}

enum sp_tag sp_tag_find(const char *name, size_t len, size_t room)
{
    if (len > NAME_MAX_LEN)
        return SP_TAG_OTHER;
    return (enum sp_tag)slot_get(tag_slots, key_of(name, len, room));
}

uint64_t sp_tag_name(struct sp_view name, size_t room)
{
    return key_of(name.data, name.len, room).head;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline uint8_t hint_of(const char *word, size_t len, size_t room)
{
    if (len > NAME_MAX_LEN || !(hint_lengths[word[0] & 31] >> len & 1))
        return 0;
    return slot_get(hint_slots, key_of(word, len, room));
}

/* Bitmaps of a class or id attribute's value, like those of scan.h. */
struct value_map {
    uint64_t starts[VALUE_WORDS]; /* of words: of runs of letters, and capitals that begin a word in
                                   * one: topNav, sideBar, NAV */
    uint64_t ends[VALUE_WORDS];   /* letters that begin a word, and what is no letter */
    uint64_t runs[VALUE_WORDS];   /* of starts, those behind no letter */
    uint64_t spaces[VALUE_WORDS];
};

#if !defined(__x86_64__)
static inline bool is_letter(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u;
}

static inline bool is_upper(char c)
{
    return (unsigned)(c - 'A') < 26u;
}
#endif

/* Classifies 64 bytes: which are letters, capitals, white space. */
static inline void classify(const char *data, uint64_t *ret_letters, uint64_t *ret_uppers,
                            uint64_t *ret_spaces)
{
    uint64_t letters = 0, uppers = 0, spaces = 0;
#if defined(__x86_64__)
    /* Bytes are shifted so that a range begins at the least signed value; then one comparison tests
     * a range. */
    for (unsigned i = 0; i < 64; i += 16) {
        __m128i x = _mm_loadu_si128((const void *)(data + i));
        __m128i upper = _mm_cmplt_epi8(_mm_add_epi8(x, _mm_set1_epi8((char)(128 - 'A'))),
                                       _mm_set1_epi8(26 - 128));
        __m128i lower = _mm_cmplt_epi8(_mm_add_epi8(x, _mm_set1_epi8((char)(128 - 'a'))),
                                       _mm_set1_epi8(26 - 128));
        __m128i blank = _mm_cmplt_epi8(_mm_add_epi8(x, _mm_set1_epi8((char)(128 - '\t'))),
                                       _mm_set1_epi8(5 - 128));
        __m128i space = _mm_or_si128(blank, _mm_cmpeq_epi8(x, _mm_set1_epi8(' ')));
        uppers |= (uint64_t)(unsigned)_mm_movemask_epi8(upper) << i;
        letters |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_or_si128(lower, upper)) << i;
        spaces |= (uint64_t)(unsigned)_mm_movemask_epi8(space) << i;
    }
#else
    for (unsigned i = 0; i < 64; i++) {
        letters |= (uint64_t)is_letter(data[i]) << i;
        uppers |= (uint64_t)is_upper(data[i]) << i;
        spaces |= (uint64_t)is_space(data[i]) << i;
    }
#endif
    *ret_letters = letters;
    *ret_uppers = uppers;
    *ret_spaces = spaces;
}

static void map_value(const char *value, size_t len, size_t room, struct value_map *ret_map)
{
    char copy[64];
    uint64_t last_letter = 0, last_upper = 0; /* of the previous 64 bytes */
    for (size_t i = 0; i < sp_scan_words(len); i++) {
        const char *data = value + i * 64;
        size_t left = len - i * 64;
        uint64_t valid = left < 64 ? (1ull << left) - 1 : ~0ull;
        if (room - i * 64 < sizeof copy)
            data = memcpy(copy, data, left);
        uint64_t letters, uppers, spaces;
        classify(data, &letters, &uppers, &spaces);
        letters &= valid;
        uppers &= valid;
        uint64_t after_letter = letters << 1 | last_letter, after_upper = uppers << 1 | last_upper;
        uint64_t runs = letters & ~after_letter, starts = runs | (uppers & ~after_upper);
        ret_map->runs[i] = runs;
        ret_map->starts[i] = starts;
        ret_map->ends[i] = (starts | ~letters) & valid;
        ret_map->spaces[i] = spaces & valid;
        last_letter = letters >> 63;
        last_upper = uppers >> 63;
    }
}

unsigned sp_tag_class_context(struct sp_view value, size_t room)
{
    size_t len = value.len < CLASS_MAX_LEN ? value.len : CLASS_MAX_LEN;
    const char *v = value.data;
    unsigned context = 0, token = 0;
    bool negated = false; /* has-sidebar, no-menu: the class of another element */
    struct value_map map = {0};
    map_value(v, len, room, &map);
    size_t run = 0, end = 0;
    for (size_t word = sp_scan_find(map.starts, 0, len); word < len;
         word = sp_scan_find(map.starts, end, len)) {
        if (sp_scan_find(map.spaces, end, word) < word) {
            context |= token;
            token = 0;
            negated = false;
        }
        if (map.runs[word / 64] >> word % 64 & 1)
            run = word;
        end = sp_scan_find(map.ends, word + 1, len);
        uint8_t hint = hint_of(v + word, end - word, room - word);
        if (!hint && word != run)
            hint = hint_of(v + run, end - run, room - run);
        if (hint == HINT_NEGATION) {
            negated = true;
            token = 0;
        } else if (hint == HINT_FURNITURE && !negated) {
            token = SP_IN_HINT;
        }
    }
    return context | token;
}

static bool is_word(struct sp_view value, const char *word)
{
    return value.len == strlen(word) && memcmp(value.data, word, value.len) == 0;
}

unsigned sp_tag_role_context(struct sp_view value)
{
    static const char *const boiler[] = {"navigation",    "banner",      "contentinfo", "search",
                                         "complementary", "menu",        "menubar",     "toolbar",
                                         "dialog",        "alertdialog", "tablist"};
    if (is_word(value, "main") || is_word(value, "article"))
        return SP_IN_MAIN;
    for (size_t i = 0; i < sizeof boiler / sizeof *boiler; i++)
        if (is_word(value, boiler[i]))
            return SP_IN_BOILER;
    return 0;
}

bool sp_tag_style_hides(struct sp_view value)
{
    /* "display" … "none" with nothing but ':' and white space between */
    for (size_t i = 0; i + 12 <= value.len; i++) {
        if ((value.data[i] | 0x20) != 'd' || strncasecmp(value.data + i, "display", 7) != 0)
            continue;
        size_t at = i + 7;
        while (at < value.len && (is_space(value.data[at]) || value.data[at] == ':'))
            at++;
        if (value.len - at >= 4 && strncasecmp(value.data + at, "none", 4) == 0)
            return true;
    }
    return false;
}

bool sp_tag_type_is_template(struct sp_view value)
{
    static const char *const types[] = {"text/x-handlebars-template",
                                        "text/x-handlebars",
                                        "text/html",
                                        "text/template",
                                        "text/x-template",
                                        "text/ng-template",
                                        "text/x-mustache",
                                        "x-tmpl-mustache",
                                        "text/x-jquery-tmpl"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (value.len == strlen(types[i]) && strncasecmp(value.data, types[i], value.len) == 0)
            return true;
    return false;
}
