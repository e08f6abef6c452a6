/* See runs.h.
 *
 * Where a run ends is a bitmap of the page (edge, scan.h), made without regard to quotes and
 * scripts: so it is a guess, and determines only which bytes are looked up. A table has one place
 * for each hash of these bytes. A run takes it at its second occurrence since another one asked for
 * the place, so that the many runs that occur once, because they contain an id, do not drive out
 * those that occur on every page.
 *
 * Invariant: the tags of a known run end within its bytes, each at its first '>' or as a comment,
 * so the bytes determine everything. Links that have attributes are not part of a run: most have an
 * address of their own. */
#include "text/runs.h"

#include "base/mem.h"

/* An odd number of cache lines: then the first lines of places, which are read most, are in all
 * sets of a cache. */
enum { PLACE_BITS = 10, PLACE_BYTES = 448, BLOCK = SP_SCAN_BLOCK };

struct place {
    uint32_t wanted; /* by the run that was not found here last */
    uint32_t bytes;  /* of text that are compared; 0: empty */
    struct sp_run run;
    char text[PLACE_BYTES - 2 * sizeof(uint32_t) - sizeof(struct sp_run) -
              sizeof(struct sp_run_step[SP_RUN_STEPS])];
    struct sp_run_step steps[SP_RUN_STEPS]; /* of the run; last, because they are seldom read */
};

enum { RUN_BYTES = sizeof(((struct place *)0)->text) / BLOCK * BLOCK };

struct sp_runs {
    struct place places[1 << PLACE_BITS];
};

struct sp_runs *sp_runs_new(void)
{
    return sp_calloc(1, sizeof(struct sp_runs));
}

void sp_runs_free(struct sp_runs *r)
{
    sp_free(r);
}

/* ---- what a run does ---- */

static inline bool is_space(char c)
{
    return (uint8_t)c <= ' ';
}

static void add_space(struct sp_run *run)
{
    if (run->effects & SP_RUN_BLOCK)
        return;
    run->effects |= run->effects & SP_RUN_LINK_END ? SP_RUN_SPACE_BEHIND : SP_RUN_SPACE;
}

/* Returns false if there is no room. A container without content leaves nothing. */
static bool add_step(struct sp_run *run, struct sp_run_step step)
{
    if (step.ends && run->step_count && !(sp_tag_flags[step.tag] & SP_TAG_CELL)) {
        const struct sp_run_step *last = &run->steps[run->step_count - 1];
        if (!last->ends && last->tag == step.tag) {
            run->step_count--;
            return true;
        }
    }
    if (run->step_count == SP_RUN_STEPS)
        return false;
    run->steps[run->step_count++] = step;
    return true;
}

/* Whether a tag has an effect that is not among those of a run. */
static bool is_special(const struct sp_element *element)
{
    if (element->tag == SP_TAG_math || element->tag == SP_TAG_plaintext)
        return true;
    if (element->ends)
        return element->tag == SP_TAG_script;
    return (sp_tag_flags[element->tag] & (SP_TAG_RAW | SP_TAG_RCDATA | SP_TAG_DROP)) ||
           (element->tag == SP_TAG_span && element->attributes.hidden) ||
           (element->tag == SP_TAG_a && element->attributes.has_href);
}

static bool begins_paragraph(const struct sp_element *element)
{
    return element->tag == SP_TAG_p && !element->ends;
}

/* Returns false, and adds nothing, if the tag cannot be part of the run. */
static bool add_tag(struct sp_run *run, const struct sp_element *element)
{
    unsigned flags = sp_tag_flags[element->tag];
    const struct sp_attributes *attributes = &element->attributes;
    uint8_t context = (uint8_t)(attributes->context | (attributes->hidden ? SP_IN_HINT : 0) |
                                sp_tag_context(element->tag));
    if (is_special(element))
        return false;
    if ((flags & SP_TAG_STACK) &&
        !add_step(run, (struct sp_run_step){element->tag, element->ends, context}))
        return false;
    if (flags & SP_TAG_BLOCK)
        run->effects = (uint8_t)((run->effects & ~SP_RUN_PARAGRAPH) | SP_RUN_BLOCK |
                                 (begins_paragraph(element) ? SP_RUN_PARAGRAPH : 0));
    else if (flags & SP_TAG_SPACE)
        add_space(run);
    if (element->tag >= SP_TAG_h1 && element->tag <= SP_TAG_h6) {
        run->effects |= SP_RUN_HEADING;
        run->heading = element->ends ? 0 : SP_IN_HEADING;
    }
    if (element->tag == SP_TAG_a)
        run->effects |= run->effects & SP_RUN_BLOCK ? SP_RUN_LINK_LOST : SP_RUN_LINK_END;
    return true;
}

/* Reads what is at `at`, and adds it; returns the place behind it, or `at` if it cannot be part of
 * the run, whose bytes end at `end`. */
