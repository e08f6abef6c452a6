/* Skew: patterns that every real crawl has and random pages lack. Each kind is a stream of fetches;
 * a crawl mixes several at random, in the shares that were asked for.
 *
 * A stream is cut into families: pages that are related to one another, and not to pages of other
 * families. Thread rule: none, all of this is values. */
#ifndef SP_SYNTH_SKEW_H
#define SP_SYNTH_SKEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Kind, and its name, which stands for all kinds that begin with it and a hyphen as well. What they
 * are says `samepage synth --help`. */
#define SP_SKEW_LIST(X)                                                                            \
    X(UNLIKE, "unlike")                                                                            \
    X(SAME, "same")                                                                                \
    X(NEAR_WORDS, "near-words")                                                                    \
    X(NEAR_URL, "near-url")                                                                        \
    X(NEAR_PERCENT, "near-percent")                                                                \
    X(CHAINLIKE, "chainlike")                                                                      \
    X(TEMPLATE, "template")                                                                        \
    X(ZIPF, "zipf")                                                                                \
    X(REDIRECTS_AFTER, "redirects-after")                                                          \
    X(REDIRECTS_BEFORE, "redirects-before")                                                        \
    X(REDIRECTS_RANDOM, "redirects-random")                                                        \
    X(REDIRECTS_LOOP, "redirects-loop")                                                            \
    X(DIE_NEWEST, "die-newest")                                                                    \
    X(DIE_OLDEST, "die-oldest")                                                                    \
    X(DIE_RANDOM, "die-random")                                                                    \
    X(RECOVER, "recover")                                                                          \
    X(FLAP_LOSER, "flap-loser")                                                                    \
    X(FLAP_WINNER, "flap-winner")                                                                  \
    X(FLAP_UNCHANGED, "flap-unchanged")                                                            \
    X(OUTRANK_SAME, "outrank-same")                                                                \
    X(OUTRANK_NEAR, "outrank-near")                                                                \
    X(FUTURE, "future")                                                                            \
    X(TWO_PARTS, "two-parts")                                                                      \
    X(GROWING, "growing")                                                                          \
    X(CHANGING, "changing")

enum sp_skew_kind {
#define SP_SKEW_ENUM(id, name) SP_SKEW_##id,
    SP_SKEW_LIST(SP_SKEW_ENUM)
#undef SP_SKEW_ENUM
        SP_SKEW_KINDS
};

/* In shorter texts a replaced word or two would make unlike pages of near copies. */
enum { SP_SKEW_WORDS_MIN = 100, SP_SKEW_WHOLE = 1000000 };

struct sp_skew {
    /* Fetches of each kind in SP_SKEW_WHOLE; their sum is that, or 0: no skew. */
    uint32_t parts[SP_SKEW_KINDS];
    /* Fetches of a family. 0: all of a kind are one, but redirects, of which chains of 2 to 90
     * fetches take turns. Nothing to `zipf`, where a group is a family. */
    uint64_t family;
    uint32_t zipf_permille; /* of the pages of `zipf`, in its largest group; 0 counts as 100 */
};

static inline bool sp_skew_wanted(const struct sp_skew *skew)
{
    for (int i = 0; i < SP_SKEW_KINDS; i++)
        if (skew->parts[i])
            return true;
    return false;
}

const char *sp_skew_name(enum sp_skew_kind kind);

/* The parts of a mix: NULL or "mix", a mix as in real crawls, of the kinds before `future`; a name:
 * nothing but that; or names with percents of the fetches, as "near=20,chainlike=2.5", where what
 * is missing to 100 is `unlike`. A name for several kinds stands for equal parts of them. The rest
 * of *ret_skew stays. SP_INVALID. */
enum sp_err sp_skew_parse(const char *mix, struct sp_skew *ret_skew, struct sp_fault *fault);

#endif
