/* Shared by the fuzzers of the input module: writes bytes to a file, reads its items, and checks
 * that they do not depend on the chunk size. */
#ifndef SP_FUZZ_INPUT_ITEMS_H
#define SP_FUZZ_INPUT_ITEMS_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/hash.h"
#include "input/input.h"

struct input_items {
    uint64_t hash; /* hash of all items */
    uint64_t next; /* number of the next item */
    uint64_t calls;
};

static void input_items_put(struct input_items *items, const void *data, size_t len)
{
    items->hash = (items->hash ^ sp_hash64(data, len)) * 0x9e3779b97f4a7c15u + len;
}

static void input_items_each(void *arg, const struct sp_input_item *item)
{
    struct input_items *items = arg;
    uint64_t facts[] = {item->number, item->records, item->offset, item->err};
    SP_ASSERT(item->number == items->next && item->records > 0);
    items->next += item->records;
    items->calls++;
    input_items_put(items, facts, sizeof facts);
    if (item->err != SP_OK) {
        SP_ASSERT(item->why && *item->why && item->raw.len <= 65536);
        /* Reads all bytes, so that the sanitizer sees an invalid view. */
        SP_ASSERT(item->raw.len == 0 || sp_hash64(item->raw.data, item->raw.len) != 1);
        return;
    }
    const struct sp_page_record *page = &item->page;
    SP_ASSERT(page->url.len > 0 && page->http_status >= 0 && page->http_status <= 999);
    input_items_put(items, page->url.data, page->url.len);
    input_items_put(items, page->redirect_url.data, page->redirect_url.len);
    input_items_put(items, page->content_type.data, page->content_type.len);
    input_items_put(items, page->content.data, page->content.len);
    int64_t numbers[] = {page->fetch_time_ms, page->http_status, page->content_is_utf8};
    input_items_put(items, numbers, sizeof numbers);
}

static struct input_items input_items_read(const char *file, size_t chunk_bytes, uint64_t skip)
{
    struct input_items items = {.next = skip};
    struct sp_input_options options;
    struct sp_input *in = NULL;
    struct sp_chunk *chunk = NULL;
    struct sp_fault fault = {""};
    sp_input_options_default(&options);
    options.max_record_bytes = 4096;
    options.chunk_bytes = chunk_bytes;
    enum sp_err err = sp_input_open(&file, 1, &options, &in, &fault);
    if (err != SP_OK) {
        SP_ASSERT(*fault.text);
        return items;
    }
    SP_ASSERT(sp_input_skip(in, skip) == SP_OK);
    struct sp_parser *parser = sp_parser_new(&options);
    while ((err = sp_input_next_chunk(in, &chunk, &fault)) == SP_OK) {
        if (items.calls == 0)
            items.next = sp_chunk_first(chunk);
        SP_ASSERT(sp_chunk_first(chunk) == items.next);
        uint64_t end = sp_chunk_first(chunk) + sp_chunk_count(chunk);
        sp_chunk_parse(parser, chunk, input_items_each, &items);
        SP_ASSERT(items.next == end);
        sp_chunk_free(chunk);
    }
    SP_ASSERT(err == SP_END);
    sp_parser_free(parser);
    sp_input_close(in);
    return items;
}

/* magic: inputs with another beginning are left to the fuzzers of other formats. */
static int input_items_check(const uint8_t *data, size_t size, const char *magic)
{
    static int fd = -1;
    char file[32];
    size_t magic_len = strlen(magic);
    if (size < magic_len || memcmp(data, magic, magic_len) != 0)
        return 0;
    if (fd < 0)
        fd = memfd_create("fuzz", 0);
    SP_ASSERT(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
    struct input_items large = input_items_read(file, 1 << 16, 0);
    struct input_items small = input_items_read(file, 1 + size % 61, 0);
    SP_ASSERT(large.next == small.next);
    SP_ASSERT(large.calls == small.calls);
    SP_ASSERT(large.hash == small.hash);
    if (large.next > 1) { /* the tail, as read after a restart */
        struct input_items tail = input_items_read(file, 1 << 16, large.next / 2);
        SP_ASSERT(tail.next == large.next);
    }
    return 0;
}

#endif
