/* The compare work of each machine under a map, run and timed machine by machine. Private to this
 * folder and its tests.
 *
 * Source: Zhu et al., WWW 2012, section 6.1: the slowest machine decides how long all take.
 *
 * Contents arrive in order. Each is sent to the machines whose cells may hold something similar, is
 * compared there with what came before, and is stored on its own machine: every pair that meets,
 * meets once. Three ways to compare:
 *   full   with every stored row of each cell it visits, J computed in full: the paper's scan
 *   scan   the same rows, but F ends early: by the lengths, and once tau cannot be reached
 *   index  with the candidates that the machine's index finds (candidates/candidates.h)
 */
#ifndef SP_EVALUATE_WORK_H
#define SP_EVALUATE_WORK_H

#include "evaluate/distinct.h"
#include "similarity/similarity.h"

enum sp_work_way { SP_WORK_FULL, SP_WORK_SCAN, SP_WORK_INDEX, SP_WORK_WAYS };

struct sp_work {
    double slowest;    /* seconds of the machine that takes longest */
    double sum;        /* of all */
    uint64_t met;      /* pairs compared, on all machines (scan: rows passed) */
    uint64_t met_most; /* on the machine that compares most */
    uint64_t similar;  /* pairs found similar; of the sample, if there was one */
};

struct sp_work_options {
    const struct sp_partition_map *map;
    const struct sp_distinct *contents;
    enum sp_split split; /* where the map's length vectors come from */
    struct sp_similarity_options similarity;
    enum sp_routing routing;
    double rho;
};

/* Long scans are sampled: about `most` comparisons are made (three times), and the times are scaled
 * up. 0: all are made. */
void sp_work_run(const struct sp_work_options *options, enum sp_work_way way, uint64_t most,
                 struct sp_work *ret_work);

#endif
