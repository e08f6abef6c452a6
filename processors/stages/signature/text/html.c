/* HTML to blocks of text in one pass, without a tree.
 *
 * The page's bitmaps (scan.h) tell where text ends ('<', '&') and where tags may ('>',
 * quotes). Text between tags is copied to the blocks' buffer, white space at its begin
 * shortened; a stack of the open containers, bounded in depth, gives every block its
 * context (tags.h). The tokenizer is the HTML standard's (markup.c); its tree construction is
 * followed only where text would change its place between visible and invisible.
 *
 * Invariants: every byte of the page is read a bounded number of times; the text is at
 * most 6/5 of the page and a separator a tag, so that room is made once. Containers nested
 * deeper than STACK_MAX have the context of the last one that is counted. Nothing here
 * can fail. */
#include "text/html.h"

#include "text/drop.h"
#include "text/elements.h"
#include "text/entities.h"
#include "text/runs.h"
#include "text/scan.h"

enum { STACK_MAX = 256, COPY_STEP = 32 };

struct sp_html {
    struct sp_markup page;
    bool xml; /* a tag that ends with "/>" is a whole element, and CDATA is text */
    struct sp_elements *elements;
    struct sp_runs *runs;
    struct sp_blocks *blocks;
    struct sp_buf bits;
    uint32_t block_start; /* of the open block in blocks->text */
    uint32_t link_start;  /* of the open link, within the open block */
    uint32_t link_bytes;  /* of the open block, links that ended */
    bool in_link;
    bool in_paragraph;  /* a <p> is open, with no other block inside */
    size_t unknown_end; /* of a run of tags that is not known; 0: none */
    unsigned context;   /* of text here: the innermost container's */
    unsigned heading;   /* SP_IN_HEADING within h1 to h6 */
    unsigned foreign;   /* depth of open <math> */
    struct sp_drop drop;
    size_t depth;
    uint32_t beyond[SP_TAG_COUNT]; /* containers open that the stack has no room for */
    bool any_beyond;               /* there were some */
    struct sp_container *stack;    /* STACK_MAX, behind some that no tag closes */
    struct sp_container containers[SP_RUN_TOP + STACK_MAX];
};

struct sp_html *sp_html_new(void)
{
    struct sp_html *h = sp_calloc(1, sizeof *h);
    h->elements = sp_elements_new();
    h->runs = sp_runs_new();
    h->stack = h->containers + SP_RUN_TOP;
    return h;
}

void sp_html_free(struct sp_html *h)
{
    if (!h)
        return;
    sp_elements_free(h->elements);
    sp_runs_free(h->runs);
    sp_buf_done(&h->bits);
    sp_free(h);
}

static inline bool is_letter(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u;
}

/* ---- text ---- */

static void end_block(struct sp_html *h)
{
    struct sp_blocks *b = h->blocks;
    if (b->text.len > h->block_start) {
        if (h->in_link)
            h->link_bytes += (uint32_t)b->text.len - h->link_start;
        sp_blocks_add(b, h->block_start, h->link_bytes, h->context | h->heading);
        h->block_start = (uint32_t)b->text.len;
    }
    h->link_bytes = 0;
    h->link_start = h->block_start;
}

static inline bool at_space(const struct sp_html *h)
{
    const struct sp_buf *text = &h->blocks->text;
    return text->len == h->block_start || text->data[text->len - 1] == ' ';
}

static inline void put_space(struct sp_html *h)
{
    if (!at_space(h))
        h->blocks->text.data[h->blocks->text.len++] = ' ';
}

/* Appends the page's bytes [from, to), which contain no tag and no reference. */
static inline void put_text(struct sp_html *h, size_t from, size_t to)
{
    const char *data = h->page.data;
    if ((uint8_t)data[from] <= ' ') {
        do
            from++;
        while (from < to && (uint8_t)data[from] <= ' ');
        put_space(h);
        if (from == to)
            return;
    }
    struct sp_buf *text = &h->blocks->text;
    char *out = text->data + text->len;
    size_t n = to - from;
    if (h->page.len - to >= COPY_STEP) /* may copy more than n bytes: there is room */
        for (size_t i = 0; i < n; i += COPY_STEP)
            memcpy(out + i, data + from + i, COPY_STEP);
    else
        memcpy(out, data + from, n);
    text->len += n;
}

/* Appends the character of the reference at `at`, or '&' itself. */
static size_t put_reference(struct sp_html *h, size_t at)
{
    struct sp_buf *text = &h->blocks->text;
    size_t n = 0;
    size_t used = sp_entity_decode(h->page.data + at, h->page.len - at, text->data + text->len, &n);
    if (used == 0) {
        text->data[text->len++] = '&';
        return at + 1;
    }
    text->len += n;
    return at + used;
}

