/* Response bodies in the content codings of HTTP. */
#include <zlib.h>

#include "harness.h"
#include "warc_helper.h"

TEST(gzip_and_deflate_bodies_are_decompressed)
{
    static const struct {
        const char *encoding;
        int bits;
    } kinds[] = {{"gzip", 31}, {"x-gzip", 31}, {"GZIP", 31}, {"deflate", 15}, {"deflate", -15}};
    struct sp_buf text = {0};
    for (int i = 0; i < 20000; i++)
        put_format(&text, "word%d ", i);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int chunked = 0; chunked < 2; chunked++) {
            struct sp_buf packed = {0}, wire = {0};
            z_stream z = {0};
            deflateInit2(&z, 9, Z_DEFLATED, kinds[i].bits, 8, Z_DEFAULT_STRATEGY);
            z.next_in = (Bytef *)text.data;
            z.avail_in = (uInt)text.len;
            z.next_out = (Bytef *)sp_buf_reserve(&packed, text.len + 1000);
            z.avail_out = (uInt)text.len + 1000;
            CU_ASSERT_EQUAL_FATAL(deflate(&z, Z_FINISH), Z_STREAM_END);
            packed.len = z.total_out;
            deflateEnd(&z);
            put_format(&wire, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n%s\r\n",
                       kinds[i].encoding, chunked ? "Transfer-Encoding: chunked\r\n" : "");
            if (chunked)
                put_format(&wire, "%zx\r\n", packed.len);
            sp_buf_put_view(&wire, sp_buf_view(&packed));
            if (chunked)
                sp_buf_put_str(&wire, "\r\n0\r\n\r\n");
            struct got g = read_wire(sp_buf_view(&wire));
            CU_ASSERT_EQUAL_FATAL(g.items[0].err, SP_OK);
            CU_ASSERT(sp_view_eq(g.items[0].page.content, sp_buf_view(&text)));
            got_done(&g);
            sp_buf_done(&packed);
            sp_buf_done(&wire);
        }
    }
    sp_buf_done(&text);
}

TEST(a_body_stored_decompressed_under_its_old_header_is_taken_as_it_is)
{
    check_body("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n<p>text</p>", "<p>text</p>");
    check_body("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n<p>text</p>", "<p>text</p>");
    /* Seems to be a few bytes of raw deflate. */
    check_body("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n\n<!DOCTYPE html>\n<p>t",
               "\n<!DOCTYPE html>\n<p>t");
    check_body("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n{\"a\":1}", "{\"a\":1}");
    check_body("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\n\r\n<p>text</p>", "<p>text</p>");
}

TEST(a_text_under_a_coding_that_does_not_exist_is_taken_as_it_is)
{
    static const char *const names[] = {"UTF-8", "none", "text/html", "utf-8, gzip", "compress"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_buf wire = {0};
        put_format(&wire, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n<p>caf\xc3\xa9</p>",
                   names[i]);
        struct got g = read_wire(sp_buf_view(&wire));
        check_page(&g, 0, "http://u/a/b", "<p>caf\xc3\xa9</p>");
        got_done(&g);
        sp_buf_done(&wire);
    }
}

TEST(white_space_before_the_colon_of_a_field_does_not_hide_it)
{
    struct sp_buf wire = {0};
    sp_buf_put_str(&wire,
                   "HTTP/1.1 200 OK\r\nContent-Encoding-2: br\r\nContent-Type : text/html\r\n"
                   "Content-Encoding \t: gzip\r\n\r\n");
    put_gzip(&wire, sp_view_str("<p>text</p>"));
    struct got g = read_wire(sp_buf_view(&wire));
    check_page(&g, 0, "http://u/a/b", "<p>text</p>");
    CU_ASSERT_TRUE(sp_view_is_word(g.items[0].page.content_type, "text/html"));
    got_done(&g);
    sp_buf_done(&wire);
}

