/* Pages of equal content as one: their classes, in order of size. Private to this folder. */
#ifndef SP_SIMILARITY_CLASSES_H
#define SP_SIMILARITY_CLASSES_H

#include "page/signature.h"

struct sp_class_page {
    struct sp_signature *signature;
    size_t number; /* in the caller's array */
};

struct sp_classes {
    struct sp_class_page *sorted; /* by content, then number: classes are runs */
    size_t page_count;
    uint32_t *firsts; /* starts of the runs, in order of the number of shingles */
    size_t count;
};

/* Borrows the signatures; there must be less than UINT32_MAX. */
void sp_classes_make(struct sp_signature *const *signatures, size_t count,
                     struct sp_classes *ret_classes);
void sp_classes_done(struct sp_classes *c);
/* The end of the run that begins at `start`. */
size_t sp_class_end(const struct sp_classes *c, size_t start);

static inline const struct sp_signature *sp_class_signature(const struct sp_classes *c,
                                                            size_t number)
{
    return c->sorted[c->firsts[number]].signature;
}

#endif
