/* Lines and WARC in gzip and Zstandard, intact and damaged. */
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

#include "harness.h"
#include "warc_helper.h"

static void put_line(struct sp_buf *out, int number)
{
    put_format(out, "{\"url\":\"http://u/%d\",\"content\":\"text %d\"}\n", number, number);
}

static void check_line(const struct got *g, size_t i, int number)
{
    char url[32], content[32];
    snprintf(url, sizeof url, "http://u/%d", number);
    snprintf(content, sizeof content, "text %d", number);
    check_page(g, i, url, content);
}

static void put_lines(struct sp_buf *out, int from, int to)
{
    for (int i = from; i < to; i++)
        put_line(out, i);
}

/* Appends a member of lines [from, to); returns its length. */
static size_t put_member(struct sp_buf *file, int from, int to)
{
    struct sp_buf text = {0};
    size_t before = file->len;
    put_lines(&text, from, to);
    put_gzip(file, sp_buf_view(&text));
    sp_buf_done(&text);
    return file->len - before;
}

static void put_frame(struct sp_buf *file, int from, int to)
{
    struct sp_buf text = {0};
    put_lines(&text, from, to);
    put_zstd(file, sp_buf_view(&text));
    sp_buf_done(&text);
}

TEST(gzip_members_are_read_as_one_text)
{
    struct sp_buf file = {0};
    put_member(&file, 0, 3);
    put_gzip(&file, sp_view_str("")); /* an empty member is valid */
    put_member(&file, 3, 4);
    put_gzip(&file, sp_view_str("{\"url\":\"http://u/4\",\"con")); /* spans two members */
    put_gzip(&file, sp_view_str("tent\":\"text 4\"}\n"));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 5);
    for (int i = 0; i < 5; i++)
        check_line(&g, (size_t)i, i);
    got_done(&g);
    sp_buf_done(&file);
}

TEST(zstandard_frames_are_read_as_one_text)
{
    static const char skippable[] = "\x50\x2a\x4d\x18\x04\0\0\0abcd";
    struct sp_buf file = {0};
    put_frame(&file, 0, 3);
    sp_buf_put(&file, skippable, sizeof skippable - 1);
    put_zstd(&file, sp_view_str(""));
    put_frame(&file, 3, 5);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 5);
    for (int i = 0; i < 5; i++)
        check_line(&g, (size_t)i, i);
    got_done(&g);
    sp_buf_done(&file);
}

/* Tapes and some tools fill the last block of a file with zeros; gzip ignores them as well. */
TEST(zeros_behind_a_gzip_member_are_padding)
{
    for (size_t zeros = 1; zeros < 1u << 20; zeros = zeros * 7 + 1) {
        struct sp_buf file = {0};
        put_member(&file, 0, 3);
        put_times(&file, 0, zeros);
        put_member(&file, 3, 4);
        put_times(&file, 0, zeros);
        struct got g = read_and_drop(&file, NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 4);
        for (int i = 0; i < 4; i++)
            check_line(&g, (size_t)i, i);
        got_done(&g);
    }
}

static void put_table(struct sp_buf *out, int rows)
{
    sp_buf_put_str(out, "url,content\n");
    for (int i = 0; i < rows; i++) {
        put_format(out, "http://u/%d,\"text, ", i);
        put_noise(out, (uint64_t)i, 100);
        sp_buf_put_str(out, i % 2 ? "\"\n" : " and more\"\n");
    }
}

/* Wherever a compressed table ends, each page has its whole text, and the damage is told once. */
TEST(a_table_that_is_cut_within_a_row_makes_up_no_page)
{
    enum { ROWS = 8 };
    struct sp_buf text = {0}, file = {0};
    put_table(&text, ROWS);
    put_gzip(&file, sp_buf_view(&text));
    struct got whole = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(whole.pages, ROWS);
    for (size_t len = 200; len < file.len; len++) {
        struct got g = read_bytes(sp_view(file.data, len), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, g.pages + 1);
        check_bad(&g, g.pages, SP_TRUNCATED, "ends within a member");
        for (size_t i = 0; i < g.pages; i++)
            CU_ASSERT(same_page(&g.items[i].page, &whole.items[i].page));
        got_done(&g);
    }
    got_done(&whole);
    sp_buf_done(&text);
    sp_buf_done(&file);
}