/* ---- containers ---- */

static void push(struct sp_html *h, enum sp_tag tag, unsigned context)
{
    if (h->depth == STACK_MAX) {
        h->beyond[tag]++;
        h->any_beyond = true;
        return;
    }
    h->stack[h->depth++] = (struct sp_container){(uint8_t)tag, (uint8_t)(h->context | context)};
    h->context |= context;
}

static void pop_to(struct sp_html *h, size_t depth)
{
    h->depth = depth;
    h->context = depth ? h->stack[depth - 1].context : 0;
}

/* The depth to which an end tag closes the containers: those inside its element, but none outside
 * of a table's cell, unless it is the table's own. h->depth if it closes none. */
static size_t depth_behind(const struct sp_html *h, enum sp_tag tag)
{
    bool table_part = (sp_tag_flags[tag] & SP_TAG_CELL) || tag == SP_TAG_table;
    for (size_t i = h->depth; i-- > 0;) {
        enum sp_tag open = h->stack[i].tag;
        if (open == tag)
            return i;
        if (open == SP_TAG_table || (!table_part && (sp_tag_flags[open] & SP_TAG_CELL)))
            break;
    }
    return h->depth;
}

static void pop(struct sp_html *h, enum sp_tag tag)
{
    if (h->beyond[tag])
        h->beyond[tag]--;
    else
        pop_to(h, depth_behind(h, tag));
}

/* A new cell or row ends the one before it, whose end tag may be missing. */
static void pop_cells(struct sp_html *h, enum sp_tag tag)
{
    for (size_t i = h->depth; i-- > 0;) {
        enum sp_tag open = h->stack[i].tag;
        if (open == SP_TAG_table)
            return;
        if (open == SP_TAG_tr && tag != SP_TAG_tr)
            return;
        if (sp_tag_flags[open] & SP_TAG_CELL)
            pop_to(h, i);
    }
}

/* The end tag of a script that holds HTML ends all that is open inside. */
static void end_template(struct sp_html *h)
{
    if (!(h->context & SP_IN_TEMPLATE))
        return;
    end_block(h);
    size_t depth = h->depth;
    while (depth > 0 && h->stack[depth - 1].tag != SP_TAG_script)
        depth--;
    pop_to(h, depth - (depth > 0));
}

static void start_container(struct sp_html *h, enum sp_tag tag, unsigned context)
{
    if (sp_tag_flags[tag] & SP_TAG_CELL)
        pop_cells(h, tag);
    if (tag == SP_TAG_header && !(h->context & SP_IN_MAIN))
        context |= SP_IN_HEADER;
    push(h, tag, context | sp_tag_context(tag));
}

/* ---- tags ---- */

static bool is_heading(enum sp_tag tag)
{
    return tag >= SP_TAG_h1 && tag <= SP_TAG_h6;
}

/* Handles raw text, <title> and <textarea>, from the start tag to the end tag. */
static size_t raw_text(struct sp_html *h, enum sp_tag tag, size_t at)
{
    size_t end = sp_markup_raw_end(&h->page, at, tag);
    if (sp_tag_flags[tag] & SP_TAG_RAW)
        return end;
    unsigned context = h->context;
    h->context |= tag == SP_TAG_title ? SP_IN_TITLE : tag == SP_TAG_textarea ? SP_IN_FORM : 0;
    while (at < end) {
        size_t next = sp_scan_find(h->page.angle, at + (h->page.data[at] == '<'), end);
        if (next > end)
            next = end;
        if (next > at)
            put_text(h, at, next);
        at = next;
        if (at < end && h->page.data[at] == '&' && tag != SP_TAG_xmp)
            at = put_reference(h, at);
        else if (at < end && h->page.data[at] == '&')
            put_text(h, at, at + 1), at++;
    }
    end_block(h);
    h->context = context;
    return end;
}

static void start_link(struct sp_html *h, bool has_href)
{
    uint32_t here = (uint32_t)h->blocks->text.len;
    if (h->in_link) /* links do not nest */
        h->link_bytes += here - h->link_start;
    h->in_link = has_href;
    h->link_start = here;
}

static void separate(struct sp_html *h, enum sp_tag tag, bool starts)
{
    if (sp_tag_flags[tag] & SP_TAG_BLOCK) {
        end_block(h);
        h->in_paragraph = starts && tag == SP_TAG_p;
    } else if (sp_tag_flags[tag] & SP_TAG_SPACE) {
        put_space(h);
    }
}

/* Whether an element is open, as far as is known: of paragraphs it is not. */
static bool is_open(const struct sp_html *h, enum sp_tag tag)
{
    if (!(sp_tag_flags[tag] & SP_TAG_STACK))
        return tag == SP_TAG_p;
    return h->beyond[tag] || depth_behind(h, tag) < h->depth;
}

