/* The streams of fetches: see plan.h. Nothing is remembered of earlier pages, so ten million pages
 * take no more memory than ten.
 *
 * What the truth says about groups depends on these bounds, for similarity >= 0.8 of the sets of
 * 5-word shingles. A text of W words has S = W - 4 shingles. Two texts of one document differ in
 * the L shingles that contain a replaced word. They are similar if and only if (S - L) / (S + L) >=
 * 0.8, that is 9 L <= S.
 *
 *   words       a few = W / 100 words, 5 shingles each: L <= W / 10 between any two
 *   url         one place: at most 7 shingles of W + 10
 *   percent     L is counted for each page. No two pages are given the same word, so the L of two
 *               pages is at least that of each: a page with 9 L > S is similar to none
 *   chainlike   blocks of W / 15 words: 9 (W / 15 + 4) <= S, but 9 * 2 * (W / 15) > S
 *   template    c W shared words, c < 0.88 in at least one of two pages:
 *               (cW - 4) / (2S - cW + 4) < 0.79
 *   two-parts   runs of W / 20 - 4 words, W / 20 shingles each: 9 * 2 (W / 20) <= S < 9 * 3 (W /
 * 20) growing     10 words more, of at least 100: (S - 10) / (S + 10) > 0.81 changing    runs of c
 * = S / 18 + 1 shingles: two that begin up to S / 9 - c words apart differ in S / 9 at most, and
 * two that are further than c apart in 2 c > S / 9 */
#include "synth/plan.h"

#include "base/hash.h"
#include "synth/words.h"

enum {
    SHINGLE_WORDS = 5,
    FEW_WORDS = 100, /* one word of as many */
    BLOCKS = 15,
    TEMPLATE_LEAST = 470, /* permille of a page's words */
    TEMPLATE_RANGE = 411,
    TEMPLATE_COPIES = 20,
    URL_STEPS = 256, /* number of shorter URLs before the popularity grows */
    ZIPF_PERMILLE = 100,
    /* One in so many dying pages has HTTP status 404, the others the family's text. */
    HARD_404S = 8,
    FLAP_PADDING = 300,
    RUNS = 9, /* places of runs in each half of a text of `two-parts` */
    PAIRS = RUNS * (RUNS - 1) / 2,
    GROWS_BY = 10, /* words */
    GROWN = 2000,
    CRAWLS = 4
};

static const int64_t far_ahead_ms = INT64_C(2500000000000); /* eighty years */
static const int64_t most_popular = 1000000;

/* Each kind has its own range of document numbers, below 2^53, the largest that JSON can represent.
 */
enum { KIND_SHIFT = 48 };

/* What the random bits of a page are for. */
enum purpose { POPULARITY, SHARE, EDITED, STATUS, EDIT_PLACE, REPLACED, RUN_PLACE };

/* A family, and the place of a fetch in it. */
struct place {
    enum sp_skew_kind kind;
    uint64_t family;
    uint64_t start; /* fetches of the kind before the family's first */
    uint64_t count; /* of the family */
    uint64_t i;
};

/* ---- shares and families ---- */

/* Computes the number of fetches of each kind from cumulated parts, so that the sum is exact. */
static void count_kinds(struct sp_skew_plan *plan, const struct sp_skew *skew, uint64_t fetches)
{
    uint64_t parts = 0, before = 0;
    for (int i = 0; i < SP_SKEW_KINDS; i++) {
        parts += skew->parts[i];
        uint64_t whole = fetches / SP_SKEW_WHOLE * parts;
        uint64_t upto = whole + fetches % SP_SKEW_WHOLE * parts / SP_SKEW_WHOLE;
        plan->counts[i] = upto - before;
        before = upto;
    }
}

void sp_skew_plan_make(struct sp_skew_plan *plan, const struct sp_synth_options *options)
{
    *plan = (struct sp_skew_plan){
        .seed = options->seed, .words = options->words, .family = options->skew.family};
    count_kinds(plan, &options->skew, options->pages);
    uint64_t count = plan->counts[SP_SKEW_ZIPF];
    uint64_t permille = options->skew.zipf_permille ? options->skew.zipf_permille : ZIPF_PERMILLE;
    uint64_t largest = count / 1000 * permille + count % 1000 * permille / 1000;
    if (count)
        sp_zipf_make(&plan->zipf, count, largest ? largest : 1);
}

