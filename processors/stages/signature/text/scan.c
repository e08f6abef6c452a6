/* Bitmaps of interesting bytes, 64 bytes at a time: AVX-512, AVX2 and portable kernels with
 * equal results. Source of the idea: Langdale and Lemire, "Parsing Gigabytes of JSON
 * per Second" (VLDB Journal 2019), stage 1.
 *
 * Invariant: no kernel reads at or behind text + len; the last, partial block is
 * read through a zeroed copy (zero is in no class). Nothing here can fail. */
#include "text/scan.h"

#include <string.h>

#include "base/assert.h"
#include "base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define SP_X86 1
#endif

enum { CLASS_ANGLE = 1, CLASS_CLOSE = 2, CLASS_WORD = 4, CLASS_STOP = 8 };

static inline unsigned byte_class(uint8_t c)
{
    unsigned classes = 0;
    if (c == '<' || c == '&')
        classes |= CLASS_ANGLE;
    if (c == '>' || c == '"' || c == '\'')
        classes |= CLASS_CLOSE;
    if (sp_scan_is_word((char)c))
        classes |= CLASS_WORD;
    if (c == '.' || c == '!' || c == '?' || c == (uint8_t)SP_BLOCK_SEPARATOR)
        classes |= CLASS_STOP;
    return classes;
}

static inline void portable_block(const char *text, size_t n, unsigned class_a, unsigned class_b,
                                  uint64_t *ret_a, uint64_t *ret_b)
{
    uint64_t a = 0, b = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned c = byte_class((uint8_t)text[i]);
        a |= (uint64_t)((c & class_a) != 0) << i;
        b |= (uint64_t)((c & class_b) != 0) << i;
    }
    *ret_a = a;
    *ret_b = b;
}

/* Finds edges: `behind` says whether only bytes up to ' ' came since the last '>'. */
static uint64_t portable_edges(const char *text, size_t n, size_t left, bool *behind)
{
    uint64_t edges = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (uint8_t)text[i];
        bool link =
            c == '<' && left - i > 2 && (text[i + 1] | 0x20) == 'a' && (uint8_t)text[i + 2] <= ' ';
        edges |= (uint64_t)(link || (*behind && c > ' ' && c != '<')) << i;
        *behind = c == '>' || (*behind && c <= ' ');
    }
    return edges;
}

static void markup_from(const char *text, size_t len, size_t from, bool behind,
                        const struct sp_scan_markup *ret_bits)
{
    for (size_t i = from; i <= len; i += 64) {
        size_t n = len - i < 64 ? len - i : 64;
        uint64_t end = 0;
        portable_block(text + i, n, CLASS_ANGLE, CLASS_CLOSE, &ret_bits->angle[i / 64],
                       &ret_bits->close[i / 64]);
        for (size_t k = 0; k < n; k++)
            end |= (uint64_t)(text[i + k] == '>') << k;
        ret_bits->end[i / 64] = end;
        ret_bits->edge[i / 64] = portable_edges(text + i, n, len - i, &behind);
    }
}

static void portable_markup(const char *text, size_t len, const struct sp_scan_markup *ret_bits)
{
    markup_from(text, len, 0, false, ret_bits);
}

static void portable_words(const char *text, size_t len, uint64_t *ret_word, uint64_t *ret_stop)
{
    for (size_t i = 0; i <= len; i += 64) {
        uint64_t stop;
        portable_block(text + i, len - i < 64 ? len - i : 64, CLASS_WORD, CLASS_STOP,
                       &ret_word[i / 64], &stop);
        if (ret_stop)
            ret_stop[i / 64] = stop;
    }
}

/* The bits at which a run begins or ends. `in`: whether one is open, 0 or 1. */
static inline uint64_t borders_of(uint64_t bits, uint64_t *in)
{
    uint64_t borders = bits ^ (bits << 1 | *in);
    *in = bits >> 63;
    return borders;
}

static size_t portable_borders(const uint64_t *bits, size_t blocks, uint16_t *ret_places)
{
    size_t count = 0;
    uint64_t in = 0;
    for (size_t i = 0; i < blocks; i++)
        for (uint64_t left = borders_of(bits[i], &in); left; left &= left - 1)
            ret_places[count++] = (uint16_t)(64 * i + (size_t)__builtin_ctzll(left));
    return count;
}

static size_t portable_ascii(const char *text, size_t len)
{
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t x;
        memcpy(&x, text + i, 8);
        if (x & 0x8080808080808080ull)
            break;
    }
    while (i < len && !(text[i] & 0x80))
        i++;
    return i;
}

