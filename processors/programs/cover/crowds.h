/* Crowds: many units that differ little from one of them, their leader. All share most of its text,
 * so the shingles that a pair shares do not tell which pairs share enough; those of one crowd are
 * found by how they differ from the leader (similarity/differing.h).
 *
 * Which unit leads a crowd affects only the speed. Units are tried in order of how common the
 * shingles of their prefixes are, the most common first: others copied them. A unit tries a few
 * leaders: those that have one of its rarest shingles, of the shingles that many units have.
 *
 * Private to this folder; thread rule: any thread once it is made. */
#ifndef SP_COVER_CROWDS_H
#define SP_COVER_CROWDS_H

#include "cover/common.h"
#include "similarity/differing.h"

struct sp_cover_crowd {
    uint32_t *units;
    uint32_t count;
    struct sp_differing *index;
};

struct sp_crowds {
    uint32_t count;               /* they are numbered from 1 */
    uint32_t *of;                 /* of each unit: the number of its crowd, or 0 */
    uint32_t *members;            /* of each unit: its number in that crowd */
    struct sp_cover_crowd *items; /* by number; the first is not used */
};

struct sp_crowds_options {
    const struct sp_unit *units;
    size_t count;
    const uint32_t *sets;
    const struct sp_common *common;
    const uint32_t *commonness;    /* of each unit, as below */
    struct sp_differing_most most; /* shingles in which a pair differs */
    uint64_t memory_bytes;
};

/* How common the keys of a prefix are on average, from the ranks of all keys and the last one of
 * the prefix; 0 if no key is so common that it leads to a crowd. */
uint32_t sp_crowds_commonness(const uint64_t *ranks, size_t count, uint64_t last);

void sp_crowds_make(const struct sp_crowds_options *options, struct sp_crowds *ret_crowds);
void sp_crowds_done(struct sp_crowds *c);

#endif
