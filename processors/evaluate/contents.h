/* What maps are trained on and measured with: the distinct contents of some fetches, as length
 * vectors; and the kinds of maps that Figures 4 to 6 compare. Private to this folder. */
#ifndef SP_EVALUATE_CONTENTS_H
#define SP_EVALUATE_CONTENTS_H

#include "evaluate/evaluate.h"
#include "partition/train.h"

/* Where length vectors come from. */
enum sp_split {
    SP_SPLIT_TOTAL,      /* one dimension: the number of shingles */
    SP_SPLIT_BALANCED_2, /* the paper's: words by frequency, to the least loaded */
    SP_SPLIT_BALANCED_3,
    SP_SPLIT_SPREAD_2, /* ours: partition/words.h */
    SP_SPLIT_SPREAD_3,
    SP_SPLIT_SETTINGS, /* of the signatures: by hash, or by the dictionary of partition.map */
    SP_SPLITS
};

/* A way to make a map. */
struct sp_map_kind {
    const char *label;
    enum sp_slicing slicing;
    uint32_t dims; /* sub-dictionaries */
    enum sp_split split;
    uint32_t cells_each; /* cells for each machine */
    enum sp_packing packing;
};

enum { SP_MAP_KINDS = 8, SP_MACHINE_COUNTS = 6, SP_MACHINES_MOST = 64, SP_KIND_PAPER_1D = 0 };

extern const struct sp_map_kind sp_map_kinds[SP_MAP_KINDS];
extern const uint32_t sp_machine_counts[SP_MACHINE_COUNTS]; /* 2 to SP_MACHINES_MOST */

struct sp_contents {
    size_t count;
    struct sp_signature **signatures;      /* borrowed from the trace, in order of the fetches */
    uint32_t *fetches;                     /* that gave them */
    struct sp_lengths *lengths[SP_SPLITS]; /* NULL: not made */
};

/* One of each content of these fetches (those without content are left out), with the lengths that
 * signatures know: SP_SPLIT_TOTAL and SP_SPLIT_SETTINGS. */
void sp_contents_init(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                      struct sp_contents *ret_contents);
/* The same, of the pages alive after all fetches, and with all lengths: the contents are read
 * again, and dictionaries trained on their words. Made once and kept by the trace. */
enum sp_err sp_contents_alive(const struct sp_evaluate_options *o, const struct sp_trace *t,
                              const struct sp_contents **ret_contents, const char **ret_message);
void sp_contents_done(struct sp_contents *c);

/* A map of that kind for so many machines. SP_INVALID where there is no content. */
enum sp_err sp_contents_train(const struct sp_contents *c, const struct sp_map_kind *kind,
                              uint32_t machines, double tau, struct sp_partition_map *ret_map);

/* What a map does with length vectors, held against the machines that were asked for: a map of
 * fewer cells leaves some idle. */
struct sp_map_measure {
    double imbalance; /* largest load / mean load */
    double visited;   /* machines a page's probe visits, its own included */
    double saved;     /* transfers saved against sending each page to all other machines */
};

struct sp_map_measure sp_contents_measure(const struct sp_partition_map *map,
                                          const struct sp_lengths *pages, size_t count,
                                          uint32_t machines, double tau, enum sp_routing routing,
                                          double rho);

/* ---- values by map and number of machines ---- */

void sp_maps_table(struct sp_report *report, const char *name, const char *caption,
                   double values[SP_MAP_KINDS][SP_MACHINE_COUNTS], int decimals);
/* `line` (may be NULL) is drawn as well, dashed. */
void sp_maps_plot(struct sp_report *report, const char *name, const char *caption,
                  const char *y_label, double values[SP_MAP_KINDS][SP_MACHINE_COUNTS],
                  const struct sp_series *line);

#endif
