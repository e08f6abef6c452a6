/* links: sp_input sp_base */
/* Any bytes as a crawl file: JSON lines, WARC or Avro, plain, gzip or Zstandard, as detected. No
 * crash; each record is returned once, and record numbers ascend without gaps. The first byte
 * chooses the chunk size, so that records cross chunk boundaries. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "input/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned checksum;

static void touch(struct sp_view v)
{
    for (size_t i = 0; i < v.len; i++)
        checksum += (uint8_t)v.data[i];
}

static void on_item(void *arg, const struct sp_input_item *item)
{
    uint64_t *expected = arg;
    SP_ASSERT(item->number == *expected && item->records > 0);
    *expected += item->records;
    if (item->err != SP_OK) {
        SP_ASSERT(item->why && item->raw.len <= 65536);
        touch(item->raw);
        return;
    }
    SP_ASSERT(item->page.url.len > 0);
    touch(item->page.url);
    touch(item->page.redirect_url);
    touch(item->page.content_type);
    touch(item->page.content);
}

static void read_all(const char *name, const struct sp_input_options *options)
{
    struct sp_fault fault = {""};
    struct sp_input *in = NULL;
    struct sp_chunk *chunk = NULL;
    if (sp_input_open(&name, 1, options, &in, &fault) != SP_OK) {
        SP_ASSERT(*fault.text);
        return;
    }
    struct sp_parser *parser = sp_parser_new(options);
    uint64_t expected = 0;
    while (sp_input_next_chunk(in, &chunk, &fault) == SP_OK) {
        SP_ASSERT(sp_chunk_first(chunk) == expected);
        uint64_t end = expected + sp_chunk_count(chunk);
        sp_chunk_parse(parser, chunk, on_item, &expected);
        SP_ASSERT(expected == end);
        sp_chunk_free(chunk);
    }
    sp_parser_free(parser);
    sp_input_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[64];
    if (size == 0)
        return 0;
    struct sp_input_options options;
    sp_input_options_default(&options);
    options.max_record_bytes = 1 << 20;
    options.chunk_bytes = 1 + data[0] * (size_t)64;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    SP_ASSERT(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    read_all(name, &options);
    close(fd);
    return 0;
}