static bool portable_equal(const char *a, const char *b, size_t len)
{
    return memcmp(a, b, len) == 0;
}

static const struct sp_scan_kernel portable = {"portable",       portable_markup, portable_words,
                                               portable_borders, portable_ascii,  portable_equal};

#if SP_X86

#define AVX512 __attribute__((target("avx512f,avx512bw,bmi,bmi2")))
#define AVX2 __attribute__((target("avx2,bmi,bmi2")))

AVX512 static inline __m512i load512(const char *text, size_t left)
{
    if (left >= 64)
        return _mm512_loadu_si512(text);
    return _mm512_maskz_loadu_epi8((1ull << left) - 1, text);
}

/* The edges of one block, from its bitmaps: a sum carries through the white space behind each '>',
 * and out of the block if that does not end in it. `link`: "<a" and white space. */
static inline uint64_t edges_of(uint64_t less, uint64_t greater, uint64_t space, uint64_t link,
                                uint64_t *behind)
{
    uint64_t next = greater << 1 | *behind, through;
    bool out = __builtin_add_overflow(next & space, space, &through);
    *behind = greater >> 63 | out;
    return ((next | through) & ~space & ~less) | link;
}

AVX512 static void avx512_markup(const char *text, size_t len,
                                 const struct sp_scan_markup *ret_bits)
{
    const __m512i lower = _mm512_set1_epi8(0x20);
    uint64_t behind = 0;
    for (size_t i = 0; i <= len; i += 64) {
        size_t left = len - i;
        __m512i x = load512(text + i, left);
        uint64_t less = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('<'));
        uint64_t greater = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('>'));
        uint64_t valid = left >= 64 ? ~0ull : (1ull << left) - 1;
        uint64_t space = _mm512_cmple_epu8_mask(x, _mm512_set1_epi8(' '));
        uint64_t link = 0;
        if (left > 2) {
            __m512i second = load512(text + i + 1, left - 1),
                    third = load512(text + i + 2, left - 2);
            link = _mm512_mask_cmpeq_epi8_mask(less & valid, _mm512_or_si512(second, lower),
                                               _mm512_set1_epi8('a')) &
                   _mm512_cmple_epu8_mask(third, _mm512_set1_epi8(' '));
            if (left < 66)
                link &= (1ull << (left - 2)) - 1;
        }
        ret_bits->angle[i / 64] = less | _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('&'));
        ret_bits->end[i / 64] = greater;
        ret_bits->close[i / 64] = greater | _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"')) |
                                  _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\''));
        ret_bits->edge[i / 64] = edges_of(less, greater, space, link, &behind) & valid;
    }
}

AVX512 static void avx512_words(const char *text, size_t len, uint64_t *ret_word,
                                uint64_t *ret_stop)
{
    for (size_t i = 0; i <= len; i += 64) {
        __m512i x = load512(text + i, len - i);
        __m512i letter =
            _mm512_sub_epi8(_mm512_or_si512(x, _mm512_set1_epi8(0x20)), _mm512_set1_epi8('a'));
        __m512i digit = _mm512_sub_epi8(x, _mm512_set1_epi8('0'));
        ret_word[i / 64] = _mm512_cmplt_epu8_mask(letter, _mm512_set1_epi8(26)) |
                           _mm512_cmplt_epu8_mask(digit, _mm512_set1_epi8(10)) |
                           _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('_')) |
                           _mm512_movepi8_mask(x);
        if (ret_stop)
            ret_stop[i / 64] = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('.')) |
                               _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('!')) |
                               _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('?')) |
                               _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(SP_BLOCK_SEPARATOR));
    }
}

AVX512 static size_t avx512_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i += 64) {
        uint64_t high = _mm512_movepi8_mask(load512(text + i, len - i));
        if (high)
            return i + (size_t)__builtin_ctzll(high);
    }
    return len;
}

AVX512 static bool avx512_equal(const char *a, const char *b, size_t len)
{
    for (; len > SP_SCAN_BLOCK; a += SP_SCAN_BLOCK, b += SP_SCAN_BLOCK, len -= SP_SCAN_BLOCK)
        if (_mm512_cmpneq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b)))
            return false;
    uint64_t differ = _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
    return differ << (SP_SCAN_BLOCK - len) == 0;
}

