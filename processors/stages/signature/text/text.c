/* From the bytes of a page to its signature: see text.h for the picture.
 *
 * Main content is chosen before words are split, so that page furniture is never hashed. Adjacent
 * blocks are given to the splitter as one range.
 *
 * The language is detected in a bounded sample of the chosen text, and cached by the sample's hash:
 * pages are often fetched again with the same beginning, and CLD2 costs more than everything else
 * (see SAMPLE_BYTES). The cache is of a pure function, so results never depend on it. */
#include "text/text.h"

#include <strings.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "text/blocks.h"
#include "text/charset.h"
#include "text/html.h"
#include "text/language.h"
#include "text/markdown.h"
#include "text/markup.h"
#include "text/recent.h"
#include "text/repair.h"
#include "text/stems.h"
#include "text/tags.h"
#include "text/words.h"

enum {
    /* CLD2 takes 4 us for 160 bytes, 9 for 384, 13 for 512, 160 for 4,096; on 160 bytes of
     * prose it says the same as on 4,096 bytes for 97 % of real pages, on 384 for 98 %. */
    SAMPLE_BYTES = 160,
    SAMPLE_LEAST = 100, /* with less prose than this, any text is used */
    PROSE_BYTES = 60,   /* a block of this length is a sentence rather than a menu's entry */
    LANGUAGE_SLOTS = 16384,
    SNIFF_BYTES = 512,
    MAX_BYTES = 16 << 20
};

struct language_slot {
    uint64_t key; /* 0: empty */
    uint16_t language;
};

/* A page's text: blocks within base. */
struct page_text {
    const char *base;
    const struct sp_block *blocks;
    size_t count;
    bool apart; /* blocks have no separators between them and cannot be read as one range */
};

struct sp_text {
    struct sp_text_options options;
    struct sp_charset *charset;
    struct sp_html *html;
    struct sp_words *words;
    struct sp_stems *stems; /* NULL: the method does not need them */
    bool sentences;         /* whether the ends of sentences are needed */
    struct sp_builder *builder;
    struct sp_blocks blocks;
    struct sp_buf sample;
    struct language_slot *languages;
    struct sp_recent *recent;
    struct page_text page; /* the last one that was signed */
    bool split;            /* the builder has its words */
    uint32_t word_count;
    uint64_t cut; /* number of pages that were cut, see sp_text_take_cut */
};

void sp_text_options_default(struct sp_text_options *ret_options)
{
    *ret_options = (struct sp_text_options){
        .scope = SP_TEXT_MAIN,
        .detect_language = true,
        .max_bytes = MAX_BYTES,
        .signature = {.max_shingles = 1024, .text_scope = SP_TEXT_MAIN},
    };
}

struct sp_text *sp_text_new(const struct sp_text_options *options)
{
    struct sp_text *t = sp_calloc(1, sizeof *t);
    SP_ASSERT(options->max_bytes > 0 && options->max_bytes <= SP_TEXT_MAX_BYTES);
    t->options = *options;
    t->options.signature.text_scope = options->scope;
    t->charset = sp_charset_new();
    t->html = sp_html_new();
    t->sentences = options->signature.max_sentences > 0;
    if (options->signature.method == SP_METHOD_SENTENCES)
        t->stems = sp_stems_new();
    t->words = sp_words_new(t->sentences, t->stems);
    t->builder = sp_builder_new(&t->options.signature);
    t->languages = sp_calloc(LANGUAGE_SLOTS, sizeof *t->languages);
    t->recent = sp_recent_new();
    return t;
}

void sp_text_free(struct sp_text *t)
{
    if (!t)
        return;
    sp_charset_free(t->charset);
    sp_html_free(t->html);
    sp_words_free(t->words);
    sp_stems_free(t->stems);
    sp_builder_free(t->builder);
    sp_blocks_done(&t->blocks);
    sp_buf_done(&t->sample);
    sp_free(t->languages);
    sp_recent_free(t->recent);
    sp_free(t);
}

/* ---- format ---- */

/* Of content types that name no format: the first bytes decide, or the content has no text. */
enum { SNIFFED = -1, NO_TEXT = -2 };

/* Returns the begin of a text in UTF-16, with its mark, by the low bytes of its characters: in
 * ASCII if it is. Any other content is returned as it is. */
