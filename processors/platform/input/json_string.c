/* See json_string.h.
 *
 * Of each block of 64 bytes, bitmaps say where the backslashes, quotes and control characters are.
 * The characters after backslashes are replaced by a table look-up, and the backslashes are
 * removed: by a compression (AVX-512 VBMI2), or eight bytes at a time by a shuffle whose order a
 * table has for each of the 256 bitmaps (AVX2). A string without a backslash is not copied. */
#include "input/json_string.h"

#include <stddef.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { BLOCK = SP_JSON_BLOCK };

/* A bit for each byte of a block. */
struct marks {
    uint64_t backslash;
    uint64_t quote;
    uint64_t control; /* below 0x20 */
    uint64_t high;    /* 0x80 and more */
};

typedef struct marks (*mark_fn)(const char *at);

/* Copies a block without the bytes `begin`, and with the meanings of the bytes `escaped`. Returns
 * of which bytes a meaning is known. */
typedef uint64_t (*put_fn)(const char *at, uint64_t begin, uint64_t escaped, char *out);

#define INLINE inline __attribute__((always_inline))

/* The characters after the backslashes that begin an escape. Only runs of backslashes need thought:
 * a subtraction carries through each, as in simdjson ("odd-length sequences"). */
static inline uint64_t escaped_by(uint64_t backslash, uint64_t *ret_begin)
{
    const uint64_t odd = 0xAAAAAAAAAAAAAAAAull;
    uint64_t behind = backslash << 1;
    *ret_begin = backslash;
    if (!(behind & backslash))
        return behind;
    uint64_t code = (((behind | odd) - backslash) ^ odd);
    *ret_begin = code & backslash;
    return code ^ backslash;
}

static int hex_value(char c)
{
    if ((unsigned)(c - '0') < 10u)
        return c - '0';
    unsigned letter = (unsigned)((c | 0x20) - 'a');
    return letter < 6u ? (int)letter + 10 : -1;
}

/* The number in "\uXXXX" at `at`; -1: it is not one. */
static int32_t code_unit(const char *at)
{
    int32_t x = 0;
    if (at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0)
            return -1;
        x = x << 4 | digit;
    }
    return x;
}

