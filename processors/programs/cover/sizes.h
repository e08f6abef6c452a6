/* The units in order of size. Private to this folder; thread rule: none, all of this is values. */
#ifndef SP_COVER_SIZES_H
#define SP_COVER_SIZES_H

#include "cover/pairs.h"

struct sp_sizes {
    uint32_t count;
    uint32_t *units;  /* in order of size, then number */
    uint32_t *sizes;  /* of these */
    uint32_t *places; /* of each unit, where it is in that order */
};

void sp_sizes_make(const struct sp_unit *units, size_t count, struct sp_sizes *ret_sizes);
void sp_sizes_done(struct sp_sizes *s);
/* The place of the first unit of at least that size; the number of units if there is none. */
uint32_t sp_sizes_from(const struct sp_sizes *s, double size);

#endif