static bool start_dropped(struct sp_html *h, enum sp_tag tag, bool closed)
{
    bool in_cell = (sp_tag_flags[tag] & SP_TAG_CELL) &&
                   (is_open(h, SP_TAG_td) || is_open(h, SP_TAG_th) || is_open(h, SP_TAG_tr));
    return sp_drop_start(&h->drop, tag, closed, in_cell);
}

/* The end of a script that holds HTML ends all inside. */
static bool end_dropped(struct sp_html *h, enum sp_tag tag)
{
    if (tag == SP_TAG_script && (h->context & SP_IN_TEMPLATE)) {
        h->drop.depth = 0;
        return false;
    }
    return sp_drop_end(&h->drop, tag, is_open(h, tag));
}

/* Handles a start tag, which ends at `end`; returns the place from which reading goes on. */
static size_t start_tag(struct sp_html *h, const struct sp_element *element, size_t end)
{
    enum sp_tag tag = element->tag;
    unsigned flags = sp_tag_flags[tag];
    struct sp_attributes attributes = element->attributes;
    bool closed = element->closed;
    if (h->drop.depth && h->xml && closed)
        return end;
    if (h->drop.depth && start_dropped(h, tag, closed))
        return (flags & (SP_TAG_RAW | SP_TAG_RCDATA)) && h->drop.tag != SP_TAG_svg
                   ? sp_markup_raw_end(&h->page, end, tag)
                   : end;
    separate(h, tag, true);
    if (h->xml && closed)
        return end;
    if (flags & SP_TAG_STACK)
        start_container(h, tag, attributes.context | (attributes.hidden ? SP_IN_HINT : 0));
    if (is_heading(tag))
        h->heading = SP_IN_HEADING;
    if (tag == SP_TAG_a) {
        start_link(h, attributes.has_href);
    } else if (tag == SP_TAG_math) {
        h->foreign += !closed;
    } else if ((tag == SP_TAG_span && attributes.hidden) ||
               ((flags & SP_TAG_DROP) && !(closed && tag != SP_TAG_template))) {
        sp_drop_begin(&h->drop, tag, tag == SP_TAG_span && h->in_paragraph && !h->xml);
    } else if (tag == SP_TAG_script && attributes.is_template) {
        end_block(h);
        push(h, tag, SP_IN_TEMPLATE);
    } else if (flags & (SP_TAG_RAW | SP_TAG_RCDATA)) {
        return raw_text(h, tag, end);
    } else if (tag == SP_TAG_plaintext) {
        if (end < h->page.len)
            put_text(h, end, h->page.len);
        return h->page.len;
    }
    return end;
}

static void end_tag(struct sp_html *h, enum sp_tag tag)
{
    unsigned flags = sp_tag_flags[tag];
    if (h->drop.depth && end_dropped(h, tag))
        return;
    separate(h, tag, false);
    if (flags & SP_TAG_STACK)
        pop(h, tag);
    else if (tag == SP_TAG_script)
        end_template(h);
    if (is_heading(tag))
        h->heading = 0;
    if (tag == SP_TAG_a)
        start_link(h, false);
    else if (tag == SP_TAG_math)
        h->foreign -= h->foreign > 0;
}

/* Handles the '<' at `at`; returns the place after the markup, or after '<' if it is text. */
static size_t markup(struct sp_html *h, size_t at)
{
    const char *data = h->page.data;
    size_t len = h->page.len;
    char c = at + 1 < len ? data[at + 1] : ' ';
    size_t name = at + 1 + (c == '/');
    if (name < len && is_letter(data[name])) {
        struct sp_element element;
        size_t end = sp_elements_read(h->elements, &h->page, at, &element);
        if (c != '/')
            return start_tag(h, &element, end);
        end_tag(h, element.tag);
        return end;
    }
    if (c == '!' || c == '?' || (c == '/' && name < len)) {
        struct sp_view text = {0};
        bool foreign = h->xml || h->foreign || (h->drop.depth && h->drop.tag == SP_TAG_svg);
        size_t end = sp_markup_declaration_end(&h->page, at, foreign, &text);
        if (text.len && !h->drop.depth)
            put_text(h, (size_t)(text.data - data), (size_t)(text.data - data) + text.len);
        return end;
    }
    if (!h->drop.depth)
        put_text(h, at, at + 1);
    return at + 1;
}

/* ---- runs of tags ---- */

