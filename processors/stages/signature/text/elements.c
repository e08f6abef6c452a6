/* See elements.h.
 *
 * A table has one place for each hash of a tag's first and last bytes; the tag that was read last
 * has it. Only a tag without a '>' in its attributes is kept: then its bytes up to the first '>'
 * determine everything. Links are not looked up, because most have an address of their own. */
#include "text/elements.h"

#include "base/mem.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { KNOWN_BITS = 10, KNOWN_BYTES = 48 };

struct known {
    char text[KNOWN_BYTES]; /* from the '<'; only the bytes up to the first '>' count. 0: empty */
    struct sp_element element;
};

struct sp_elements {
    struct known known[1 << KNOWN_BITS];
};

struct sp_elements *sp_elements_new(void)
{
    return sp_calloc(1, sizeof(struct sp_elements));
}

void sp_elements_free(struct sp_elements *e)
{
    sp_free(e);
}

static __attribute__((noinline)) size_t read_tag(const struct sp_markup *page, size_t at,
                                                 struct sp_element *ret_element)
{
    const char *data = page->data;
    struct sp_element element = {.ends = data[at + 1] == '/'};
    size_t name = at + 1 + element.ends, name_end = name + 1;
    while (name_end < page->len && !sp_markup_ends_name(data[name_end], '>'))
        name_end++;
    enum sp_tag tag = sp_tag_find(data + name, name_end - name, page->len - name);
    enum sp_wanted wanted = SP_WANT_NONE;
    if (!element.ends && (sp_tag_flags[tag] & SP_TAG_STACK))
        wanted = SP_WANT_ALL;
    else if (!element.ends && (tag == SP_TAG_a || tag == SP_TAG_span || tag == SP_TAG_script))
        wanted = SP_WANT_OWN;
    size_t end = sp_markup_tag_end(page, name_end, wanted, &element.attributes);
    element.tag = (uint8_t)tag;
    element.closed = end >= 2 && data[end - 2] == '/';
    *ret_element = element;
    return end;
}

/* Nothing else that the attributes of such a link say is of interest, so only its end is looked
 * for. */
size_t sp_elements_link(const struct sp_markup *page, size_t at)
{
    static const char href[] = "<a href=\"";
    const char *data = page->data;
    size_t value = at + sizeof href - 1;
    if (value >= page->len || memcmp(data + at, href, sizeof href - 1) != 0)
        return 0;
    size_t quote = sp_scan_near(page->close, value, page->len);
    while (quote < page->len && data[quote] != '"')
        quote = sp_scan_near(page->close, quote + 1, page->len);
    if (page->len - quote < 2)
        return page->len;
    if (data[quote + 1] == '>')
        return quote + 2;
    struct sp_attributes unused = {0};
    return sp_markup_tag_end(page, quote + 1, SP_WANT_NONE, &unused);
}

static inline uint64_t load8(const char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* The place of a tag of len bytes, behind at least 7 other bytes. Without a branch, because short
 * tags are as frequent as long ones. */
static inline struct known *known_at(struct sp_elements *e, const char *tag, size_t len)
{
    unsigned foreign = len < 8 ? 64 - 8 * (unsigned)len : 0; /* bits of other bytes, of 8 bytes */
    uint64_t first = load8(tag) << foreign, last = load8(tag + len - 8) >> foreign;
    uint64_t hash = first * 0x9e3779b97f4a7c15ull ^ last * 0xc2b2ae3d27d4eb4full;
    return &e->known[hash >> (64 - KNOWN_BITS)];
}

/* Whether the first len of KNOWN_BYTES bytes are equal. */
static inline bool equal(const char *a, const char *b, size_t len)
{
#if defined(__x86_64__)
    uint64_t same = 0;
    for (unsigned i = 0; i < KNOWN_BYTES; i += 16) {
        __m128i x = _mm_loadu_si128((const void *)(a + i));
        __m128i y = _mm_loadu_si128((const void *)(b + i));
        same |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) << i;
    }
    return (~same & ((1ull << len) - 1)) == 0;
#else
    return memcmp(a, b, len) == 0;
#endif
}

static __attribute__((noinline)) size_t read_and_keep(const struct sp_markup *page, size_t at,
                                                      size_t len, struct known *known,
                                                      struct sp_element *ret_element)
{
    size_t end = read_tag(page, at, ret_element);
    if (end == at + len) {
        memcpy(known->text, page->data + at, KNOWN_BYTES);
        known->element = *ret_element;
    }
    return end;
}

size_t sp_elements_read(struct sp_elements *e, const struct sp_markup *page, size_t at,
                        struct sp_element *ret_element)
{
    const char *tag = page->data + at;
    size_t behind = sp_elements_link(page, at);
    if (behind) {
        *ret_element = (struct sp_element){.attributes = {.has_href = true},
                                           .tag = SP_TAG_a,
                                           .closed = page->data[behind - 2] == '/'};
        return behind;
    }
    size_t len = sp_scan_near(page->end, at + 2, page->len) + 1 - at;
    bool link = (tag[1] | 0x20) == 'a' && len > 3;
    if (len > KNOWN_BYTES || at < 8 || page->len - at < KNOWN_BYTES || link)
        return read_tag(page, at, ret_element);
    struct known *known = known_at(e, tag, len);
    if (__builtin_expect(!equal(known->text, tag, len), 0))
        return read_and_keep(page, at, len, known, ret_element);
    *ret_element = known->element;
    return at + len;
}
