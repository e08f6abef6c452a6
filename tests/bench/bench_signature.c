/* bench_signature [FILE]
 *
 * Speed of the signature stage on one core. Loads the content of all pages of FILE (any input
 * format) into memory, so that neither the disk nor the input format is measured, and computes
 * their signatures; the best of three passes counts, of which none knows what another one signed.
 * Processor seconds are printed as well, because the clock is not reliable on a busy machine.
 * Copying memory is timed in the same run: the ratio of the two varies less between machines than
 * either. Without FILE only copying is timed.
 *
 * Prints one JSON object. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "input/input.h"
#include "text/text.h"

enum { PASSES = 3, COPY_BYTES = 256 << 20 };

struct page {
    size_t content; /* position in the buffer of all pages */
    size_t content_len;
    size_t type;
    size_t type_len;
    bool is_utf8;
};

struct pages {
    struct sp_buf bytes;
    struct page *list;
    size_t count;
    size_t cap;
    uint64_t content_bytes;
};

struct pass {
    double seconds;
    double cpu_seconds;
    uint64_t shingles; /* over all pages; must be equal in each pass */
};

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t keep(struct pages *p, struct sp_view v)
{
    size_t at = p->bytes.len;
    sp_buf_put_view(&p->bytes, v);
    return at;
}

/* The pages that the main job would read: successful fetches of a type that can have text. */
static void note_item(void *arg, const struct sp_input_item *item)
{
    struct pages *p = arg;
    const struct sp_page_record *r = &item->page;
    if (item->err != SP_OK || r->http_status < 200 || r->http_status >= 300 ||
        !sp_text_readable(r->content_type))
        return;
    sp_grow(&p->list, &p->cap, p->count + 1);
    p->list[p->count++] = (struct page){.content = keep(p, r->content),
                                        .content_len = r->content.len,
                                        .type = keep(p, r->content_type),
                                        .type_len = r->content_type.len,
                                        .is_utf8 = r->content_is_utf8};
    p->content_bytes += r->content.len;
}

static enum sp_err load(const char *name, struct pages *p, struct sp_fault *fault)
{
    struct sp_input_options options;
    struct sp_input *input;
    struct sp_chunk *chunk;
    sp_input_options_default(&options);
    enum sp_err err = sp_input_open(&name, 1, &options, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_parser *parser = sp_parser_new(&options);
    while ((err = sp_input_next_chunk(input, &chunk, fault)) == SP_OK) {
        sp_chunk_parse(parser, chunk, note_item, p);
        sp_chunk_free(chunk);
    }
    sp_parser_free(parser);
    sp_input_close(input);
    return err == SP_END ? SP_OK : err;
}

static struct pass sign_all(const struct pages *p)
{
    struct pass pass = {0};
    struct sp_text_options options;
    sp_text_options_default(&options);
    struct sp_text *text = sp_text_new(&options);
    double start = now(CLOCK_MONOTONIC), cpu_start = now(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < p->count; i++) {
        const struct page *page = &p->list[i];
        struct sp_signature *s = sp_text_signature(
            text, sp_view(p->bytes.data + page->type, page->type_len),
            sp_view(p->bytes.data + page->content, page->content_len), page->is_utf8);
        pass.shingles += s->shingle_total;
        sp_signature_unref(s);
    }
    pass.seconds = now(CLOCK_MONOTONIC) - start;
    pass.cpu_seconds = now(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    sp_text_free(text);
    return pass;
}

/* MB/s of copying a block that fits into no cache. */
static double copy_speed(void)
{
    char *from = sp_alloc(COPY_BYTES), *to = sp_alloc(COPY_BYTES);
    double best = 0;
    memset(from, 'x', COPY_BYTES);
    memset(to, 'y', COPY_BYTES);
    for (int i = 0; i < PASSES; i++) {
        from[i] = (char)i; /* so that the compiler does not drop a pass */
        double start = now(CLOCK_MONOTONIC);
        memcpy(to, from, COPY_BYTES);
        __asm__ volatile("" : : "r"(to) : "memory");
        double speed = 1e-6 * COPY_BYTES / (now(CLOCK_MONOTONIC) - start);
        best = speed > best ? speed : best;
    }
    sp_free(from);
    sp_free(to);
    return best;
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        fprintf(stderr, "usage: bench_signature [FILE]\n");
        return 2;
    }
    struct pages pages = {0};
    struct sp_fault fault = {""};
    if (argc == 2 && load(argv[1], &pages, &fault) != SP_OK) {
        fprintf(stderr, "bench_signature: %s\n", fault.text);
        return 1;
    }
    double copy_before = copy_speed();
    printf("{");
    if (pages.count) {
        struct pass best = sign_all(&pages);
        for (int i = 1; i < PASSES; i++) {
            struct pass pass = sign_all(&pages);
            double cpu = pass.cpu_seconds < best.cpu_seconds ? pass.cpu_seconds : best.cpu_seconds;
            best = pass.seconds < best.seconds ? pass : best;
            best.cpu_seconds = cpu;
        }
        printf("\"pages\":%zu,\"content_bytes\":%llu,\"shingles\":%llu,"
               "\"seconds\":%.3f,\"cpu_seconds\":%.3f,\"mb_per_s\":%.1f,\"pages_per_s\":%.0f,",
               pages.count, (unsigned long long)pages.content_bytes,
               (unsigned long long)best.shingles, best.seconds, best.cpu_seconds,
               1e-6 * (double)pages.content_bytes / best.seconds,
               (double)pages.count / best.seconds);
    }
    double copy_after = copy_speed();
    printf("\"memcpy_mb_per_s\":%.0f}\n", copy_after > copy_before ? copy_after : copy_before);
    sp_free(pages.list);
    sp_buf_done(&pages.bytes);
    return 0;
}
