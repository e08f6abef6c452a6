/* Branch and bound for set cover, on bit sets.
 *
 * A step: take each set that alone covers some element; drop sets whose uncovered elements another
 * set covers too; give up if the bound cannot beat the best cover so far; else branch on the
 * element with fewest sets, the largest set first. A set that was tried is excluded from the later
 * branches.
 *
 * The bound: elements of which no set has two each need a set of their own. Found greedily,
 * elements of few sets first. */
#include "cover/solve.h"

#include <string.h>

#include "base/mem.h"

struct state {
    uint64_t *uncovered; /* elements */
    uint64_t *open;      /* sets that may be taken */
};

struct search {
    const struct sp_instance *instance;
    size_t element_words;
    size_t set_words;
    uint64_t *of_set;     /* elements of each set */
    uint64_t *of_element; /* sets of each element */
    uint8_t *best;
    uint32_t best_count;
    uint8_t *chosen;
    uint32_t chosen_count;
    uint64_t steps_left;
    uint64_t *blocked; /* scratch of the bound: sets */
    uint32_t *order;   /* scratch of the bound: elements */
};

static void set_bit(uint64_t *bits, size_t i)
{
    bits[i / 64] |= 1ull << i % 64;
}

static void clear_bit(uint64_t *bits, size_t i)
{
    bits[i / 64] &= ~(1ull << i % 64);
}

static uint32_t count_both(const uint64_t *x, const uint64_t *y, size_t words)
{
    uint32_t n = 0;
    for (size_t w = 0; w < words; w++)
        n += (uint32_t)__builtin_popcountll(x[w] & y[w]);
    return n;
}

static bool is_empty(const uint64_t *x, size_t words)
{
    for (size_t w = 0; w < words; w++)
        if (x[w])
            return false;
    return true;
}

/* Returns the first member of x at or after `from`; `limit` if there is none. */
static uint32_t next_bit(const uint64_t *x, uint32_t from, uint32_t limit)
{
    while (from < limit) {
        uint64_t word = x[from / 64] >> from % 64;
        if (word) {
            from += (uint32_t)__builtin_ctzll(word);
            return from < limit ? from : limit;
        }
        from = (from / 64 + 1) * 64;
    }
    return limit;
}

static const uint64_t *elements_of(const struct search *s, uint32_t set)
{
    return s->of_set + set * s->element_words;
}

static const uint64_t *sets_of(const struct search *s, uint32_t element)
{
    return s->of_element + element * s->set_words;
}

static void take(struct search *s, struct state *at, uint32_t set)
{
    const uint64_t *members = elements_of(s, set);
    for (size_t w = 0; w < s->element_words; w++)
        at->uncovered[w] &= ~members[w];
    clear_bit(at->open, set);
    s->chosen[set] = 1;
    s->chosen_count++;
}

/* Takes the sets without which some element cannot be covered. *ret_branch becomes the element with
 * the fewest open sets. Returns false if an element has no open set. */
static bool settle(struct search *s, struct state *at, uint32_t *ret_branch)
{
    const uint32_t elements = s->instance->elements;
    for (bool again = true; again;) {
        uint32_t fewest = UINT32_MAX;
        again = false;
        for (uint32_t e = next_bit(at->uncovered, 0, elements); e < elements;
             e = next_bit(at->uncovered, e + 1, elements)) {
            uint32_t n = count_both(sets_of(s, e), at->open, s->set_words);
            if (n == 0)
                return false;
            if (n < fewest) {
                fewest = n;
                *ret_branch = e;
            }
            if (n > 1)
                continue;
            uint32_t set = 0;
            for (size_t w = 0; w < s->set_words; w++)
                if (sets_of(s, e)[w] & at->open[w])
                    set = (uint32_t)(64 * w) +
                          (uint32_t)__builtin_ctzll(sets_of(s, e)[w] & at->open[w]);
            take(s, at, set);
            again = true;
            break;
        }
    }
    return true;
}

static bool within(const struct search *s, const struct state *at, uint32_t small, uint32_t large)
{
    const uint64_t *x = elements_of(s, small), *y = elements_of(s, large);
    for (size_t w = 0; w < s->element_words; w++)
        if (x[w] & at->uncovered[w] & ~y[w])
            return false;
    return true;
}

/* Closes sets whose uncovered elements another open set has as well. Candidates for the other set
 * are those of the element that the fewest sets have. */
static bool close_dominated(struct search *s, struct state *at)
{
    const uint32_t sets = s->instance->sets, elements = s->instance->elements;
    bool closed = false;
    for (uint32_t x = next_bit(at->open, 0, sets); x < sets; x = next_bit(at->open, x + 1, sets)) {
        const uint64_t *members = elements_of(s, x);
        uint32_t rare = UINT32_MAX, fewest = UINT32_MAX;
        for (uint32_t e = next_bit(members, 0, elements); e < elements;
             e = next_bit(members, e + 1, elements)) {
            if (!(at->uncovered[e / 64] >> e % 64 & 1))
                continue;
            uint32_t n = count_both(sets_of(s, e), at->open, s->set_words);
            if (n < fewest) {
                fewest = n;
                rare = e;
            }
        }
        bool dominated = rare == UINT32_MAX;
        for (uint32_t y = 0; !dominated && y < sets; y++) {
            if (y == x || !(sets_of(s, rare)[y / 64] & at->open[y / 64] & 1ull << y % 64))
                continue;
            dominated = within(s, at, x, y) && (y < x || !within(s, at, y, x));
        }
        if (dominated) {
            clear_bit(at->open, x);
            closed = true;
        }
    }
    return closed;
}

