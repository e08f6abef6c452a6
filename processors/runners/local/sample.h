/* A sample of a crawl for training and measuring partition maps: the distinct contents of the pages
 * that live at the end of the input, as bags of words, or as length vectors if the dictionary is
 * known. */
#ifndef SP_LOCAL_SAMPLE_H
#define SP_LOCAL_SAMPLE_H

#include "input/input.h"
#include "input/readings.h"
#include "partition/train.h"
#include "partition/words.h"
#include "text/text.h"

struct sp_sample_options {
    struct sp_text_options text; /* with a dictionary lengths are kept, else bags */
    struct sp_input_options input;
    uint64_t most;                /* pages: above it, those with the larger page ids are left out */
    uint64_t skip;                /* records of each input passed over */
    uint64_t records;             /* of each input read after them; 0: all */
    struct sp_readings *readings; /* may be NULL */
    /* Called now and then; may be NULL. bytes_total 0: unknown. */
    void (*progress)(void *arg, uint64_t records, uint64_t bytes, uint64_t bytes_total);
    void *progress_arg;
};

struct sp_sample {
    struct sp_bag **bags;       /* of distinct contents, in the order of their hashes */
    struct sp_lengths *lengths; /* the same; one of the two is there */
    size_t count;
    uint64_t records; /* read */
    uint64_t pages;   /* alive at the end and kept */
    bool part;        /* pages were left out */
};

/* Fails where an input cannot be read: the sample is empty then. */
enum sp_err sp_sample_read(const char *const *inputs, size_t input_count,
                           const struct sp_sample_options *options, struct sp_sample *ret_sample,
                           struct sp_fault *fault);
void sp_sample_done(struct sp_sample *sample);

/* The length vectors of all bags under a dictionary; sp_free them. For a sample of bags. */
struct sp_lengths *sp_sample_lengths(const struct sp_sample *sample,
                                     const struct sp_dictionary *dictionary);

#endif
