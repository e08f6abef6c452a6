/* The CUnit harness: TEST(name) { … } defines and registers a case. The program runs all of its
 * cases, or the one named by its argument. SKIP(reason) ends a case and reports it as skipped (exit
 * code 77 if it was run by name). */
#ifndef SP_TEST_HARNESS_H
#define SP_TEST_HARNESS_H

#include <CUnit/CUnit.h>

struct sp_test_case {
    const char *name;
    void (*run)(void);
    struct sp_test_case *next;
};

void sp_test_register(struct sp_test_case *test);
void sp_test_skip(const char *reason);

/* The folder of real data beside the checkout, or NULL if there is none. */
const char *sp_test_shared_data(void);

#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    static struct sp_test_case case_##name = {#name, test_##name, 0};                              \
    __attribute__((constructor)) static void register_##name(void)                                 \
    {                                                                                              \
        sp_test_register(&case_##name);                                                            \
    }                                                                                              \
    static void test_##name(void)

#define SKIP(reason)                                                                               \
    do {                                                                                           \
        sp_test_skip(reason);                                                                      \
        return;                                                                                    \
    } while (0)

#endif