/* Unescapes "\uXXXX", or two that are one character. May read behind the line. */
static bool take_code_point(struct sp_json_place *p)
{
    int32_t x = code_unit(p->at), low;
    uint8_t *out = (uint8_t *)p->out;
    if (x < 0)
        return false;
    p->at += 6;
    if (x >= 0xD800 && x < 0xE000) {
        low = code_unit(p->at);
        if (x >= 0xDC00 || low < 0xDC00 || low >= 0xE000)
            return false;
        p->at += 6;
        x = 0x10000 + ((x - 0xD800) << 10) + (low - 0xDC00);
        *out++ = (uint8_t)(0xF0 | x >> 18);
        *out++ = (uint8_t)(0x80 | (x >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (x >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (x & 0x3F));
    } else if (x >= 0x800) {
        *out++ = (uint8_t)(0xE0 | x >> 12);
        *out++ = (uint8_t)(0x80 | (x >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (x & 0x3F));
    } else if (x >= 0x80) {
        *out++ = (uint8_t)(0xC0 | x >> 6);
        *out++ = (uint8_t)(0x80 | (x & 0x3F));
    } else {
        *out++ = (uint8_t)x;
    }
    p->out = (char *)out;
    return true;
}

static INLINE uint64_t first_bits(unsigned n)
{
    return n < 64 ? (1ull << n) - 1 : UINT64_MAX;
}

/* Unescapes from p->at, where a string's first backslash is, to its closing quote, at which p->at
 * is left. */
static INLINE bool unescape(struct sp_json_place *p, mark_fn mark, put_fn put)
{
    while (p->at < p->end) {
        struct marks m = mark(p->at);
        uint64_t begin, escaped = escaped_by(m.backslash, &begin);
        uint64_t stop = (m.quote & ~escaped) | m.control;
        /* An escape that the block cuts is left to the next block. */
        unsigned n = stop ? (unsigned)__builtin_ctzll(stop) : BLOCK - (unsigned)(begin >> 63);
        uint64_t other = escaped & first_bits(n) & ~put(p->at, begin, escaped, p->out);
        p->high |= m.high;
        if (other) /* its backslash is in the block, because no escape was cut before it */
            n = (unsigned)__builtin_ctzll(other) - 1;
        p->out += __builtin_popcountll(first_bits(n) & ~begin);
        p->at += n;
        if (other) {
            if (!take_code_point(p))
                return false;
        } else if (stop) {
            return p->at < p->end && *p->at == '"';
        }
    }
    return false;
}

static INLINE bool read_string(struct sp_json_place *p, struct sp_view *ret_text, mark_fn mark,
                               put_fn put)
{
    const char *start = ++p->at;
    uint64_t stop = 0;
    for (; p->at < p->end; p->at += BLOCK) {
        struct marks m = mark(p->at);
        stop = m.backslash | m.quote | m.control;
        p->high |= m.high;
        if (stop)
            break;
    }
    if (!stop)
        return false;
    p->at += __builtin_ctzll(stop);
    if (p->at >= p->end)
        return false;
    size_t len = (size_t)(p->at - start);
    *ret_text = sp_view(start, len);
    if (*p->at == '\\') {
        char *text = p->out;
        memcpy(text, start, len);
        p->out += len;
        if (!unescape(p, mark, put))
            return false;
        *ret_text = sp_view(text, (size_t)(p->out - text));
    } else if (*p->at != '"') {
        return false;
    }
    p->at++;
    return true;
}

/* ---- AVX-512 ---- */

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

/* What a character after a backslash stands for; 0: \u, or an error. */
static const char meaning[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

AVX512 static inline struct marks mark_avx512(const char *at)
{
    __m512i x = _mm512_loadu_si512(at);
    return (struct marks){.backslash = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\\')),
                          .quote = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"')),
                          .control = _mm512_cmplt_epu8_mask(x, _mm512_set1_epi8(' ')),
                          .high = _mm512_movepi8_mask(x)};
}

AVX512 static inline uint64_t put_avx512(const char *at, uint64_t begin, uint64_t escaped,
                                         char *out)
{
    const __m512i low = _mm512_loadu_si512(meaning), high = _mm512_loadu_si512(meaning + BLOCK);
    __m512i x = _mm512_loadu_si512(at), meant = _mm512_permutex2var_epi8(low, x, high);
    uint64_t known = _mm512_test_epi8_mask(meant, meant) & ~_mm512_movepi8_mask(x);
    x = _mm512_mask_mov_epi8(x, escaped, meant);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(~begin, x));
    return known;
}

AVX512 static bool read_avx512(struct sp_json_place *p, struct sp_view *ret_text)
{
    return read_string(p, ret_text, mark_avx512, put_avx512);
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
}

/* ---- AVX2 ---- */

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* For each bitmap of eight bytes, the numbers of those that are kept, in order. */
static uint8_t kept[256][8];

__attribute__((constructor)) static void fill_kept(void)
{
    for (unsigned bits = 0; bits < 256; bits++)
        for (uint8_t i = 0, n = 0; i < 8; i++)
            if (bits >> i & 1)
                kept[bits][n++] = i;
}

AVX2 static inline uint64_t bits_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

AVX2 static inline __m256i half(const char *at, size_t i)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)(at + 32 * i));
}