/* One instruction for the borders of a block, of which there are mostly fewer than 32. */
__attribute__((target("avx512f,avx512bw,avx512vbmi2,bmi,bmi2,popcnt"))) static size_t
vbmi2_borders(const uint64_t *bits, size_t blocks, uint16_t *ret_places)
{
    uint8_t numbers[64];
    for (unsigned i = 0; i < 64; i++)
        numbers[i] = (uint8_t)i;
    const __m512i all = _mm512_loadu_si512(numbers);
    size_t count = 0;
    uint64_t in = 0;
    for (size_t i = 0; i < blocks; i++) {
        uint64_t borders = borders_of(bits[i], &in);
        size_t here = (size_t)__builtin_popcountll(borders);
        __m512i places = _mm512_maskz_compress_epi8(borders, all);
        __m512i base = _mm512_set1_epi16((short)(64 * i));
        __m512i first = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places));
        _mm512_storeu_si512(ret_places + count, _mm512_add_epi16(first, base));
        if (here > 32) {
            __m512i last = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(places, 1));
            _mm512_storeu_si512(ret_places + count + 32, _mm512_add_epi16(last, base));
        }
        count += here;
    }
    return count;
}

static const struct sp_scan_kernel avx512 = {"avx512",         avx512_markup, avx512_words,
                                             portable_borders, avx512_ascii,  avx512_equal};
static const struct sp_scan_kernel avx512vbmi2 = {"avx512vbmi2", avx512_markup, avx512_words,
                                                  vbmi2_borders, avx512_ascii,  avx512_equal};

AVX2 static inline uint64_t eq2(__m256i lo, __m256i hi, char c)
{
    __m256i want = _mm256_set1_epi8(c);
    uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(lo, want));
    uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(hi, want));
    return a | (uint64_t)b << 32;
}

AVX2 static inline __m256i word256(__m256i x)
{
    /* Unsigned x < n is min(x, n - 1) == x: AVX2 compares bytes only as signed ones. */
    __m256i letter =
        _mm256_sub_epi8(_mm256_or_si256(x, _mm256_set1_epi8(0x20)), _mm256_set1_epi8('a'));
    __m256i digit = _mm256_sub_epi8(x, _mm256_set1_epi8('0'));
    letter = _mm256_cmpeq_epi8(_mm256_min_epu8(letter, _mm256_set1_epi8(25)), letter);
    digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digit, _mm256_set1_epi8(9)), digit);
    __m256i rest = _mm256_or_si256(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('_')), x);
    /* movemask looks at top bits only, so x itself stands for bytes of 0x80 and more */
    return _mm256_or_si256(_mm256_or_si256(letter, digit), rest);
}

AVX2 static inline uint64_t spaces2(__m256i lo, __m256i hi)
{
    __m256i most = _mm256_set1_epi8(' ');
    uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(lo, most), lo));
    uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(hi, most), hi));
    return a | (uint64_t)b << 32;
}

AVX2 static void avx2_markup(const char *text, size_t len, const struct sp_scan_markup *ret_bits)
{
    size_t i = 0;
    uint64_t behind = 0;
    for (; i + 66 <= len; i += 64) { /* two bytes behind the block are looked at */
        __m256i lo = _mm256_loadu_si256((const __m256i *)(text + i));
        __m256i hi = _mm256_loadu_si256((const __m256i *)(text + i + 32));
        uint64_t less = eq2(lo, hi, '<'), greater = eq2(lo, hi, '>'), space = spaces2(lo, hi);
        uint64_t a = eq2(lo, hi, 'a') | eq2(lo, hi, 'A');
        a = a >> 1 | (uint64_t)((text[i + 64] | 0x20) == 'a') << 63;
        uint64_t third = space >> 2 | (uint64_t)((uint8_t)text[i + 64] <= ' ') << 62 |
                         (uint64_t)((uint8_t)text[i + 65] <= ' ') << 63;
        ret_bits->angle[i / 64] = less | eq2(lo, hi, '&');
        ret_bits->end[i / 64] = greater;
        ret_bits->close[i / 64] = greater | eq2(lo, hi, '"') | eq2(lo, hi, '\'');
        ret_bits->edge[i / 64] = edges_of(less, greater, space, less & a & third, &behind);
    }
    markup_from(text, len, i, behind, ret_bits);
}

