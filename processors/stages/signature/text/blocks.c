/* Chooses main content by shallow features of blocks: the context that their elements give, the
 * share of their text that is in links, and their neighbours.
 *
 * Source: Kohlschuetter, Fankhauser, Nejdl, "Boilerplate Detection using Shallow Text Features"
 * (WSDM 2010), section 4: link density and text length of a block and its neighbours decide. Also
 * the hints of elements and class names that jusText and trafilatura use. Only what is certainly
 * furniture may be removed, because a lost sentence harms the similarity as much as a menu that is
 * kept.
 *
 * Invariant: a page with text keeps some. Nothing here can fail. */
#include "text/blocks.h"

#include "text/scan.h"
#include "text/tags.h"

enum {
    FEW_BYTES = 200 /* main content of less text than this does not stand out */
};

void sp_blocks_reset(struct sp_blocks *b)
{
    sp_buf_reset(&b->text);
    b->count = 0;
}

void sp_blocks_done(struct sp_blocks *b)
{
    sp_buf_done(&b->text);
    sp_free(b->items);
    *b = (struct sp_blocks){0};
}

void sp_blocks_add_range(struct sp_blocks *b, uint32_t start, uint32_t end)
{
    sp_grow(&b->items, &b->cap, b->count + 1);
    b->items[b->count++] = (struct sp_block){.start = start, .end = end};
}

void sp_blocks_add(struct sp_blocks *b, uint32_t start, uint32_t link_bytes, unsigned context)
{
    char *text = b->text.data;
    size_t end = b->text.len;
    while (end > start && (uint8_t)text[end - 1] <= ' ')
        end--;
    while (start < end && (uint8_t)text[start] <= ' ')
        start++;
    b->text.len = end;
    if (end == start)
        return;
    sp_blocks_add_range(b, start, (uint32_t)end);
    struct sp_block *block = &b->items[b->count - 1];
    uint32_t bytes = (uint32_t)end - start;
    block->link_bytes = link_bytes < bytes ? link_bytes : bytes;
    block->context = (uint16_t)context;
    *sp_buf_reserve(&b->text, 1) = SP_BLOCK_SEPARATOR;
    b->text.len++;
}

static uint32_t block_bytes(const struct sp_block *block)
{
    return block->end - block->start;
}

/* Whether the links outweigh the text around them. */
static bool is_linky(const struct sp_block *block)
{
    return 2 * block->link_bytes > block_bytes(block);
}

/* Keeps the blocks with none of `unwanted` in their context (and all of `wanted`); returns
 * the bytes of text outside of links that are kept. */
static uint64_t keep_by_context(struct sp_blocks *b, unsigned wanted, unsigned unwanted)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct sp_block *block = &b->items[i];
        block->kept = (block->context & wanted) == wanted && !(block->context & unwanted);
        if (block->kept)
            bytes += block_bytes(block) - block->link_bytes;
    }
    return bytes;
}

/* Templates in scripts count as text if they outweigh all other text: then a script shows the page.
 * Returns the context that always excludes a block. */
static unsigned invisible_context(const struct sp_blocks *b)
{
    uint64_t in_template = 0, visible = 0;
    for (size_t i = 0; i < b->count; i++)
        *(b->items[i].context & SP_IN_TEMPLATE ? &in_template : &visible) +=
            block_bytes(&b->items[i]);
    return in_template > visible ? 0 : SP_IN_TEMPLATE;
}

/* Drops links that stand alone: those without a kept block of other text beside them. A
 * page that would lose most of its text this way is a list of links by nature, and keeps it. */
static void drop_links(struct sp_blocks *b)
{
    uint64_t kept = 0, dropped = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct sp_block *block = &b->items[i];
        block->alone = false;
        if (!block->kept)
            continue;
        kept += block_bytes(block);
        if (!is_linky(block))
            continue;
        bool before = i > 0 && b->items[i - 1].kept && !is_linky(block - 1);
        bool behind = i + 1 < b->count && b->items[i + 1].kept && !is_linky(block + 1);
        block->alone = !before && !behind;
        if (block->alone)
            dropped += block_bytes(block);
    }
    if (2 * dropped > kept)
        return;
    for (size_t i = 0; i < b->count; i++)
        b->items[i].kept &= !b->items[i].alone;
}

void sp_blocks_choose(struct sp_blocks *b, bool main_only)
{
    const unsigned never = invisible_context(b);
    uint64_t all = keep_by_context(b, 0, never);
    if (!main_only || all == 0)
        return;
    const unsigned hard = never | SP_IN_BOILER | SP_IN_TITLE;
    const unsigned soft = hard | SP_IN_HINT | SP_IN_HEADER;
    uint64_t without_soft = keep_by_context(b, 0, soft);
    uint64_t in_main = keep_by_context(b, SP_IN_MAIN, soft);
    if (in_main < FEW_BYTES || 2 * in_main < without_soft) {
        if (without_soft >= FEW_BYTES || 2 * without_soft >= all)
            keep_by_context(b, 0, soft);
        else if (keep_by_context(b, 0, hard) < FEW_BYTES) {
            keep_by_context(b, 0, never);
            return;
        }
    }
    drop_links(b);
}