TEST(after_damage_within_a_row_a_table_goes_on_at_the_next_member)
{
    static const char *const cut[] = {"http://u/1,te", "http://u/1,\"one, two", "http://u/1", "h"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        struct sp_buf file = {0};
        char text[128];
        snprintf(text, sizeof text, "url,content\nhttp://u/0,text\n%s", cut[i]);
        put_damaged_gzip(&file, sp_view_str(text));
        put_gzip(&file, sp_view_str("http://u/2,more\n"));
        struct got g = read_and_drop(&file, NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 3);
        check_page(&g, 0, "http://u/0", "text");
        check_bad(&g, 1, SP_MALFORMED, "damaged");
        check_page(&g, 2, "http://u/2", "more");
        got_done(&g);
    }
}

TEST(a_table_whose_head_is_damaged_is_not_read)
{
    struct sp_buf file = {0};
    put_damaged_gzip(&file, sp_view_str("url,content,langu"));
    put_gzip(&file, sp_view_str("age\nhttp://u/2,more\n"));
    struct got g = read_and_drop(&file, NULL);
    CU_ASSERT_EQUAL(g.pages, 0);
    CU_ASSERT_EQUAL_FATAL(g.count, 1);
    check_bad(&g, 0, SP_MALFORMED, "damaged");
    got_done(&g);
}

TEST(offsets_are_those_of_the_decompressed_file)
{
    struct sp_buf file = {0}, text = {0};
    put_lines(&text, 0, 2);
    put_member(&file, 0, 2);
    put_member(&file, 2, 3);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 3);
    CU_ASSERT_EQUAL(g.items[2].offset, text.len);
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&text);
}

/* Damages each byte of the second of three members, one at a time. */
TEST(after_a_damaged_gzip_member_reading_goes_on_at_the_next)
{
    struct sp_buf file = {0};
    size_t first = put_member(&file, 0, 3), second = put_member(&file, 3, 6);
    put_member(&file, 6, 9);
    for (size_t at = first; at < first + second; at++) {
        size_t in_member = at - first;
        if (in_member >= 4 && in_member < 10)
            continue; /* time, flags and system: ignored by the reader */
        struct sp_buf copy = {0};
        sp_buf_put_view(&copy, sp_buf_view(&file));
        copy.data[at] ^= 0x55;
        struct got g = read_bytes(sp_buf_view(&copy), NULL);
        CU_ASSERT_FATAL(g.count >= 7);
        CU_ASSERT_EQUAL(g.end, SP_END);
        size_t damages = 0;
        for (int i = 0; i < 3; i++) {
            check_line(&g, (size_t)i, i);
            check_line(&g, g.count - 3 + (size_t)i, 6 + i);
        }
        for (size_t i = 3; i < g.count - 3; i++)
            damages += g.items[i].err != SP_OK && strstr(g.items[i].why, "compressed file");
        if (damages == 0)
            printf("no damage noted of byte %zu\n", in_member);
        CU_ASSERT(damages >= 1);
        got_done(&g);
        sp_buf_done(&copy);
    }
    sp_buf_done(&file);
}

TEST(what_was_read_before_the_damage_of_a_large_member_stays)
{
    struct sp_buf file = {0}, text = {0};
    for (int i = 0; i < 60; i++) {
        put_format(&text, "{\"url\":\"http://u/%d\",\"content\":\"", i);
        put_noise(&text, (uint64_t)i, 20000);
        sp_buf_put_str(&text, "\"}\n");
    }
    put_gzip(&file, sp_buf_view(&text));
    size_t member = file.len;
    put_member(&file, 100, 103);
    memset(file.data + member / 2, 0xff, 64);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT(g.pages > 3 + 20);
    CU_ASSERT(g.pages < 3 + 35);
    check_line(&g, g.count - 1, 102);
    check_line(&g, g.count - 3, 100);
    check_bad(&g, g.count - 4, SP_MALFORMED, "damaged here");
    CU_ASSERT_EQUAL(g.items[g.count - 4].records, 1);
    for (size_t i = 0; i + 4 < g.pages; i++) /* the last page before the damage may be incomplete */
        CU_ASSERT_EQUAL(g.items[i].page.content.len, 20000);
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&text);
}