void sp_skew_plan_done(struct sp_skew_plan *plan)
{
    sp_zipf_done(&plan->zipf);
}

static bool is_redirects(enum sp_skew_kind kind)
{
    return kind >= SP_SKEW_REDIRECTS_AFTER && kind <= SP_SKEW_REDIRECTS_LOOP;
}

static struct place place_of(const struct sp_skew_plan *plan, enum sp_skew_kind kind, uint64_t k)
{
    static const uint64_t chains[] = {2, 3, 4, 6, 9, 14, 22, 35, 56, 90};
    enum { CHAINS = sizeof chains / sizeof *chains, ALL_CHAINS = 241 };
    uint64_t count = plan->family ? plan->family : plan->counts[kind];
    struct place p = {.kind = kind, .family = k / count, .start = k / count * count};
    if (!plan->family && is_redirects(kind)) {
        p.family = k / ALL_CHAINS * CHAINS;
        p.start = k / ALL_CHAINS * ALL_CHAINS;
        for (count = chains[0]; k - p.start >= count; count = chains[p.family % CHAINS]) {
            p.start += count;
            p.family++;
        }
    }
    p.i = k - p.start;
    p.count = count < plan->counts[kind] - p.start ? count : plan->counts[kind] - p.start;
    return p;
}

/* ---- pieces of a fetch ---- */

static uint64_t random_of(const struct sp_skew_plan *plan, enum sp_skew_kind kind, uint64_t family,
                          uint64_t page, enum purpose purpose)
{
    uint64_t key = sp_synth_random(plan->seed, (uint64_t)kind << 56 ^ family, page);
    return sp_mix64(key + purpose);
}

static uint64_t shuffled(const struct sp_skew_plan *plan, const struct place *p, uint64_t count,
                         uint64_t i)
{
    return sp_permute(sp_synth_random(plan->seed, (uint64_t)p->kind << 56 ^ p->family, UINT64_MAX),
                      count, i);
}

static uint64_t shared_document(const struct place *p)
{
    return ((uint64_t)p->kind << KIND_SHIFT) + 2 * p->start;
}

static uint64_t own_document(const struct place *p, uint64_t page)
{
    return ((uint64_t)p->kind << KIND_SHIFT) + 2 * (p->start + page) + 1;
}

/* Makes a page with a text of its own. */
static struct sp_skew_fetch own_page(const struct sp_skew_plan *plan, const struct place *p,
                                     uint64_t page)
{
    uint64_t random = random_of(plan, p->kind, p->family, page, POPULARITY);
    return (struct sp_skew_fetch){
        .kind = p->kind,
        .family = p->family,
        .page = page,
        .status = 200,
        .popularity = random % 4 == 0 ? (int64_t)(random >> 8) % 1000 : -1,
        .text = {.document = own_document(p, page),
                 .own = true,
                 .words = plan->words,
                 .variant = page},
    };
}

/* Makes a page with the family's text. */
static struct sp_skew_fetch shared_page(const struct sp_skew_plan *plan, const struct place *p,
                                        uint64_t page)
{
    struct sp_skew_fetch f = own_page(plan, p, page);
    f.text.document = shared_document(p);
    f.text.own = false;
    f.group = SP_GROUP_FAMILY;
    return f;
}

/* The first half of a family are new pages, and in most kinds the second half are changes of these.
 */
static uint64_t pages_in(const struct place *p)
{
    return p->count - p->count / 2;
}

/* ---- near copies ---- */

bool sp_skew_plan_replaced(uint64_t seed, const struct sp_skew_text *text, uint32_t i)
{
    /* 655 of 65,536, which is one in a hundred; one random number decides four words. */
    uint64_t random =
        sp_synth_random(seed ^ sp_mix64(text->document + REPLACED), text->variant, i / 4);
    return text->variant > 0 && (random >> i % 4 * 16 & 0xffff) < 655;
}

uint32_t sp_skew_plan_edit_place(uint64_t seed, const struct sp_skew_text *text, uint32_t i)
{
    /* The words after the template are divided into as many equal parts as there are edits; one
     * word of each part is edited. */
    uint64_t random =
        sp_synth_random(seed ^ sp_mix64(text->document + EDIT_PLACE), text->variant, i);
    uint64_t length = text->words - text->template_words;
    return text->template_words +
           (uint32_t)((length * i + random % length) / (text->words / FEW_WORDS));
}

