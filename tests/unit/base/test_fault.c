/* Error texts: the caller owns them, and a truncated text shows that it was truncated. */
#include "base/fault.h"

#include <string.h>

#include "base/utf8.h"
#include "harness.h"

TEST(a_fault_returns_its_error_and_keeps_its_text)
{
    struct sp_fault first, second;
    CU_ASSERT_EQUAL(sp_fault_set(&first, SP_IO, "%s:%d: gone", "a", 7), SP_IO);
    CU_ASSERT_EQUAL(sp_fault_set(&second, SP_INVALID, "100%%"), SP_INVALID);
    CU_ASSERT_STRING_EQUAL(first.text, "a:7: gone");
    CU_ASSERT_STRING_EQUAL(second.text, "100%");
}

TEST(a_fault_can_be_put_into_its_own_new_text)
{
    struct sp_fault fault;
    sp_fault_set(&fault, SP_INVALID, "line %d", 3);
    sp_fault_set(&fault, SP_INVALID, "%s: %s", "file", fault.text);
    CU_ASSERT_STRING_EQUAL(fault.text, "file: line 3");
}

TEST(what_would_have_an_effect_on_a_terminal_is_not_in_a_fault)
{
    struct sp_fault fault;
    sp_fault_set(&fault, SP_INVALID, "%s",
                 "a\x1b[31mb\rc\x7f"
                 "d\xc2\x9b"
                 "1me\n\tf é中");
    CU_ASSERT_STRING_EQUAL(fault.text, "a?[31mb?c?d??1me\n\tf é中");
}

/* The cut falls on each byte of a multi-byte character in turn. */
TEST(a_long_fault_is_cut_between_characters_and_shows_it)
{
    char source[SP_FAULT_BYTES + 64];
    for (size_t shift = 0; shift < 4; shift++) {
        memset(source, 'x', shift);
        for (size_t at = shift; at + 4 < sizeof source; at += 3)
            memcpy(source + at, "\xE4\xB8\xAD", 4);
        struct sp_fault fault;
        sp_fault_set(&fault, SP_INVALID, "%s", source);
        size_t len = strlen(fault.text), size;
        CU_ASSERT_TRUE(len < SP_FAULT_BYTES && len + 4 >= SP_FAULT_BYTES);
        CU_ASSERT_STRING_EQUAL(fault.text + len - 3, "…");
        for (size_t at = 0; at < len; at += size) {
            size = sp_utf8_length(fault.text + at, len - at);
            CU_ASSERT_NOT_EQUAL_FATAL(size, 0);
        }
    }
}

TEST(a_fault_of_exactly_the_size_is_whole)
{
    char source[SP_FAULT_BYTES + 1];
    struct sp_fault fault;
    memset(source, 'x', sizeof source);
    source[SP_FAULT_BYTES - 1] = 0;
    sp_fault_set(&fault, SP_INVALID, "%s", source);
    CU_ASSERT_STRING_EQUAL(fault.text, source);
    source[SP_FAULT_BYTES - 1] = 'x';
    source[SP_FAULT_BYTES] = 0;
    sp_fault_set(&fault, SP_INVALID, "%s", source);
    CU_ASSERT_EQUAL(strlen(fault.text), SP_FAULT_BYTES - 1);
    CU_ASSERT_STRING_EQUAL(fault.text + SP_FAULT_BYTES - 4, "…");
}