/* The decoder takes the bytes of the next members for those of the one that lacks its end, here up
 * to 64 KiB of them: they were lost, and their text became part of a page. */
TEST(a_gzip_member_without_its_end_does_not_swallow_the_next)
{
    enum { MEMBERS = 40, CUT = 7 };
    for (int level = 0; level < 10; level += 3)
        for (size_t part = 1; part < 12; part++) {
            struct sp_buf file = {0}, text = {0};
            for (int i = 0; i < MEMBERS; i++) {
                sp_buf_reset(&text);
                put_format(&text, "{\"url\":\"http://u/%d\",\"content\":\"", i);
                put_noise(&text, (uint64_t)i, 5000);
                sp_buf_put_str(&text, "\"}\n");
                size_t before = file.len;
                put_gzip_level(&file, sp_buf_view(&text), level);
                if (i == CUT)
                    file.len = before + (file.len - before) * part / 12;
            }
            struct got g = read_bytes(sp_buf_view(&file), NULL);
            CU_ASSERT_EQUAL(g.pages, MEMBERS - 1);
            CU_ASSERT_EQUAL_FATAL(g.count, MEMBERS);
            check_bad(&g, CUT, SP_MALFORMED, "get the complete file");
            for (size_t i = 0; i < g.count; i++)
                CU_ASSERT(i == CUT || g.items[i].page.content.len == 5000);
            got_done(&g);
            sp_buf_done(&text);
            sp_buf_done(&file);
        }
}

/* A response that is itself a gzip file, in a member that is intact. */
TEST(a_gzip_file_within_a_member_is_a_part_of_it)
{
    struct sp_buf inner = {0}, text = {0}, file = {0};
    for (int i = 0; i < 300; i++) {
        sp_buf_reset(&inner);
        put_member(&inner, i, i + 1);
        put_format(&text, "{\"url\":\"http://u/%d\",\"content\":\"text %d\"}\n", i, i);
        sp_buf_put_view(&text, sp_buf_view(&inner));
        sp_buf_put_u8(&text, '\n');
        put_noise(&text, (uint64_t)i, 5000);
        sp_buf_put_u8(&text, '\n');
    }
    put_gzip_level(&file, sp_buf_view(&text), 0);
    struct got whole = read_bytes(sp_buf_view(&text), NULL),
               g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL(g.pages, 300);
    CU_ASSERT_EQUAL_FATAL(g.count, whole.count);
    for (size_t i = 0; i < g.count; i++)
        CU_ASSERT(same_item(&g.items[i], &whole.items[i]));
    got_done(&g);
    /* Cut: what it holds is not taken for its records. */
    g = read_bytes(sp_view(file.data, file.len / 2), NULL);
    CU_ASSERT(g.pages >= 145 && g.pages <= 155);
    check_bad(&g, g.count - 1, SP_TRUNCATED, "its end is missing; get the complete file");
    got_done(&g);
    got_done(&whole);
    sp_buf_done(&inner);
    sp_buf_done(&text);
    sp_buf_done(&file);
}

TEST(garbage_between_gzip_members_is_passed_over)
{
    struct sp_buf file = {0};
    put_member(&file, 0, 2);
    put_noise(&file, 1, 500000); /* more than one read */
    sp_buf_put(&file, "\x1f\x8b\x08 not a member \x1f", 18);
    put_member(&file, 2, 4);
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL(g.pages, 4);
    CU_ASSERT_FATAL(g.count >= 5);
    check_line(&g, 1, 1);
    check_bad(&g, 2, SP_MALFORMED, "damaged");
    check_line(&g, g.count - 2, 2);
    check_line(&g, g.count - 1, 3);
    got_done(&g);
    sp_buf_done(&file);
}

TEST(a_truncated_gzip_file_says_so_once_and_keeps_what_came_before)
{
    struct sp_buf file = {0};
    size_t first = put_member(&file, 0, 3);
    size_t second = put_member(&file, 3, 6);
    for (size_t len = first + 1; len < first + second; len++) {
        struct got g = read_bytes(sp_view(file.data, len), NULL);
        CU_ASSERT_FATAL(g.count >= 4);
        for (int i = 0; i < 3; i++)
            check_line(&g, (size_t)i, i);
        for (size_t i = 3; i < g.count - 1; i++)
            check_line(&g, i, (int)i);
        /* One or two bytes are not enough to recognise a member. */
        check_bad(&g, g.count - 1, len < first + 3 ? SP_MALFORMED : SP_TRUNCATED,
                  "compressed file");
        got_done(&g);
    }
    sp_buf_done(&file);
}