static size_t add_next(struct sp_run *run, struct sp_elements *e, const struct sp_markup *page,
                       size_t at, size_t end)
{
    const char *data = page->data;
    size_t name = at + 1 + (at + 1 < end && data[at + 1] == '/');
    if (is_space(data[at])) {
        while (at < end && is_space(data[at]))
            at++;
        add_space(run);
        return at;
    }
    if (end - at >= 4 && memcmp(data + at, "<!--", 4) == 0) {
        struct sp_view unused;
        size_t behind = sp_markup_declaration_end(page, at, false, &unused);
        return behind <= end && behind < page->len ? behind : at; /* else it may go on */
    }
    if (data[at] != '<' || name >= end || (unsigned)((data[name] | 0x20) - 'a') >= 26u)
        return at;
    struct sp_element element;
    size_t behind = sp_elements_read(e, page, at, &element);
    bool whole = behind <= end && behind == sp_scan_find(page->end, at, page->len) + 1;
    return whole && add_tag(run, &element) ? behind : at;
}

/* Adds a container that begins; returns false if the change cannot have it. A new cell or row ends
 * the one before it unless it is directly in its row or table. */
static bool add_pushed(struct sp_run_change *c, uint8_t *needed, struct sp_run_step step)
{
    struct sp_container *pushed = c->pushed.containers;
    uint8_t around = step.tag == SP_TAG_tr ? SP_TAG_table : SP_TAG_tr;
    unsigned context = step.context;
    if (c->pushes == SP_RUN_TOP || step.tag == SP_TAG_header)
        return false;
    if (sp_tag_flags[step.tag] & SP_TAG_CELL) {
        if (c->pushes ? pushed[c->pushes - 1].tag != around : c->pops == SP_RUN_TOP)
            return false;
        if (c->pushes == 0)
            needed[c->pops] = around;
    }
    if (c->pushes)
        context |= pushed[c->pushes - 1].context;
    pushed[c->pushes++] = (struct sp_container){step.tag, (uint8_t)context};
    return true;
}

/* Makes one change of a run's steps if they are few, and none ends what another one began. */
static struct sp_run_change change_of(const struct sp_run *run)
{
    const struct sp_run_change none = {0};
    struct sp_run_change c = {.known = true};
    uint8_t needed[SP_RUN_TOP] = {0}; /* tags, of the innermost container first */
    for (unsigned i = 0; i < run->step_count; i++) {
        struct sp_run_step step = run->steps[i];
        if (!step.ends) {
            if (!add_pushed(&c, needed, step))
                return none;
        } else if (c.pushes || c.pops == SP_RUN_TOP) {
            return none;
        } else {
            needed[c.pops++] = step.tag;
        }
    }
    for (unsigned i = 0; i < SP_RUN_TOP; i++) {
        c.tags.containers[SP_RUN_TOP - 1 - i].tag = needed[i];
        c.mask.containers[SP_RUN_TOP - 1 - i].tag = needed[i] ? 0xff : 0;
    }
    return c;
}

/* Reads the run of the bytes [at, end). */
static void read_run(struct sp_elements *e, const struct sp_markup *page, size_t at, size_t end,
                     struct sp_run *run)
{
    size_t start = at;
    for (size_t next = 0; at < end; at = next) {
        next = add_next(run, e, page, at, end);
        if (next == at)
            break;
    }
    run->len = (uint16_t)(at - start);
    run->effects |= at < end ? SP_RUN_PART : 0;
    run->change = change_of(run);
}

/* ---- runs that are known ---- */

static inline uint64_t load8(const char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* Of five samples; a run of less than 8 bytes is behind at least 7 other bytes. Without a branch,
 * because short runs are as frequent as long ones. */
static inline uint64_t hash_of(const char *run, size_t len)
{
    unsigned foreign = len < 8 ? 64 - 8 * (unsigned)len : 0; /* bits of other bytes, of 8 bytes */
    size_t most = len < 8 ? 0 : len - 8;
    uint64_t hash = (load8(run) << foreign) * 0x9e3779b97f4a7c15ull;
    hash ^= (load8(run + most / 4) << foreign) * 0xd6e8feb86659fd93ull;
    hash ^= (load8(run + most / 2) << foreign) * 0xa0761d6478bd642full;
    hash ^= (load8(run + most - most / 4) << foreign) * 0xe7037ed1a0b428dbull;
    return hash ^ (load8(run + len - 8) >> foreign) * 0xc2b2ae3d27d4eb4full;
}

static __attribute__((noinline)) const struct sp_run *
learn(struct place *p, struct sp_elements *e, const struct sp_markup *page, size_t at, size_t end)
{
    p->run = (struct sp_run){0};
    p->run.steps = p->steps;
    read_run(e, page, at, end, &p->run);
    p->bytes = (uint32_t)(end - at);
    memcpy(p->text, page->data + at, p->bytes);
    return p->run.len ? &p->run : NULL;
}

const struct sp_run *sp_runs_find(struct sp_runs *r, struct sp_elements *e,
                                  const struct sp_markup *page, size_t at, size_t *ret_end)
{
    size_t end = sp_scan_near(page->edge, at + 1, page->len), len = end - at;
    const char *run = page->data + at;
    *ret_end = end;
    if (len > RUN_BYTES || at < 8 || page->len - at < (len + BLOCK - 1) / BLOCK * BLOCK)
        return NULL;
    uint64_t hash = hash_of(run, len);
    struct place *p = &r->places[hash >> (64 - PLACE_BITS)];
    if (__builtin_expect(p->bytes == len && sp_scan_kernel()->equal(p->text, run, len), 1))
        return p->run.len ? &p->run : NULL;
    uint32_t wanted = (uint32_t)(hash >> 16);
    if (p->wanted == wanted)
        return learn(p, e, page, at, end);
    p->wanted = wanted;
    return NULL;
}
