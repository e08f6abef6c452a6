/* The main of every CUnit program: see harness.h. */
#include "harness.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct sp_test_case *first_case;
static struct sp_test_case **last_case = &first_case;
static int skipped;

void sp_test_register(struct sp_test_case *test)
{
    *last_case = test;
    last_case = &test->next;
}

void sp_test_skip(const char *reason)
{
    printf("SKIPPED: %s\n", reason);
    skipped++;
}

const char *sp_test_shared_data(void)
{
    struct stat st;
    return stat(SP_SHARED_DATA, &st) == 0 ? SP_SHARED_DATA : NULL;
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : NULL;
    const char *suite_name = program_invocation_short_name + strlen("test_");
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    int added = 0;
    for (struct sp_test_case *t = first_case; t; t = t->next)
        if (!wanted || strcmp(wanted, t->name) == 0) {
            CU_add_test(suite, t->name, t->run);
            added++;
        }
    if (added == 0) {
        fprintf(stderr, "no case named %s in %s\n", wanted ? wanted : "(any)", suite_name);
        return 1;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    if (failures)
        return 1;
    return wanted && skipped ? 77 : 0;
}
