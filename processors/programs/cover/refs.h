/* The documents of a search in the order of their units (pairs.h). In each unit, the documents of
 * its most frequent class (apart.h) follow the rest, so that one of them passes over all of them.
 *
 * Private to this folder; thread rule: none, all of this is values. */
#ifndef SP_COVER_REFS_H
#define SP_COVER_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_ref {
    uint64_t block; /* hash of the path's keys */
    uint32_t content;
    uint32_t document;
    uint32_t apart;  /* its class (apart.h) */
    bool alike;      /* it is of the class that most documents of its unit have */
    double from, to; /* as a: the range of values that b may have */
    double value;    /* as b; the documents of a unit that are alike, or not, are sorted by it */
};

/* Marks those that are alike if there are classes, and sorts all. */
void sp_refs_sort(struct sp_ref *refs, size_t count, bool has_classes);

#endif