/* Makes the change of a run if the innermost containers are those that it needs. */
static inline bool change_containers(struct sp_html *h, const struct sp_run_change *change)
{
    const uint64_t each_context = 0x0100010001000100ull; /* in memory: 0, 1 of each container */
    struct sp_container *end = h->stack + h->depth;
    union sp_run_top top;
    memcpy(&top, end - SP_RUN_TOP, sizeof top);
    if (!change->known || ((top.bits ^ change->tags.bits) & change->mask.bits))
        return false;
    end -= change->pops;
    top.bits = change->pushed.bits | end[-1].context * each_context;
    memcpy(end, &top, sizeof top); /* may write behind the last one: there is room for all steps */
    end += change->pushes;
    h->depth = (size_t)(end - h->stack);
    h->context = end[-1].context;
    return true;
}

static __attribute__((noinline)) void make_steps(struct sp_html *h, const struct sp_run *run)
{
    for (unsigned i = 0; i < run->step_count; i++) {
        const struct sp_run_step *step = &run->steps[i];
        if (step->ends)
            pop(h, step->tag);
        else
            start_container(h, step->tag, step->context);
    }
}

static inline void apply_run(struct sp_html *h, const struct sp_run *run)
{
    unsigned effects = run->effects;
    if (effects & (SP_RUN_SPACE | SP_RUN_LINK_END | SP_RUN_SPACE_BEHIND)) {
        if (effects & SP_RUN_SPACE)
            put_space(h);
        if (effects & SP_RUN_LINK_END)
            start_link(h, false);
        if (effects & SP_RUN_SPACE_BEHIND)
            put_space(h);
    }
    if (effects & SP_RUN_BLOCK) {
        end_block(h);
        h->in_paragraph = effects & SP_RUN_PARAGRAPH;
        if (effects & SP_RUN_LINK_LOST)
            start_link(h, false);
    }
    if (effects & SP_RUN_HEADING)
        h->heading = run->heading;
    if (__builtin_expect(!change_containers(h, &run->change), 0))
        make_steps(h, run);
}

static inline bool is_link(const struct sp_html *h, size_t at)
{
    const char *data = h->page.data + at;
    return h->page.len - at > 2 && (data[1] | 0x20) == 'a' && (uint8_t)data[2] <= ' ';
}

/* Handles the run of tags at `at`, or the first of its tags. */
static size_t tags(struct sp_html *h, size_t at)
{
    bool plain =
        !h->drop.depth && !h->xml && !h->any_beyond && h->depth + SP_RUN_STEPS <= STACK_MAX;
    bool link = is_link(h, at);
    size_t link_end = plain && link ? sp_elements_link(&h->page, at) : 0;
    if (link_end) {
        start_link(h, true);
        return link_end;
    }
    if (!plain || link || at < h->unknown_end)
        return markup(h, at);
    const struct sp_run *run = sp_runs_find(h->runs, h->elements, &h->page, at, &h->unknown_end);
    if (!run)
        return markup(h, at);
    size_t end = h->unknown_end;
    h->unknown_end = 0;
    apply_run(h, run);
    /* Seldom so: a processor that predicts it goes on before it has read the length. */
    if (__builtin_expect(run->effects & SP_RUN_PART, 0))
        end = at + run->len;
    return end;
}

static void make_bits(struct sp_html *h, struct sp_view html)
{
    size_t words = sp_scan_words(html.len) + 1; /* the last is 0 for sp_scan_near */
    sp_buf_reset(&h->bits);
    uint64_t *bits = (uint64_t *)(void *)sp_buf_reserve(&h->bits, words * 32);
    struct sp_scan_markup marks = {bits, bits + words, bits + 2 * words, bits + 3 * words};
    for (size_t i = 1; i <= 4; i++)
        bits[i * words - 1] = 0;
    h->page =
        (struct sp_markup){html.data, html.len, marks.angle, marks.close, marks.end, marks.edge};
    sp_scan_kernel()->markup(html.data, html.len, &marks);
}

void sp_html_scan(struct sp_html *h, struct sp_view html, bool xml, struct sp_blocks *ret_blocks)
{
    sp_blocks_reset(ret_blocks);
    if (html.len == 0)
        return;
    make_bits(h, html);
    h->xml = xml;
    h->blocks = ret_blocks;
    h->block_start = h->link_start = h->link_bytes = 0;
    h->in_link = h->in_paragraph = h->any_beyond = false;
    h->context = h->heading = h->foreign = h->drop.depth = 0;
    h->depth = h->unknown_end = 0;
    memset(h->beyond, 0, sizeof h->beyond);
    sp_buf_reserve(&ret_blocks->text, html.len + html.len / 4 + 64);
    for (size_t at = 0; at < html.len;) {
        size_t next = sp_scan_near(h->page.angle, at, html.len);
        if (next > at && !h->drop.depth)
            put_text(h, at, next);
        if (next == html.len)
            break;
        if (html.data[next] == '<')
            at = tags(h, next);
        else if (h->drop.depth)
            at = next + 1;
        else
            at = put_reference(h, next);
    }
    end_block(h);
}
