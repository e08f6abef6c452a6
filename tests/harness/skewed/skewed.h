/* A skewed crawl in a file, for tests of the commands that read files. */
#ifndef SP_TEST_SKEWED_H
#define SP_TEST_SKEWED_H

#include <stdint.h>

struct skewed {
    char name[64]; /* of the file: JSON lines */
};

/* A crawl of pages of 100 words, of that kind (synth/skew.h). */
void skewed_make(struct skewed *crawl, const char *kind, uint64_t fetches);
void skewed_remove(struct skewed *crawl);

#endif