TEST(damaged_truncated_and_foreign_content_encodings_are_dead_letters)
{
    struct sp_buf wire = {0}, packed = {0}, text = {0};
    for (int i = 0; i < 500; i++)
        put_format(&text, "word%d ", i);
    put_gzip(&packed, sp_buf_view(&text));
    sp_buf_put_str(&wire, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
    size_t header = wire.len;
    sp_buf_put_view(&wire, sp_buf_view(&packed));
    struct got g = read_wire(sp_view(wire.data, wire.len - 20));
    check_bad(&g, 0, SP_TRUNCATED, "compression is damaged");
    got_done(&g);
    memset(wire.data + header + packed.len / 2, 0xff, 30);
    g = read_wire(sp_buf_view(&wire));
    check_bad(&g, 0, SP_MALFORMED, "compression is damaged");
    got_done(&g);
    g = read_wire_text("HTTP/1.1 200 OK\r\nContent-Encoding: compress\r\n\r\n\x1f\x9d");
    check_bad(&g, 0, SP_MALFORMED, "Content-Encoding is not");
    got_done(&g);
    sp_buf_done(&wire);
    sp_buf_done(&packed);
    sp_buf_done(&text);
}

static void put_coded(struct sp_buf *out, const char *coding, struct sp_view bytes)
{
    if (strcmp(coding, "br") == 0)
        put_brotli(out, bytes);
    else if (strcmp(coding, "zstd") == 0)
        put_zstd(out, bytes);
    else
        put_gzip(out, bytes);
}

/* A response with this header line and exactly this body. */
static struct got read_coded(const char *header, struct sp_view body)
{
    struct sp_buf wire = {0};
    put_format(&wire, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n", header);
    sp_buf_put_view(&wire, body);
    struct got g = read_wire(sp_buf_view(&wire));
    sp_buf_done(&wire);
    return g;
}

static void put_words(struct sp_buf *out, int from, int to)
{
    for (int i = from; i < to; i++)
        put_format(out, "word%d ", i);
}

static void check_text(struct got *g, struct sp_view text)
{
    CU_ASSERT_EQUAL_FATAL(g->items[0].err, SP_OK);
    CU_ASSERT(sp_view_eq(g->items[0].page.content, text));
    got_done(g);
}

TEST(brotli_and_zstandard_bodies_are_decompressed)
{
    static const char *const codings[] = {"br", "BR", "zstd", "Zstd"};
    static const int words[] = {0, 1, 20000};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            struct sp_buf text = {0}, packed = {0};
            put_words(&text, 0, words[k]);
            put_coded(&packed, i < 2 ? "br" : "zstd", sp_buf_view(&text));
            struct got g = read_coded(codings[i], sp_buf_view(&packed));
            check_text(&g, sp_buf_view(&text));
            sp_buf_done(&text);
            sp_buf_done(&packed);
        }
}

static void check_parts(const char *coding)
{
    struct sp_buf text = {0}, packed = {0}, part = {0};
    for (int i = 0; i < 3; i++) {
        sp_buf_reset(&part);
        put_words(&part, i * 9000, (i + 1) * 9000);
        sp_buf_put_view(&text, sp_buf_view(&part));
        put_coded(&packed, coding, sp_buf_view(&part));
    }
    struct got g = read_coded(coding, sp_buf_view(&packed));
    check_text(&g, sp_buf_view(&text));
    sp_buf_put_str(&packed, "\n"); /* what some servers send behind the body */
    if (strcmp(coding, "gzip") == 0) {
        g = read_coded(coding, sp_buf_view(&packed));
        check_text(&g, sp_buf_view(&text));
    }
    sp_buf_done(&text);
    sp_buf_done(&packed);
    sp_buf_done(&part);
}

TEST(parts_that_were_compressed_one_by_one_are_one_body)
{
    check_parts("gzip");
    check_parts("zstd");
}

TEST(codings_on_top_of_one_another_are_undone_from_the_last_to_the_first)
{
    struct sp_buf text = {0}, first = {0}, second = {0}, third = {0};
    put_words(&text, 0, 3000);
    put_gzip(&first, sp_buf_view(&text));
    put_brotli(&second, sp_buf_view(&first));
    put_zstd(&third, sp_buf_view(&second));
    struct got g = read_coded("gzip, br", sp_buf_view(&second));
    check_text(&g, sp_buf_view(&text));
    g = read_coded("gzip ,br,zstd", sp_buf_view(&third));
    check_text(&g, sp_buf_view(&text));
    g = read_coded("gzip, gzip", sp_buf_view(&first)); /* named twice, applied once */
    check_text(&g, sp_buf_view(&text));
    g = read_coded("identity, gzip, br, zstd, br", sp_buf_view(&third));
    check_bad(&g, 0, SP_MALFORMED, "compression is damaged");
    got_done(&g);
    g = read_coded("identity, gzip, gzip, gzip", sp_buf_view(&first));
    check_bad(&g, 0, SP_MALFORMED, "more than three");
    got_done(&g);
    sp_buf_done(&text);
    sp_buf_done(&first);
    sp_buf_done(&second);
    sp_buf_done(&third);
}

TEST(a_text_under_the_header_of_brotli_or_zstandard_is_taken_as_it_is)
{
    static const char *const texts[] = {
        "<p>text</p>", "<!DOCTYPE html>\n<html><body>caf\xe9</body></html>",
        "plain words, some of them long enough",
        ";a text whose first byte is an empty stream of brotli", "{\"json\": true}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct got g = read_coded("br", sp_view_str(texts[i]));
        check_page(&g, 0, "http://u/a/b", texts[i]);
        got_done(&g);
        g = read_coded("zstd", sp_view_str(texts[i]));
        check_page(&g, 0, "http://u/a/b", texts[i]);
        got_done(&g);
    }
}

TEST(damaged_brotli_and_zstandard_bodies_are_dead_letters)
{
    static const char *const codings[] = {"br", "zstd"};
    struct sp_buf text = {0};
    put_words(&text, 0, 5000);
    for (size_t i = 0; i < 2; i++) {
        struct sp_buf packed = {0};
        put_coded(&packed, codings[i], sp_buf_view(&text));
        struct got g = read_coded(codings[i], sp_view(packed.data, packed.len - 20));
        check_bad(&g, 0, SP_TRUNCATED, "compression is damaged");
        got_done(&g);
        sp_buf_put_str(&packed, "behind");
        g = read_coded(codings[i], sp_buf_view(&packed));
        CU_ASSERT_NOT_EQUAL(g.items[0].err, SP_OK);
        check_bad(&g, 0, g.items[0].err, "compression is damaged");
        got_done(&g);
        memset(packed.data + packed.len / 3, 0xff, packed.len / 3);
        g = read_coded(codings[i], sp_buf_view(&packed));
        CU_ASSERT_NOT_EQUAL(g.items[0].err, SP_OK);
        check_bad(&g, 0, g.items[0].err, "compression is damaged");
        got_done(&g);
        sp_buf_done(&packed);
    }
    sp_buf_done(&text);
}

TEST(a_zstandard_window_above_that_of_the_rfc_is_refused)
{
    /* A frame of unknown size with a window of 16 MiB, and an empty last block. */
    static const char frame[] = "\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00";
    struct got g = read_coded("zstd", sp_view(frame, sizeof frame - 1));
    check_bad(&g, 0, SP_TOO_LARGE, "zstd window");
    got_done(&g);
    static const char small[] = "\x28\xb5\x2f\xfd\x00\x68\x01\x00\x00"; /* a window of 8 MiB */
    g = read_coded("zstd", sp_view(small, sizeof small - 1));
    check_page(&g, 0, "http://u/a/b", "");
    got_done(&g);
}

TEST(a_body_that_grows_beyond_the_limit_is_a_dead_letter)
{
    static const char *const codings[] = {"gzip", "br", "zstd"};
    struct sp_buf zeros = {0};
    struct reading how = {.max_record_bytes = 1 << 20};
    put_times(&zeros, '0', 64 << 20);
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        struct sp_buf wire = {0}, file = {0};
        put_format(&wire, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n", codings[i]);
        put_coded(&wire, codings[i], sp_buf_view(&zeros));
        put_record_as(&file, "\r\n", "response", "http://u/", "", sp_buf_view(&wire), -1);
        put_response(&file, "http://v/", "v");
        struct got g = read_bytes(sp_buf_view(&file), &how);
        CU_ASSERT_EQUAL_FATAL(g.count, 2);
        check_bad(&g, 0, SP_TOO_LARGE, "decompressed body");
        check_page(&g, 1, "http://v/", "v");
        got_done(&g);
        sp_buf_done(&wire);
        sp_buf_done(&file);
    }
    sp_buf_done(&zeros);
}