static struct sp_view narrow(struct sp_view content, char room[SNIFF_BYTES])
{
    bool little = content.len >= 2 && memcmp(content.data, "\xff\xfe", 2) == 0;
    bool big = content.len >= 2 && memcmp(content.data, "\xfe\xff", 2) == 0;
    if (!little && !big)
        return content;
    size_t len = content.len / 2 - 1 < SNIFF_BYTES ? content.len / 2 - 1 : SNIFF_BYTES;
    for (size_t i = 0; i < len; i++)
        room[i] = content.data[2 + 2 * i + big];
    return sp_view(room, len);
}

static struct sp_view skip(struct sp_view text, size_t bytes)
{
    return sp_view(text.data + bytes, text.len - bytes);
}

/* In any case, as begins_with. */
static bool is_named(struct sp_view name, const char *word)
{
    return name.len == strlen(word) && strncasecmp(name.data, word, name.len) == 0;
}

static bool begins_with(struct sp_view text, const char *word)
{
    return text.len >= strlen(word) && strncasecmp(text.data, word, strlen(word)) == 0;
}

/* Whether it begins with the tag of an element that may stand before text. */
static bool begins_with_tag(struct sp_view text)
{
    static const char *const others[] = {"font", "link", "meta"};
    size_t at = 1 + (text.len > 1 && text.data[1] == '/'), end = at;
    while (end < text.len && !sp_markup_ends_name(text.data[end], '>'))
        end++;
    if (end == at || end == text.len || text.data[0] != '<')
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_named(sp_view(text.data + at, end - at), others[i]))
            return true;
    enum sp_tag tag = sp_tag_find(text.data + at, end - at, text.len - at);
    return tag != SP_TAG_OTHER && !(sp_tag_flags[tag] & SP_TAG_DROP);
}

static bool looks_like_html(struct sp_view content)
{
    char room[SNIFF_BYTES];
    content = narrow(content, room);
    struct sp_view start =
        sp_view(content.data, content.len < SNIFF_BYTES ? content.len : SNIFF_BYTES);
    if (sp_utf8_mark_bytes(start.data, start.len))
        start = skip(start, 3);
    while (start.len && (uint8_t)start.data[0] <= ' ')
        start = skip(start, 1);
    if (begins_with(start, "<?xml"))
        return memmem(start.data, start.len, "<html", 5) != NULL;
    return begins_with(start, "<!doctype") || begins_with(start, "<!--") || begins_with_tag(start);
}

/* Returns the type without parameters. Some servers forget the semicolon before them, or send two
 * types: the first counts. */
static struct sp_view bare_type(struct sp_view type)
{
    while (type.len && (uint8_t)type.data[0] <= ' ')
        type = skip(type, 1);
    size_t len = 0;
    while (len < type.len && (uint8_t)type.data[len] > ' ' && type.data[len] != ';' &&
           type.data[len] != ',')
        len++;
    return sp_view(type.data, len);
}

static const char xhtml[] = "application/xhtml+xml";

/* Returns the enum sp_text_format that a content type names, SNIFFED or NO_TEXT. */
static int format_of(struct sp_view content_type)
{
    static const struct {
        const char *type;
        int format;
    } types[] = {{"text/html", SP_FORMAT_HTML},
                 {xhtml, SP_FORMAT_HTML},
                 {"text/markdown", SP_FORMAT_MARKDOWN},
                 {"text/x-markdown", SP_FORMAT_MARKDOWN},
                 {"text/plain", SP_FORMAT_PLAIN},
                 {"application/octet-stream", SNIFFED},
                 {"application/unknown", SNIFFED},
                 {"unknown/unknown", SNIFFED},
                 {"*/*", SNIFFED}};
    struct sp_view type = bare_type(content_type);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_named(type, types[i].type))
            return types[i].format;
    bool named = type.len && memchr(type.data, '/', type.len); /* not "", "unknown" or "unk" */
    return named ? NO_TEXT : SNIFFED;
}

bool sp_text_readable(struct sp_view content_type)
{
    return format_of(content_type) != NO_TEXT;
}

enum sp_text_format sp_text_format(struct sp_view content_type, struct sp_view content)
{
    int format = format_of(content_type);
    if (format != SNIFFED && format != NO_TEXT)
        return (enum sp_text_format)format;
    return looks_like_html(content) ? SP_FORMAT_HTML : SP_FORMAT_PLAIN;
}

