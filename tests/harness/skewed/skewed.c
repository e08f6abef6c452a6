/* See skewed.h. */
#include "skewed.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "synth/synth.h"

void skewed_make(struct skewed *crawl, const char *kind, uint64_t fetches)
{
    struct sp_synth_options o;
    struct sp_fault fault;
    struct sp_buf line = {0};
    *crawl = (struct skewed){"/tmp/samepage-skewed-XXXXXX.jsonl"};
    int fd = mkstemps(crawl->name, 6);
    FILE *file = fdopen(fd, "w");
    sp_synth_options_default(&o);
    o.pages = fetches;
    o.words = 100;
    enum sp_err err = sp_skew_parse(kind, &o.skew, &fault);
    SP_ASSERT(file && err == SP_OK);
    struct sp_synth *synth = sp_synth_new(&o);
    while (sp_synth_next(synth, &line, NULL)) {
        fwrite(line.data, 1, line.len, file);
        sp_buf_reset(&line);
    }
    sp_synth_free(synth);
    sp_buf_done(&line);
    int failed = fclose(file);
    SP_ASSERT(!failed);
}

void skewed_remove(struct skewed *crawl)
{
    unlink(crawl->name);
}