bool sp_skew_plan_in_run(const struct sp_skew_text *text, uint32_t i)
{
    for (size_t run = 0; run < 2; run++)
        if (i >= text->runs.at[run] && i - text->runs.at[run] < text->runs.words)
            return true;
    return false;
}

uint64_t sp_skew_plan_generation(const struct sp_skew_text *text, uint32_t i)
{
    uint32_t words = text->words;
    uint32_t block = i / (words / BLOCKS), blocks = words / (words / BLOCKS);
    return block < blocks ? (text->variant + blocks - 1 - block) / blocks : 0;
}

/* Whether the page is similar to the unedited one: counts the shingles that contain replaced words.
 */
static bool percent_is_near(const struct sp_skew_plan *plan, const struct sp_skew_text *text)
{
    uint32_t shingles = plan->words - (SHINGLE_WORDS - 1), next = 0, lost = 0;
    for (uint32_t i = 0; i < plan->words; i++) {
        if (!sp_skew_plan_replaced(plan->seed, text, i))
            continue;
        uint32_t from = i >= SHINGLE_WORDS - 1 ? i - (SHINGLE_WORDS - 1) : 0;
        uint32_t end = i + 1 < shingles ? i + 1 : shingles;
        from = from > next ? from : next;
        lost += end > from ? end - from : 0;
        next = end;
    }
    return 9 * lost <= shingles;
}

static struct sp_skew_fetch near_page(const struct sp_skew_plan *plan, const struct place *p,
                                      enum sp_edit edit)
{
    struct sp_skew_fetch f = shared_page(plan, p, p->i);
    f.text.edit = p->i || edit == SP_EDIT_ADDRESS ? edit : SP_EDIT_NONE;
    if (edit == SP_EDIT_PERCENT && !percent_is_near(plan, &f.text))
        f.group = SP_GROUP_OWN;
    return f;
}

static struct sp_skew_fetch template_page(const struct sp_skew_plan *plan, const struct place *p)
{
    bool copy = p->i % TEMPLATE_COPIES == TEMPLATE_COPIES - 1;
    uint64_t original = p->i - copy;
    uint64_t random = random_of(plan, p->kind, p->family, original, SHARE);
    struct sp_skew_fetch f = own_page(plan, p, p->i);
    f.text.document = own_document(p, original);
    f.text.template = shared_document(p);
    f.text.template_words =
        (uint32_t)((uint64_t)plan->words * (TEMPLATE_LEAST + random % TEMPLATE_RANGE) / 1000);
    f.text.edit = copy ? SP_EDIT_WORDS : SP_EDIT_NONE;
    f.group = SP_GROUP_PAGE;
    f.group_page = original;
    return f;
}

static struct sp_skew_fetch zipf_page(const struct sp_skew_plan *plan, uint64_t k)
{
    uint64_t count = plan->counts[SP_SKEW_ZIPF], number;
    uint64_t place = sp_permute(plan->seed, count, k);
    uint64_t group = sp_zipf_group(&plan->zipf, place, &number);
    struct place p = {.kind = SP_SKEW_ZIPF, .family = group, .start = group};
    struct sp_skew_fetch f = shared_page(plan, &p, number);
    bool edited = number && random_of(plan, p.kind, group, number, EDITED) % 2;
    f.text.edit = edited ? SP_EDIT_WORDS : SP_EDIT_NONE;
    return f;
}

/* The first half of a family are pages with a run of own words in the first half of the text. Each
 * of the others has two such runs in the second half, and resembles the pages with the same two
 * places. */
static struct sp_skew_fetch two_parts_page(const struct sp_skew_plan *plan, const struct place *p)
{
    uint32_t shingles = plan->words / 20; /* that contain a word of a run */
    uint64_t first_halves = pages_in(p);
    struct sp_skew_fetch f = shared_page(plan, p, p->i);
    f.text.edit = SP_EDIT_RUNS;
    f.text.runs.words = shingles - (SHINGLE_WORDS - 1);
    if (p->i < first_halves) {
        uint64_t random = random_of(plan, p->kind, p->family, p->i, RUN_PLACE);
        f.text.runs.at[0] = SHINGLE_WORDS - 1 + (uint32_t)(random % RUNS) * shingles;
        f.text.runs.at[1] = f.text.runs.at[0];
        return f;
    }
    uint32_t pair = (uint32_t)((p->i - first_halves) % PAIRS), second = 1;
    f.group = SP_GROUP_PAGE;
    f.group_page = first_halves + pair;
    for (; pair >= second; second++)
        pair -= second;
    uint32_t half = plan->words / 2 + SHINGLE_WORDS - 1;
    f.text.runs.at[0] = half + pair * shingles;
    f.text.runs.at[1] = half + second * shingles;
    return f;
}