/* ---- text ---- */

/* Returns the end of the paragraph that begins at `start`, before a blank line or the end of the
 * text; *ret_next is the place behind that line. */
static size_t paragraph_end(struct sp_view text, size_t start, size_t *ret_next)
{
    const char *newline;
    for (size_t at = start; (newline = memchr(text.data + at, '\n', text.len - at));) {
        size_t end = (size_t)(newline - text.data);
        at = end + 1;
        size_t second = at + (at < text.len && text.data[at] == '\r');
        if (second < text.len && text.data[second] == '\n') {
            *ret_next = second + 1;
            return end - (end > start && text.data[end - 1] == '\r');
        }
    }
    *ret_next = text.len;
    return text.len;
}

/* Makes the blocks of plain text, which is not copied: one block, or, if sentences are needed, one
 * for each paragraph (the end of a block ends a sentence). */
static void plain_blocks(struct sp_blocks *b, struct sp_view text, bool paragraphs)
{
    sp_blocks_reset(b);
    for (size_t start = 0, next; start < text.len; start = next) {
        size_t end = paragraphs ? paragraph_end(text, start, &next) : (next = text.len);
        if (end > start)
            sp_blocks_add_range(b, (uint32_t)start, (uint32_t)end);
    }
}

/* Cuts a page that is too large, so that it cannot hold up others. */
static struct sp_view cut(struct sp_text *t, struct sp_view content, bool is_utf8)
{
    if (content.len <= t->options.max_bytes)
        return content;
    t->cut++;
    content.len = t->options.max_bytes;
    while (is_utf8 && content.len && sp_utf8_continues(content.data[content.len]))
        content.len--; /* not within a character */
    return content;
}

static void read_page(struct sp_text *t, struct sp_view content_type, struct sp_view content,
                      bool is_utf8, struct page_text *ret_page)
{
    content = cut(t, content, is_utf8);
    enum sp_text_format format = sp_text_format(content_type, content);
    if (is_utf8) {
        size_t mark = sp_utf8_mark_bytes(content.data, content.len);
        if (mark)
            content = skip(content, mark);
    } else {
        content = sp_charset_utf8(t->charset, content_type, content, format == SP_FORMAT_HTML);
    }
    *ret_page = (struct page_text){0};
    if (format == SP_FORMAT_PLAIN) {
        plain_blocks(&t->blocks, content, t->sentences);
        ret_page->base = content.data;
        ret_page->apart = true;
    } else {
        if (format == SP_FORMAT_HTML)
            sp_html_scan(t->html, content, is_named(bare_type(content_type), xhtml), &t->blocks);
        else
            sp_markdown_scan(content, &t->blocks);
        ret_page->base = t->blocks.text.data;
    }
    sp_blocks_choose(&t->blocks, t->options.scope == SP_TEXT_MAIN && format == SP_FORMAT_HTML);
    ret_page->blocks = t->blocks.items;
    ret_page->count = t->blocks.count;
}

/* Returns the next range of adjacent kept blocks, from block *at on; false if there is none. */
static bool next_range(const struct page_text *page, size_t *at, struct sp_view *ret_text)
{
    size_t i = *at;
    while (i < page->count && !page->blocks[i].kept)
        i++;
    if (i == page->count)
        return false;
    uint32_t start = page->blocks[i].start, end = page->blocks[i].end;
    for (i++; !page->apart && i < page->count && page->blocks[i].kept; i++)
        end = page->blocks[i].end;
    *at = i;
    *ret_text = sp_view(page->base + start, end - start);
    return true;
}

/* ---- language ---- */

/* Appends the beginning of the text to the sample: the same bytes for LF and CR LF. */
static void put_sample(struct sp_buf *sample, struct sp_view text)
{
    while (text.len > 0 && sample->len < SAMPLE_BYTES) {
        size_t room = SAMPLE_BYTES - sample->len, len = text.len < room ? text.len : room;
        const char *cr = memchr(text.data, '\r', len);
        size_t taken = cr ? (size_t)(cr - text.data) : len;
        while (!cr && taken < text.len && taken && sp_utf8_continues(text.data[taken]))
            taken--; /* not within a character */
        sp_buf_put(sample, text.data, taken);
        if (!cr)
            break;
        text = sp_view(cr + 1, text.len - taken - 1);
    }
    sp_buf_put_u8(sample, ' ');
}

