/* Asserts for mistakes in this program; they stay on in release builds. Bad input and failures of
 * the system are returned as enum sp_err instead. */
#ifndef SP_BASE_ASSERT_H
#define SP_BASE_ASSERT_H

_Noreturn void sp_assert_failed(const char *what, const char *file, int line);

#define SP_ASSERT(cond) ((cond) ? (void)0 : sp_assert_failed(#cond, __FILE__, __LINE__))

#endif