TEST(a_truncated_zstandard_file_says_so_once_and_keeps_what_came_before)
{
    struct sp_buf file = {0};
    put_frame(&file, 0, 3);
    size_t first = file.len;
    put_frame(&file, 3, 6);
    for (size_t len = first + 1; len < file.len; len++) {
        struct got g = read_bytes(sp_view(file.data, len), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 4);
        for (int i = 0; i < 3; i++)
            check_line(&g, (size_t)i, i);
        check_bad(&g, 3, SP_TRUNCATED, "compressed file ends");
        got_done(&g);
    }
    sp_buf_done(&file);
}

/* The blocks before the cut are returned, however small the reads are. */
TEST(a_truncated_zstandard_file_gives_the_same_pages_in_pieces_of_any_size)
{
    struct sp_buf file = {0}, text = {0};
    for (int i = 0; i < 40; i++) {
        put_format(&text, "{\"url\":\"http://u/%d\",\"content\":\"", i);
        put_noise(&text, (uint64_t)i, 10000);
        sp_buf_put_str(&text, "\"}\n");
    }
    /* Blocks of at most 128 KiB; one begins where `lens` does. */
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_inBuffer in = {text.data, text.len / 2, 0};
    ZSTD_outBuffer out = {sp_buf_reserve(&file, 2 * text.len), 2 * text.len, 0};
    CU_ASSERT_EQUAL(ZSTD_compressStream2(z, &out, &in, ZSTD_e_flush), 0);
    size_t border = out.pos;
    in.size = text.len;
    CU_ASSERT_EQUAL(ZSTD_compressStream2(z, &out, &in, ZSTD_e_end), 0);
    file.len = out.pos;
    ZSTD_freeCCtx(z);
    size_t lens[] = {border, file.len - 1, file.len - 20000};
    for (size_t k = 0; k < 3; k++) {
        struct got whole = read_bytes(sp_view(file.data, lens[k]), NULL);
        CU_ASSERT(whole.pages >= 12);
        check_bad(&whole, whole.count - 1, SP_TRUNCATED, "compressed file ends");
        for (size_t chunk = 1; chunk < 100000; chunk = chunk * 3 + 1) {
            struct reading how = {.chunk_bytes = chunk};
            struct got g = read_bytes(sp_view(file.data, lens[k]), &how);
            CU_ASSERT_EQUAL_FATAL(g.count, whole.count);
            for (size_t i = 0; i < g.count; i++)
                CU_ASSERT(same_item(&g.items[i], &whole.items[i]));
            got_done(&g);
        }
        got_done(&whole);
    }
    sp_buf_done(&file);
    sp_buf_done(&text);
}

TEST(a_damaged_zstandard_file_ends_there)
{
    struct sp_buf file = {0};
    put_frame(&file, 0, 3);
    size_t first = file.len;
    put_frame(&file, 3, 6);
    file.data[first] ^= 1; /* its magic number */
    const char *files[2];
    files[0] = make_file(sp_buf_view(&file));
    sp_buf_reset(&file);
    put_frame(&file, 6, 7);
    files[1] = make_file(sp_buf_view(&file));
    struct got g = read_files(files, 2, NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 5);
    check_line(&g, 2, 2);
    check_bad(&g, 3, SP_MALFORMED, "damaged here");
    check_line(&g, 4, 6); /* the lines of the next file */
    got_done(&g);
    sp_buf_done(&file);
}

TEST(the_rest_of_a_line_too_long_that_is_damaged_does_not_take_the_next_member_with_it)
{
    struct sp_buf file = {0}, text = {0};
    struct reading how = {.max_record_bytes = 1000, .chunk_bytes = 256};
    sp_buf_put_str(&text, "{\"url\":\"http://long/\",\"content\":\"");
    put_noise(&text, 3, 100000);
    put_gzip(&file, sp_buf_view(&text));
    memset(file.data + file.len / 2, 0xff, 64);
    put_member(&file, 0, 3);
    struct got g = read_bytes(sp_buf_view(&file), &how);
    check_bad(&g, 0, SP_TOO_LARGE, "longer");
    CU_ASSERT_EQUAL(g.pages, 3);
    check_line(&g, g.count - 3, 0);
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&text);
}

