/* See digest.h. SHA-1: FIPS 180-4, section 6.1; base 32: RFC 4648, section 6. */
#include "archive/digest.h"

static uint32_t rotated(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

static void take_block(uint32_t state[5], const unsigned char *block)
{
    uint32_t w[80];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (unsigned i = 16; i < 80; i++)
        w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (unsigned i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                     : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                     : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                              : (b ^ c ^ d) + 0xca62c1d6u;
        uint32_t next = rotated(a, 5) + f + e + w[i];
        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

static void sha1(struct sp_view bytes, unsigned char ret_hash[20])
{
    uint32_t state[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    unsigned char last[128] = {0};
    size_t whole = bytes.len / 64 * 64, rest = bytes.len - whole;
    for (size_t at = 0; at < whole; at += 64)
        take_block(state, (const unsigned char *)bytes.data + at);
    if (rest > 0)
        memcpy(last, bytes.data + whole, rest);
    last[rest] = 0x80;
    size_t padded = rest < 56 ? 64 : 128;
    for (unsigned i = 0; i < 8; i++)
        last[padded - 1 - i] = (unsigned char)((uint64_t)bytes.len * 8 >> 8 * i);
    for (size_t at = 0; at < padded; at += 64)
        take_block(state, last + at);
    for (unsigned i = 0; i < 20; i++)
        ret_hash[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sp_digest(struct sp_view bytes, char ret_text[SP_DIGEST_BYTES])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned char hash[20];
    sha1(bytes, hash);
    memcpy(ret_text, "sha1:", 5);
    for (unsigned i = 0; i < 32; i++) { /* 160 bits, five at a time */
        unsigned bit = 5 * i, byte = bit / 8;
        unsigned pair = (unsigned)hash[byte] << 8 | (byte + 1 < 20 ? hash[byte + 1] : 0);
        ret_text[5 + i] = letters[pair >> (11 - bit % 8) & 31];
    }
    ret_text[37] = 0;
}
