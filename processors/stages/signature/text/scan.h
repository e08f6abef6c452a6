/* The vector kernels of the text module: one bit for each byte of interest.
 *
 * Everything else in this module is ordinary C that walks these bitmaps, so that only a few
 * small functions exist once per instruction set and can be compared bit for bit.
 *
 * Bit i % 64 of word i / 64 stands for byte i; bits at and behind len are 0. A
 * bitmap has sp_scan_words(len) words, at least one, the last always 0 in its top bit. */
#ifndef SP_TEXT_SCAN_H
#define SP_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_scan_markup {
    uint64_t *angle;
    uint64_t *close;
    uint64_t *end;
    uint64_t *edge;
};

struct sp_scan_kernel {
    const char *name;
    /* angle: '<' and '&' (text ends); close: '>' and both quotes (attributes end); end: '>'; edge:
     * the first byte above ' ' behind a '>' unless it is a '<', and the '<' of "<a" and white space
     * (a run of tags ends) */
    void (*markup)(const char *text, size_t len, const struct sp_scan_markup *ret_bits);
    /* word: letters, digits, '_' and all bytes of 0x80 and more; stop (may be NULL):
     * . ! ? and the block separator */
    void (*words)(const char *text, size_t len, uint64_t *ret_word, uint64_t *ret_stop);
    /* The places at which runs of set bits begin and end, in order; bits[0] to bits[blocks - 1], of
     * which the last has its top bit clear, so that there are as many ends as beginnings. Returns
     * their number. ret_places has room for 64 * blocks. At most SP_SCAN_BORDERED_BLOCKS. */
    size_t (*borders)(const uint64_t *bits, size_t blocks, uint16_t *ret_places);
    /* length of the longest prefix without bytes of 0x80 and more */
    size_t (*ascii)(const char *text, size_t len);
    /* Whether len bytes are equal, at least one; whole SP_SCAN_BLOCKs can be read. */
    bool (*equal)(const char *a, const char *b, size_t len);
};

enum { SP_SCAN_BORDERED_BLOCKS = 1024, SP_SCAN_BLOCK = 64 };

/* Ends a block in the text buffer: a sentence border that no text contains (a control
 * character in the input is copied as it is, and is a border too). */
#define SP_BLOCK_SEPARATOR '\x1e'

/* The class `word` of one byte. */
static inline bool sp_scan_is_word(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u || (unsigned)(c - '0') < 10u || c == '_' ||
           (c & 0x80);
}

static inline size_t sp_scan_words(size_t len)
{
    return len / 64 + 1;
}

/* The first set bit at or behind `at`; len if there is none. */
static inline size_t sp_scan_find(const uint64_t *bits, size_t at, size_t len)
{
    if (at >= len)
        return len;
    size_t i = at / 64;
    uint64_t word = bits[i] >> (at % 64);
    if (word)
        return at + (size_t)__builtin_ctzll(word);
    size_t last = len / 64;
    while (++i <= last)
        if (bits[i])
            return i * 64 + (size_t)__builtin_ctzll(bits[i]);
    return len;
}

/* The same if bits[len / 64 + 1] exists and is 0, and at <= len; fast if the bit is near. */
static inline size_t sp_scan_near(const uint64_t *bits, size_t at, size_t len)
{
    size_t i = at / 64;
    uint64_t word = bits[i] >> (at % 64) | bits[i + 1] << 1 << (63 - at % 64);
    if (__builtin_expect(word != 0, 1))
        return at + (size_t)__builtin_ctzll(word);
    return sp_scan_find(bits, i * 64 + 64, len);
}

/* The kernel in use: by default the fastest this processor has. */
const struct sp_scan_kernel *sp_scan_kernel(void);

/* Selects "avx512vbmi2", "avx512", "avx2" or "portable" (tests, benchmarks); false if the machine
 * lacks it. Not while another thread scans. */
bool sp_scan_use(const char *name);

#endif