AVX2 static inline struct marks mark_avx2(const char *at)
{
    const __m256i backslash = _mm256_set1_epi8('\\'), quote = _mm256_set1_epi8('"');
    const __m256i control = _mm256_set1_epi8(' ' - 1);
    __m256i a = half(at, 0), b = half(at, 1);
    return (struct marks){
        .backslash = bits_of(_mm256_cmpeq_epi8(a, backslash), _mm256_cmpeq_epi8(b, backslash)),
        .quote = bits_of(_mm256_cmpeq_epi8(a, quote), _mm256_cmpeq_epi8(b, quote)),
        .control = bits_of(_mm256_cmpeq_epi8(_mm256_min_epu8(a, control), a),
                           _mm256_cmpeq_epi8(_mm256_min_epu8(b, control), b)),
        .high = bits_of(a, b)};
}

/* What each byte means after a backslash; 0: nothing known. */
AVX2 static inline __m256i meanings(__m256i x)
{
    /* by the lower half of 'b' and 'f', 'n' (0x60), and of 'r', 't' (0x70) */
    const __m256i six = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 0, '\b', 0, 0, 0, '\f', 0, 0, 0, 0, 0, 0, 0, '\n', 0));
    const __m256i seven = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 0, '\r', 0, '\t', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    const __m256i upper = _mm256_set1_epi8((char)0xf0), lower = _mm256_set1_epi8(0x0f);
    __m256i row = _mm256_and_si256(x, upper), column = _mm256_and_si256(x, lower);
    __m256i in_six = _mm256_and_si256(_mm256_cmpeq_epi8(row, _mm256_set1_epi8(0x60)),
                                      _mm256_shuffle_epi8(six, column));
    __m256i in_seven = _mm256_and_si256(_mm256_cmpeq_epi8(row, _mm256_set1_epi8(0x70)),
                                        _mm256_shuffle_epi8(seven, column));
    __m256i itself = _mm256_or_si256(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('\\')),
                                     _mm256_or_si256(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('"')),
                                                     _mm256_cmpeq_epi8(x, _mm256_set1_epi8('/'))));
    return _mm256_or_si256(_mm256_or_si256(in_six, in_seven), _mm256_and_si256(itself, x));
}

/* 0xff for each bit. */
AVX2 static inline __m256i bytes_of(uint32_t bits)
{
    const __m256i from =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201ull);
    __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)bits), from);
    return _mm256_cmpeq_epi8(_mm256_and_si256(x, bit), bit);
}

AVX2 static inline uint64_t put_avx2(const char *at, uint64_t begin, uint64_t escaped, char *out)
{
    const __m256i zero = _mm256_setzero_si256();
    char block[BLOCK];
    __m256i unknown[2];
    if (!begin) {
        memcpy(out, at, BLOCK);
        return UINT64_MAX;
    }
    for (size_t i = 0; i < 2; i++) {
        __m256i x = half(at, i), meant = meanings(x);
        unknown[i] = _mm256_cmpeq_epi8(meant, zero);
        x = _mm256_blendv_epi8(x, meant, bytes_of((uint32_t)(escaped >> 32 * i)));
        _mm256_storeu_si256((__m256i *)(void *)(block + 32 * i), x);
    }
    for (size_t i = 0; i < BLOCK / 8; i++) {
        unsigned bits = ~begin >> 8 * i & 0xff;
        __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)(block + 8 * i));
        __m128i order = _mm_loadl_epi64((const __m128i *)(const void *)kept[bits]);
        _mm_storel_epi64((__m128i *)(void *)out, _mm_shuffle_epi8(eight, order));
        out += __builtin_popcount(bits);
    }
    return ~bits_of(unknown[0], unknown[1]);
}

AVX2 static bool read_avx2(struct sp_json_place *p, struct sp_view *ret_text)
{
    return read_string(p, ret_text, mark_avx2, put_avx2);
}

sp_json_string_fn sp_json_string_reader(const char *name)
{
    if (has_avx512() && (!name || strcmp(name, "avx512vbmi2") == 0))
        return read_avx512;
    if (sp_cpu_has_avx2() && (!name || strcmp(name, "avx2") == 0))
        return read_avx2;
    return NULL;
}

#else

sp_json_string_fn sp_json_string_reader(const char *name)
{
    (void)name;
    return NULL;
}

#endif