TEST(the_format_is_found_behind_a_first_member_that_is_lost)
{
    static const char record[] = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://u/\r\n"
                                 "Content-Length: 4\r\n\r\nbody\r\n\r\n";
    struct sp_buf file = {0};
    put_gzip(&file,
             sp_view_str("WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"));
    file.data[10] = (char)0xff; /* an invalid block type: no content can be decoded */
    put_gzip(&file, sp_view_str(record));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_bad(&g, 0, SP_MALFORMED, "damaged");
    check_page(&g, 1, "http://u/", "body");
    got_done(&g);
    sp_buf_done(&file);
}

/* The record of http://u/N. */
static struct sp_view numbered(struct sp_buf *record, int n)
{
    char url[16];
    sp_buf_reset(record);
    snprintf(url, sizeof url, "http://u/%d", n);
    put_response(record, url, "a");
    return sp_buf_view(record);
}

/* The first record says that it is larger than any record may be. */
TEST(records_behind_one_that_is_too_large_by_a_wrong_length_are_read)
{
    static const char large[] = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://u/0\r\n"
                                "Content-Length: 5000\r\n\r\nbody\r\n\r\n";
    struct sp_buf file = {0}, record = {0};
    struct reading how = {.max_record_bytes = 2000};
    put_gzip(&file, sp_view_str(large));
    for (int i = 1; i <= 3; i++)
        put_gzip(&file, numbered(&record, i));
    for (how.chunk_bytes = 1; how.chunk_bytes <= 4096; how.chunk_bytes += how.chunk_bytes / 8 + 1) {
        struct got g = read_bytes(sp_buf_view(&file), &how);
        CU_ASSERT_EQUAL_FATAL(g.count, 5);
        check_bad(&g, 0, SP_TOO_LARGE, "input.max_record_bytes");
        check_bad(&g, 1, SP_MALFORMED, "comes before the end of the one that is larger");
        check_page(&g, 2, "http://u/1", "a");
        check_page(&g, 4, "http://u/3", "a");
        got_done(&g);
    }
    sp_buf_done(&file);
    sp_buf_done(&record);
}

/* Behind damage, the next member begins a record, whatever came before it. */
TEST(the_record_behind_a_member_that_is_damaged_after_a_few_bytes_is_read)
{
    struct sp_buf file = {0}, record = {0};
    for (size_t len = 1; len <= 12; len++) {
        sp_buf_reset(&file);
        put_gzip(&file, numbered(&record, 0));
        put_damaged_gzip(&file, sp_view(numbered(&record, 1).data, len));
        put_gzip(&file, numbered(&record, 2));
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL(g.pages, 2);
        CU_ASSERT(g.count > 2);
        check_page(&g, g.count - 1, "http://u/2", "a");
        got_done(&g);
    }
    sp_buf_done(&file);
    sp_buf_done(&record);
}

/* A crawler was killed within a block of bytes that are stored as they are, and went on. What it
 * wrote then looks like the rest of the block. */
TEST(a_member_that_a_truncated_one_takes_to_the_end_of_the_file_is_found)
{
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    static const unsigned char stored[] = {0, 0xff, 0xff, 0, 0}; /* 65,535 bytes */
    struct sp_buf file = {0}, record = {0};
    sp_buf_put(&file, head, sizeof head);
    sp_buf_put(&file, stored, sizeof stored);
    put_response(&file, "http://cut/", "c");
    put_response(&record, "http://after/", "a");
    put_gzip(&file, sp_buf_view(&record));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT(g.pages >= 1 && g.count > g.pages);
    check_page(&g, g.count - 1, "http://after/", "a");
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&record);
}

/* Each read returns a byte of the header. If it were searched from its beginning after each, these
 * would be 10^9 line ends. */