/* Appends the kept blocks of at least `least` bytes to the sample, until it is full. */
static void fill_sample(struct sp_text *t, const struct page_text *page, uint32_t least)
{
    sp_buf_reset(&t->sample);
    for (size_t i = 0; i < page->count && t->sample.len < SAMPLE_BYTES; i++) {
        const struct sp_block *block = &page->blocks[i];
        uint32_t len = block->end - block->start;
        if (!block->kept || len < least)
            continue;
        put_sample(&t->sample, sp_view(page->base + block->start, len));
    }
}

static uint16_t detect_language(struct sp_text *t, const struct page_text *page)
{
    fill_sample(t, page, PROSE_BYTES);
    if (t->sample.len < SAMPLE_LEAST)
        fill_sample(t, page, 1);
    if (t->sample.len == 0)
        return 0;
    if (!sp_utf8_valid(sp_buf_view(&t->sample)))
        return 0; /* is_utf8 was wrong, and CLD2 requires valid input */
    uint64_t key = sp_hash64(t->sample.data, t->sample.len) | 1;
    struct language_slot *slot = &t->languages[key >> 32 & (LANGUAGE_SLOTS - 1)];
    if (slot->key != key)
        *slot = (struct language_slot){key, sp_language_detect(sp_buf_view(&t->sample))};
    return slot->language;
}

/* ---- the stage ---- */

/* The hash of all that the signature of a page is made of. */
static struct sp_id hash_text(const struct page_text *page, uint16_t language)
{
    struct {
        struct sp_id before, range;
        uint64_t len;
    } part = {.before = {language, 0}};
    struct sp_view range;
    for (size_t at = 0; next_range(page, &at, &range);) {
        part.range = sp_hash128(range.data, range.len);
        part.len = range.len;
        part.before = sp_hash128(&part, sizeof part);
    }
    return part.before;
}

/* Gives the words of the page to the builder. */
static void split_words(struct sp_text *t)
{
    struct sp_view range;
    sp_builder_begin(t->builder);
    for (size_t at = 0; next_range(&t->page, &at, &range);)
        sp_words_split(t->words, range, t->builder);
    t->split = true;
}

struct sp_signature *sp_text_signature(struct sp_text *t, struct sp_view content_type,
                                       struct sp_view content, bool is_utf8)
{
    read_page(t, content_type, content, is_utf8, &t->page);
    uint16_t language = t->options.detect_language || t->stems ? detect_language(t, &t->page) : 0;
    struct sp_id text = hash_text(&t->page, language);
    t->split = false;
    struct sp_signature *signature = sp_recent_find(t->recent, text, &t->word_count);
    if (signature)
        return signature;
    if (t->stems)
        sp_stems_language(t->stems, language);
    split_words(t);
    t->word_count = (uint32_t)sp_builder_word_count(t->builder);
    signature = sp_builder_finish(t->builder, t->options.detect_language ? language : 0);
    sp_recent_add(t->recent, text, signature, t->word_count);
    return signature;
}

uint64_t sp_text_take_cut(struct sp_text *t)
{
    uint64_t count = t->cut;
    t->cut = 0;
    return count;
}

uint32_t sp_text_word_count(const struct sp_text *t)
{
    return t->word_count;
}

void sp_text_title(const struct sp_text *t, struct sp_buf *out)
{
    for (size_t i = 0; i < t->blocks.count; i++) {
        const struct sp_block *block = &t->blocks.items[i];
        if (!(block->context & SP_IN_TITLE)) /* plain text and Markdown have no context */
            continue;
        sp_buf_put(out, t->blocks.text.data + block->start, block->end - block->start);
        return;
    }
}

size_t sp_text_first_words(struct sp_text *t, uint64_t **ret_words)
{
    if (!t->split)
        split_words(t);
    return sp_builder_first_words(t->builder, ret_words);
}

void sp_text_extract(struct sp_text *t, struct sp_view content_type, struct sp_view content,
                     bool is_utf8, struct sp_buf *out)
{
    struct page_text page;
    read_page(t, content_type, content, is_utf8, &page);
    for (size_t i = 0; i < page.count; i++) {
        const struct sp_block *block = &page.blocks[i];
        if (!block->kept)
            continue;
        sp_buf_put(out, page.base + block->start, block->end - block->start);
        sp_buf_put_u8(out, '\n');
    }
}
