/* The units in order of size, those of each crowd together. Private to this folder; thread rule:
 * none, all of this is values. */
#ifndef SP_COVER_SIZES_H
#define SP_COVER_SIZES_H

#include "cover/crowds.h"

struct sp_sizes {
    uint32_t count;
    uint32_t *units;  /* in order of crowd, size, number */
    uint32_t *sizes;  /* of these */
    uint32_t *places; /* of each unit, where it is in that order */
    uint32_t *starts; /* of each crowd, and the end of the last one */
};

void sp_sizes_make(const struct sp_unit *units, size_t count, const struct sp_crowds *crowds,
                   struct sp_sizes *ret_sizes);
void sp_sizes_done(struct sp_sizes *s);
/* The place of the crowd's first unit of at least that size; where the crowd ends if there is none.
 */
uint32_t sp_sizes_from(const struct sp_sizes *s, uint32_t crowd, double size);

#endif