/* Each page is a snapshot of one text to which words are added at its end, and of which the first
 * ones are dropped later. */
static struct sp_skew_fetch growing_page(const struct sp_skew_plan *plan, const struct place *p)
{
    struct sp_skew_fetch f = shared_page(plan, p, p->i);
    uint64_t end = plan->words + GROWS_BY * p->i, most = plan->words + GROWN;
    f.text.first = end > most ? end - most : 0;
    f.text.words = (uint32_t)(end - f.text.first);
    return f;
}

/* All pages are crawled several times, and have a run of own words at another place each time. No
 * page resembles all others; the first ones are a chain that connects all. */
static struct sp_skew_fetch changing_page(const struct sp_skew_plan *plan, const struct place *p)
{
    uint32_t all = plan->words - (SHINGLE_WORDS - 1), shingles = all / 18 + 1;
    uint32_t apart = all / 9 - shingles; /* the first words of similar pages' runs */
    uint32_t places = plan->words - SHINGLE_WORDS - shingles;
    uint64_t pages = (p->count + CRAWLS - 1) / CRAWLS, page = p->i % pages;
    struct sp_skew_fetch f = shared_page(plan, p, page);
    f.again = p->i >= pages;
    f.text.edit = SP_EDIT_RUNS;
    f.text.variant = p->i;
    f.text.runs.words = shingles - (SHINGLE_WORDS - 1);
    uint64_t place = page * apart;
    if (place >= places)
        place = random_of(plan, p->kind, p->family, p->i, RUN_PLACE) % places;
    f.text.runs.at[0] = f.text.runs.at[1] = SHINGLE_WORDS - 1 + (uint32_t)place;
    return f;
}

/* ---- redirects ---- */

/* Makes a chain of `count` pages: each redirects to the next one, and the last ends it. */
static struct sp_skew_fetch redirect_page(const struct sp_skew_plan *plan, const struct place *p)
{
    bool loop = p->kind == SP_SKEW_REDIRECTS_LOOP;
    uint64_t last = p->count - 1, page = p->i;
    if (p->kind == SP_SKEW_REDIRECTS_AFTER)
        page = last - p->i;
    else if (p->kind != SP_SKEW_REDIRECTS_BEFORE)
        page = shuffled(plan, p, p->count, p->i);
    struct sp_skew_fetch f = shared_page(plan, p, page);
    f.status = page % 2 ? 301 : 302;
    f.target = page + 1;
    if (page < last)
        return f;
    if (loop) /* in every second family, the first half of the chain leads into the loop */
        f.target = p->family % 2 ? p->count / 2 : 0;
    else if (p->family % 3 == 0)
        f.status = 200;
    else if (p->family % 3 == 1)
        f.status = 404;
    else
        f.target = SP_SKEW_NOWHERE;
    return f;
}

/* ---- pages of several visits ---- */

static struct sp_skew_fetch dying_page(const struct sp_skew_plan *plan, const struct place *p)
{
    uint64_t pages = pages_in(p);
    if (p->i < pages)
        return own_page(plan, p, p->i);
    uint64_t turn = p->i - pages;
    uint64_t page = p->kind == SP_SKEW_DIE_OLDEST   ? turn
                    : p->kind == SP_SKEW_DIE_NEWEST ? pages - 1 - turn
                                                    : shuffled(plan, p, pages, turn);
    struct sp_skew_fetch f = shared_page(plan, p, page);
    f.again = true;
    if (random_of(plan, p->kind, p->family, page, STATUS) % HARD_404S == 0) {
        f.status = 404;
        f.group = SP_GROUP_OWN;
    }
    return f;
}

static struct sp_skew_fetch recovering_page(const struct sp_skew_plan *plan, const struct place *p)
{
    uint64_t pages = pages_in(p);
    if (p->i < pages)
        return shared_page(plan, p, p->i);
    struct sp_skew_fetch f = own_page(plan, p, shuffled(plan, p, pages, p->i - pages));
    f.again = true;
    return f;
}

