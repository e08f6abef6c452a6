/* Creating and removing temporary directories for the store's tests. */
#include "temporary.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

enum { DIRECTORIES_MAX = 128 };

static char names[DIRECTORIES_MAX][256];
static int count;

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(name);
}

static void remove_all(void)
{
    for (int i = 0; i < count; i++)
        nftw(names[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *temporary_directory(void)
{
    const char *place = getenv("TMPDIR");
    CU_ASSERT_FATAL(count < DIRECTORIES_MAX);
    if (count == 0)
        atexit(remove_all);
    char *name = names[count++];
    snprintf(name, sizeof names[0], "%s/samepage-state-XXXXXX", place ? place : "/tmp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(name));
    return name;
}
