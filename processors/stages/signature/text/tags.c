/* Names of elements and of page furniture, each behind a small hash table made once, before
 * main.
 *
 * The words that mark furniture in class and id attributes are those that boilerplate
 * removers agree on (trafilatura, Readability, jusText's successors): a hint only, which
 * blocks.c drops again where it would cost most of the text. */
#include "text/tags.h"

#include <strings.h>

#include "base/assert.h"

enum {
    TAG_SLOTS = 256,
    HINT_SLOTS = 256,
    NAME_MAX_LEN = 16,
    CLASS_MAX_LEN = 128 /* of an attribute's value is looked at */
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
    uint64_t head; /* the first 8 bytes, lower case, zeros behind */
    uint64_t tail; /* bytes 8 to 15 */
};

struct name_slot {
    struct name_key key;
    uint8_t value; /* 0: empty */
};

static struct name_slot tag_slots[TAG_SLOTS];
static struct name_slot hint_slots[HINT_SLOTS];

static inline uint32_t slot_of(struct name_key k)
{
    return (uint32_t)((k.head * 0x9e3779b97f4a7c15ull ^ k.tail * 0xc2b2ae3d27d4eb4full) >> 56);
}

static inline uint64_t lower_bytes(uint64_t x, size_t n)
{
    return n >= 8 ? x | 0x2020202020202020ull
                  : (x | 0x2020202020202020ull) & ((1ull << (8 * n)) - 1);
}

/* len from 1 to NAME_MAX_LEN */
static inline struct name_key key_of(const char *name, size_t len, size_t room)
{
    uint64_t words[2] = {0, 0};
    if (room >= sizeof words)
        memcpy(words, name, sizeof words);
    else
        memcpy(words, name, len);
    return (struct name_key){lower_bytes(words[0], len),
                             len > 8 ? lower_bytes(words[1], len - 8) : 0};
}

static void slot_put(struct name_slot *slots, const char *name, uint8_t value)
{
    size_t len = strlen(name);
    struct name_key k = key_of(name, len < NAME_MAX_LEN ? len : NAME_MAX_LEN, 0);
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

__attribute__((constructor)) static void fill_slots(void)
{
    for (int i = 1; i < SP_TAG_COUNT; i++)
        slot_put(tag_slots, tag_names[i], (uint8_t)i);
    for (size_t i = 0; i < sizeof hint_names / sizeof *hint_names; i++)
        slot_put(hint_slots, hint_names[i], HINT_FURNITURE);
    for (size_t i = 0; i < sizeof negations / sizeof *negations; i++)
        slot_put(hint_slots, negations[i], HINT_NEGATION);
}

enum sp_tag sp_tag_find(const char *name, size_t len, size_t room)
{
    if (len > NAME_MAX_LEN)
        return SP_TAG_OTHER;
    return (enum sp_tag)slot_get(tag_slots, key_of(name, len, room));
}

static inline bool is_letter(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u;
}

static inline bool is_upper(char c)
{
    return (unsigned)(c - 'A') < 26u;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static uint8_t hint_of(const char *name, size_t len)
{
    return len <= NAME_MAX_LEN ? slot_get(hint_slots, key_of(name, len, 0)) : 0;
}

unsigned sp_tag_class_context(struct sp_view value)
{
    size_t len = value.len < CLASS_MAX_LEN ? value.len : CLASS_MAX_LEN;
    const char *v = value.data;
    unsigned context = 0, token = 0;
    bool negated = false; /* has-sidebar, no-menu: the class of something else */
    for (size_t i = 0; i < len;) {
        if (!is_letter(v[i])) {
            if (is_space(v[i])) {
                context |= token;
                token = 0;
                negated = false;
            }
            i++;
            continue;
        }
        /* A run of letters, and the words that capitals begin in it: topNav, sideBar, NAV. */
        size_t run = i, word = i;
        while (i < len && is_letter(v[i])) {
            i++;
            bool more = i < len && is_letter(v[i]);
            if (more && !(is_upper(v[i]) && !is_upper(v[i - 1])))
                continue;
            uint8_t hint = hint_of(v + word, i - word);
            if (!hint && word != run)
                hint = hint_of(v + run, i - run);
            if (hint == HINT_NEGATION) {
                negated = true;
                token = 0;
            } else if (hint == HINT_FURNITURE && !negated) {
                token = SP_IN_HINT;
            }
            word = i;
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