/* Returns a lower bound of the number of sets that the uncovered elements need. */
static uint32_t bound(struct search *s, const struct state *at)
{
    const uint32_t elements = s->instance->elements;
    uint32_t count = 0, needed = 0;
    memset(s->blocked, 0, s->set_words * sizeof *s->blocked);
    for (uint32_t e = next_bit(at->uncovered, 0, elements); e < elements;
         e = next_bit(at->uncovered, e + 1, elements))
        s->order[count++] = e;
    for (uint32_t few = 2; count > 0; few = few < 8 ? few + 1 : UINT32_MAX) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t e = s->order[i];
            const uint64_t *sets = sets_of(s, e);
            if (few != UINT32_MAX && count_both(sets, at->open, s->set_words) > few) {
                s->order[left++] = e;
                continue;
            }
            bool free = true;
            for (size_t w = 0; w < s->set_words && free; w++)
                free = !(sets[w] & at->open[w] & s->blocked[w]);
            if (!free)
                continue;
            needed++;
            for (size_t w = 0; w < s->set_words; w++)
                s->blocked[w] |= sets[w] & at->open[w];
        }
        count = left;
    }
    return needed;
}

static void descend(struct search *s, const struct state *from);

/* Tries each set of the element, the one that covers most first. */
static void branch(struct search *s, struct state *at, uint32_t element)
{
    const uint32_t sets = s->instance->sets;
    for (;;) {
        uint32_t largest = UINT32_MAX, most = 0;
        for (uint32_t x = 0; x < sets; x++) {
            if (!(sets_of(s, element)[x / 64] & at->open[x / 64] & 1ull << x % 64))
                continue;
            uint32_t n = count_both(elements_of(s, x), at->uncovered, s->element_words);
            if (n > most) {
                most = n;
                largest = x;
            }
        }
        if (largest == UINT32_MAX || s->steps_left == 0)
            return;
        clear_bit(at->open, largest);
        struct state next = {sp_memdup(at->uncovered, s->element_words * 8),
                             sp_memdup(at->open, s->set_words * 8)};
        take(s, &next, largest);
        descend(s, &next);
        s->chosen[largest] = 0;
        s->chosen_count--;
        sp_free(next.uncovered);
        sp_free(next.open);
    }
}

/* Searches everything below a state; leaves `chosen` unchanged. */
static void descend(struct search *s, const struct state *from)
{
    if (s->steps_left == 0)
        return;
    s->steps_left--;
    uint32_t element = 0, sets = s->instance->sets, count = s->chosen_count;
    uint8_t *before = sp_memdup(s->chosen, sets);
    struct state at = {sp_memdup(from->uncovered, s->element_words * 8),
                       sp_memdup(from->open, s->set_words * 8)};
    bool possible = settle(s, &at, &element);
    while (possible && !is_empty(at.uncovered, s->element_words) && close_dominated(s, &at))
        possible = settle(s, &at, &element);
    if (possible && is_empty(at.uncovered, s->element_words)) {
        if (s->chosen_count < s->best_count) {
            s->best_count = s->chosen_count;
            memcpy(s->best, s->chosen, sets);
        }
    } else if (possible && s->chosen_count + bound(s, &at) < s->best_count) {
        branch(s, &at, element);
    }
    memcpy(s->chosen, before, sets);
    s->chosen_count = count;
    sp_free(before);
    sp_free(at.uncovered);
    sp_free(at.open);
}

bool sp_solve_exactly(const struct sp_instance *instance, uint64_t steps_max, uint8_t *ret_chosen)
{
    const uint32_t elements = instance->elements, sets = instance->sets;
    struct search s = {.instance = instance, .steps_left = steps_max, .best = ret_chosen};
    s.element_words = (elements + 63) / 64;
    s.set_words = (sets + 63) / 64;
    s.of_set = sp_calloc(sets * s.element_words + 1, 8);
    s.of_element = sp_calloc(elements * s.set_words + 1, 8);
    s.chosen = sp_calloc(sets + 1, 1);
    s.blocked = sp_calloc(s.set_words + 1, 8);
    s.order = sp_calloc(elements + 1, sizeof *s.order);
    struct state at = {sp_calloc(s.element_words + 1, 8), sp_calloc(s.set_words + 1, 8)};
    for (uint32_t x = 0; x < sets; x++) {
        set_bit(at.open, x);
        s.best_count += ret_chosen[x];
        for (uint32_t i = instance->starts[x]; i < instance->starts[x + 1]; i++) {
            set_bit(s.of_set + x * s.element_words, instance->members[i]);
            set_bit(s.of_element + instance->members[i] * s.set_words, x);
            set_bit(at.uncovered, instance->members[i]);
        }
    }
    descend(&s, &at);
    sp_free(s.of_set);
    sp_free(s.of_element);
    sp_free(s.chosen);
    sp_free(s.blocked);
    sp_free(s.order);
    sp_free(at.uncovered);
    sp_free(at.open);
    return s.steps_left > 0;
}
