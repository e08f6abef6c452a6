/* Reading records of whole and damaged files: no record is invented, every loss is reported. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "archive/records.h"
#include "harness.h"

struct got {
    unsigned good;
    unsigned bad;
    enum sp_err last_bad;
    struct sp_buf bytes; /* the intact records only */
};

static struct got read_all(struct sp_view content, uint64_t most)
{
    char name[] = "/tmp/samepage-records-XXXXXX";
    struct sp_records r;
    struct sp_warc_record record;
    struct sp_fault fault;
    struct got got = {0};
    const char *why = NULL;
    uint64_t offset = 0;
    int fd = mkstemp(name);
    CU_ASSERT_EQUAL(write(fd, content.data, content.len), (ssize_t)content.len);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(sp_records_open(&r, name, most, &fault), SP_OK);
    for (enum sp_err err; (err = sp_records_next(&r, &record, &offset, &why)) != SP_END;) {
        CU_ASSERT_TRUE_FATAL(got.good + got.bad < 1000);
        got.good += err == SP_OK;
        got.bad += err != SP_OK;
        if (err == SP_OK) {
            sp_buf_put_view(&got.bytes, record.header);
            sp_buf_put_view(&got.bytes, record.block);
        } else {
            CU_ASSERT_PTR_NOT_NULL(why);
            got.last_bad = err;
        }
    }
    sp_records_close(&r);
    unlink(name);
    return got;
}

static void expect(const char *content, unsigned good, unsigned bad, const char *bytes)
{
    struct got got = read_all(sp_view_str(content), 1000);
    CU_ASSERT_EQUAL(got.good, good);
    CU_ASSERT_EQUAL(got.bad, bad);
    CU_ASSERT_TRUE(sp_view_eq(sp_buf_view(&got.bytes), sp_view_str(bytes)));
    sp_buf_done(&got.bytes);
}

#define ONE "WARC/1.0\r\nContent-Length: 3\r\n\r\none"
#define TWO "WARC/1.0\r\nX: y\r\nContent-Length: 0\r\n\r\n"
#define END "\r\n\r\n"

TEST(records_are_header_and_block)
{
    expect("", 0, 0, "");
    expect(ONE END TWO END, 2, 0, ONE TWO);
    expect(ONE "\n" TWO, 2, 0, ONE TWO);
    expect("\r\n\r\n" ONE END, 1, 0, ONE);
}

TEST(what_is_no_record_is_passed_over_and_said)
{
    expect("garbage\r\nmore\r\n" ONE END, 1, 1, ONE);
    expect(ONE "too long" END TWO END, 2, 1, ONE TWO);
    expect("WARC/1.0\r\nContent-Length: x\r\n\r\n" END TWO END, 1, 1, TWO);
    /* It is too large; and the file ends within it, so that it may hide others. */
    expect("WARC/1.0\r\nContent-Length: 5000\r\n\r\n" END, 0, 2, "");
    expect(ONE END "WARC/1.0\r\nContent-Length: 10\r\n\r\nshort", 1, 1, ONE);
    expect(ONE END "WARC/1.0\r\nContent-", 1, 1, ONE);
    expect("WARC", 0, 1, "");
}

/* A file cut anywhere yields the records before the cut, and reports one loss. */
TEST(a_file_cut_anywhere_gives_what_came_before)
{
    static const char file[] = ONE END ONE END TWO END;
    size_t first = sizeof ONE - 1, second = 2 * first + 4;
    for (size_t n = 0; n < sizeof file - 1; n++) {
        struct got got = read_all(sp_view(file, n), 1000);
        unsigned whole = (n >= first) + (n >= second) + (n >= second + 4 + sizeof TWO - 1);
        CU_ASSERT_EQUAL(got.good, whole);
        CU_ASSERT_TRUE(got.bad <= 1);
        sp_buf_done(&got.bytes);
    }
}