AVX2 static inline void avx2_words_of_block(const char *text, uint64_t *ret_word,
                                            uint64_t *ret_stop)
{
    __m256i lo = _mm256_loadu_si256((const __m256i *)text);
    __m256i hi = _mm256_loadu_si256((const __m256i *)(text + 32));
    uint32_t a = (uint32_t)_mm256_movemask_epi8(word256(lo));
    uint32_t b = (uint32_t)_mm256_movemask_epi8(word256(hi));
    *ret_word = a | (uint64_t)b << 32;
    if (ret_stop)
        *ret_stop = eq2(lo, hi, '.') | eq2(lo, hi, '!') | eq2(lo, hi, '?') |
                    eq2(lo, hi, SP_BLOCK_SEPARATOR);
}

AVX2 static void avx2_words(const char *text, size_t len, uint64_t *ret_word, uint64_t *ret_stop)
{
    char last[64] = {0}; /* a zero is neither in a word nor a stop */
    size_t i = 0;
    for (; i + 64 <= len; i += 64)
        avx2_words_of_block(text + i, ret_word + i / 64, ret_stop ? ret_stop + i / 64 : NULL);
    memcpy(last, text + i, len - i);
    avx2_words_of_block(last, ret_word + i / 64, ret_stop ? ret_stop + i / 64 : NULL);
}

AVX2 static size_t avx2_ascii(const char *text, size_t len)
{
    size_t i = 0;
    for (; i + 32 <= len; i += 32) {
        uint32_t high =
            (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(text + i)));
        if (high)
            return i + (size_t)__builtin_ctz(high);
    }
    return i + portable_ascii(text + i, len - i);
}

AVX2 static bool avx2_equal(const char *a, const char *b, size_t len)
{
    for (;; a += SP_SCAN_BLOCK, b += SP_SCAN_BLOCK, len -= SP_SCAN_BLOCK) {
        __m256i lo = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)a),
                                       _mm256_loadu_si256((const __m256i *)b));
        __m256i hi = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(a + 32)),
                                       _mm256_loadu_si256((const __m256i *)(b + 32)));
        uint32_t low = (uint32_t)_mm256_movemask_epi8(lo);
        uint64_t differ = ~(low | (uint64_t)(uint32_t)_mm256_movemask_epi8(hi) << 32);
        if (len <= SP_SCAN_BLOCK)
            return differ << (SP_SCAN_BLOCK - len) == 0;
        if (differ)
            return false;
    }
}

/* Writes as many places as a block of words mostly has, and then eight at a time: the end of a loop
 * over the bits could not be predicted. */
__attribute__((target("avx2,bmi,popcnt"))) static size_t
avx2_borders(const uint64_t *bits, size_t blocks, uint16_t *ret_places)
{
    enum { MOSTLY = 16, MORE = 8 };
    size_t count = 0;
    uint64_t in = 0;
    for (size_t i = 0; i < blocks; i++) {
        uint64_t left = borders_of(bits[i], &in);
        size_t here = (size_t)__builtin_popcountll(left);
        uint16_t *to = ret_places + count;
        for (size_t k = 0; k < MOSTLY; k++, left &= left - 1)
            to[k] = (uint16_t)(64 * i + _tzcnt_u64(left));
        for (size_t from = MOSTLY; from < here; from += MORE)
            for (size_t k = 0; k < MORE; k++, left &= left - 1)
                to[from + k] = (uint16_t)(64 * i + _tzcnt_u64(left));
        count += here;
    }
    return count;
}

static const struct sp_scan_kernel avx2 = {"avx2",       avx2_markup, avx2_words,
                                           avx2_borders, avx2_ascii,  avx2_equal};

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_vbmi2(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vbmi2");
}
#endif

static const struct sp_scan_kernel *in_use = &portable;

__attribute__((constructor)) static void choose(void)
{
#if SP_X86
    __builtin_cpu_init();
    in_use = has_vbmi2()         ? &avx512vbmi2
             : has_avx512()      ? &avx512
             : sp_cpu_has_avx2() ? &avx2
                                 : &portable;
#endif
}

const struct sp_scan_kernel *sp_scan_kernel(void)
{
    return in_use;
}

bool sp_scan_use(const char *name)
{
    const struct sp_scan_kernel *wanted = NULL;
    if (strcmp(name, "portable") == 0)
        wanted = &portable;
#if SP_X86
    if (strcmp(name, "avx512vbmi2") == 0 && has_vbmi2())
        wanted = &avx512vbmi2;
    if (strcmp(name, "avx512") == 0 && has_avx512())
        wanted = &avx512;
    if (strcmp(name, "avx2") == 0 && sp_cpu_has_avx2())
        wanted = &avx2;
#endif
    if (wanted)
        in_use = wanted;
    return wanted != NULL;
}