TEST(a_header_in_members_of_a_byte_is_searched_once)
{
    enum { LINES = 30000 };
    struct sp_buf file = {0}, record = {0};
    put_gzip(&file, sp_view_str("WARC/1.0\n"));
    for (int i = 0; i < LINES; i++) {
        put_gzip(&file, sp_view_str("a"));
        put_gzip(&file, sp_view_str("\n"));
    }
    put_gzip(&file, numbered(&record, 1));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 2);
    check_bad(&g, 0, SP_MALFORMED, "ends where the next record begins");
    check_page(&g, 1, "http://u/1", "a");
    got_done(&g);
    sp_buf_done(&file);
    sp_buf_done(&record);
}

static void put_skipped(struct sp_buf *out, unsigned char kind, struct sp_view bytes)
{
    const char header[] = {(char)kind, 0x2a, 0x4d, 0x18};
    uint32_t len = (uint32_t)bytes.len;
    sp_buf_put(out, header, sizeof header);
    sp_buf_put(out, &len, sizeof len);
    sp_buf_put_view(out, bytes);
}

TEST(frames_to_be_skipped_are_skipped_wherever_they_are)
{
    struct sp_buf file = {0};
    put_skipped(&file, 0x50, sp_view_str("not a record"));
    put_frame(&file, 0, 3);
    put_skipped(&file, 0x5f, sp_view("", 0));
    put_frame(&file, 3, 5);
    put_skipped(&file, 0x5e, sp_view_str("index"));
    struct got g = read_bytes(sp_buf_view(&file), NULL);
    CU_ASSERT_EQUAL_FATAL(g.count, 5);
    for (int i = 0; i < 5; i++)
        check_line(&g, (size_t)i, i);
    got_done(&g);
    sp_buf_done(&file);
}

/* Frames of one line each that cannot be decoded without the dictionary. */
static void put_with_dictionary(struct sp_buf *file, struct sp_view dictionary, int to)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    struct sp_buf line = {0};
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_loadDictionary(z, dictionary.data, dictionary.len);
    for (int i = 0; i < to; i++) {
        sp_buf_reset(&line);
        put_line(&line, i);
        size_t room = ZSTD_compressBound(line.len);
        file->len += ZSTD_compress2(z, sp_buf_reserve(file, room), room, line.data, line.len);
    }
    sp_buf_done(&line);
    ZSTD_freeCCtx(z);
}

TEST(a_dictionary_at_the_start_of_a_file_is_used)
{
    struct sp_buf dictionary = {0}, packed = {0};
    put_noise(&dictionary, 5, 300000); /* more than is read at a time */
    put_lines(&dictionary, 0, 3);
    put_zstd(&packed, sp_buf_view(&dictionary));
    const struct sp_buf *stored[] = {&dictionary, &packed};
    for (size_t k = 0; k < 2; k++) {
        struct sp_buf file = {0};
        put_skipped(&file, 0x5d, sp_buf_view(stored[k]));
        size_t end = file.len;
        put_with_dictionary(&file, sp_buf_view(&dictionary), 4);
        CU_ASSERT(file.len - end < 200); /* the lines are in the dictionary */
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 4);
        for (int i = 0; i < 4; i++)
            check_line(&g, (size_t)i, i);
        got_done(&g);
        g = read_bytes(sp_view(file.data, end - 1), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 1);
        check_bad(&g, 0, SP_TRUNCATED, "ends within a member");
        got_done(&g);
        sp_buf_done(&file);
    }
    sp_buf_done(&dictionary);
    sp_buf_done(&packed);
}

TEST(a_frame_that_cannot_be_decoded_here_says_how_it_can)
{
    /* A window of 256 MiB; dictionary 7. Both have one block, of 5 bytes. */
    static const struct {
        const char bytes[16];
        size_t len;
        const char *why;
    } frames[] = {{"\x28\xb5\x2f\xfd\x00\x90\x29\0\0hello", 14, "--long=31 FILE"},
                  {"\x28\xb5\x2f\xfd\x01\x00\x07\x29\0\0hello", 15, "-D DICTIONARY FILE"}};
    for (size_t i = 0; i < 2; i++) {
        struct sp_buf file = {0};
        put_frame(&file, 0, 3);
        sp_buf_put(&file, frames[i].bytes, frames[i].len);
        struct got g = read_bytes(sp_buf_view(&file), NULL);
        CU_ASSERT_EQUAL_FATAL(g.count, 4);
        check_line(&g, 2, 2);
        check_bad(&g, 3, SP_MALFORMED, frames[i].why);
        got_done(&g);
        sp_buf_done(&file);
    }
}
