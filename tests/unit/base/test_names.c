/* Syncing directory entries, by any path to the file. tests/torn checks that they survive a power
 * failure. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/names.h"
#include "harness.h"

TEST(names_are_synced_of_files_folders_and_links)
{
    char directory[] = "/tmp/samepage-names-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    CU_ASSERT_EQUAL_FATAL(chdir(directory), 0);
    CU_ASSERT_EQUAL(mkdir("a", 0700), 0);
    CU_ASSERT_EQUAL(mkdir("a/b", 0700), 0);
    CU_ASSERT_EQUAL(symlink("a/b", "link"), 0);
    const char *const paths[] = {"a", "a/b", "a//b/", "./a", "link", directory, "/"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CU_ASSERT_TRUE(sp_names_sync(paths[i], SP_NAMES_LAST));
        CU_ASSERT_TRUE(sp_names_sync(paths[i], SP_NAMES_ALL));
    }
    CU_ASSERT_FALSE(sp_names_sync("a/c", SP_NAMES_LAST));
    CU_ASSERT_EQUAL(errno, ENOENT);
    unlink("link");
    rmdir("a/b");
    rmdir("a");
    CU_ASSERT_EQUAL(chdir("/"), 0);
    rmdir(directory);
}

TEST(a_name_has_a_type_in_any_case_and_compressed)
{
    CU_ASSERT(sp_names_have_type("crawl.jsonl", ".jsonl"));
    CU_ASSERT(sp_names_have_type("CRAWL.JsonL.GZ", ".jsonl"));
    CU_ASSERT(sp_names_have_type("a/crawl.warc.zst", ".warc"));
    CU_ASSERT_FALSE(sp_names_have_type("crawl.gz", ".gz"));
    CU_ASSERT_FALSE(sp_names_have_type("crawl.warc.gz.gz", ".warc"));
    CU_ASSERT_FALSE(sp_names_have_type(".warc", ".warc"));
    CU_ASSERT_FALSE(sp_names_have_type(".warc.gz", ".warc"));
    CU_ASSERT_FALSE(sp_names_have_type("warc", ".warc"));
    CU_ASSERT_FALSE(sp_names_have_type("", ".warc"));
    CU_ASSERT_FALSE(sp_names_have_type(".gz", ".warc"));
}

TEST(a_name_is_joined_to_its_directory)
{
    struct sp_buf path = {0};
    CU_ASSERT_STRING_EQUAL(sp_names_join(&path, "/var/state", "FORMAT"), "/var/state/FORMAT");
    CU_ASSERT_STRING_EQUAL(sp_names_join(&path, "d", ""), "d/");
    CU_ASSERT_STRING_EQUAL(path.data, "d/");
    sp_buf_done(&path);
}