static struct sp_skew_fetch flapping_page(const struct sp_skew_plan *plan, const struct place *p)
{
    uint64_t pages = pages_in(p), visit = p->i - pages;
    uint64_t page = p->kind == SP_SKEW_FLAP_LOSER ? pages - 1 : 0;
    bool first = p->i < pages;
    bool away = !first && visit % 2 == 0 && p->kind != SP_SKEW_FLAP_UNCHANGED;
    if (first && p->i != page)
        return shared_page(plan, p, p->i);
    struct sp_skew_fetch f = away ? own_page(plan, p, page) : shared_page(plan, p, page);
    f.again = !first;
    f.popularity = p->kind == SP_SKEW_FLAP_LOSER ? -1 : most_popular;
    f.padding = p->kind == SP_SKEW_FLAP_LOSER ? FLAP_PADDING : 0;
    return f;
}

static struct sp_skew_fetch outranking_page(const struct sp_skew_plan *plan, const struct place *p)
{
    enum sp_edit edit = p->kind == SP_SKEW_OUTRANK_NEAR ? SP_EDIT_WORDS : SP_EDIT_NONE;
    struct sp_skew_fetch f = near_page(plan, p, edit);
    f.numbered = true;
    f.popularity = (int64_t)(p->i / URL_STEPS);
    f.padding = (uint32_t)(URL_STEPS - p->i % URL_STEPS);
    return f;
}

/* The second fetch has an earlier date than the first, so it is late. */
static struct sp_skew_fetch future_page(const struct sp_skew_plan *plan, const struct place *p)
{
    struct sp_skew_fetch f = own_page(plan, p, p->i / 2);
    f.text.document = own_document(p, p->i);
    f.again = p->i % 2;
    f.ahead_ms = f.again ? 0 : far_ahead_ms;
    return f;
}

struct sp_skew_fetch sp_skew_plan_fetch(const struct sp_skew_plan *plan, enum sp_skew_kind kind,
                                        uint64_t k)
{
    struct place p = place_of(plan, kind, k);
    switch (kind) {
    case SP_SKEW_SAME:
        return near_page(plan, &p, SP_EDIT_NONE);
    case SP_SKEW_NEAR_WORDS:
        return near_page(plan, &p, SP_EDIT_WORDS);
    case SP_SKEW_NEAR_URL:
        return near_page(plan, &p, SP_EDIT_ADDRESS);
    case SP_SKEW_NEAR_PERCENT:
        return near_page(plan, &p, SP_EDIT_PERCENT);
    case SP_SKEW_CHAINLIKE:
        return near_page(plan, &p, SP_EDIT_ROLLING);
    case SP_SKEW_TEMPLATE:
        return template_page(plan, &p);
    case SP_SKEW_ZIPF:
        return zipf_page(plan, k);
    case SP_SKEW_REDIRECTS_AFTER:
    case SP_SKEW_REDIRECTS_BEFORE:
    case SP_SKEW_REDIRECTS_RANDOM:
    case SP_SKEW_REDIRECTS_LOOP:
        return redirect_page(plan, &p);
    case SP_SKEW_DIE_NEWEST:
    case SP_SKEW_DIE_OLDEST:
    case SP_SKEW_DIE_RANDOM:
        return dying_page(plan, &p);
    case SP_SKEW_RECOVER:
        return recovering_page(plan, &p);
    case SP_SKEW_FLAP_LOSER:
    case SP_SKEW_FLAP_WINNER:
    case SP_SKEW_FLAP_UNCHANGED:
        return flapping_page(plan, &p);
    case SP_SKEW_OUTRANK_SAME:
    case SP_SKEW_OUTRANK_NEAR:
        return outranking_page(plan, &p);
    case SP_SKEW_FUTURE:
        return future_page(plan, &p);
    case SP_SKEW_TWO_PARTS:
        return two_parts_page(plan, &p);
    case SP_SKEW_GROWING:
        return growing_page(plan, &p);
    case SP_SKEW_CHANGING:
        return changing_page(plan, &p);
    case SP_SKEW_UNLIKE:
    case SP_SKEW_KINDS:
        break;
    }
    return own_page(plan, &p, p.i);
}
