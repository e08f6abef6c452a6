/* Option parsing shared by the commands: settings, fields, help, numbers, and the exit code and
 * message of an error. */
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "harness.h"

static const struct sp_command command = {
    "toy", "does nothing", "OPTIONS\n  --threads N   how many\n  --set KEY=VALUE\n", NULL};

/* Runs sp_cli_common and captures standard output and standard error in `ret_said`. */
static int common(int option, const char *argument, struct sp_config *config, char ret_said[4096])
{
    FILE *caught = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(caught);
    fflush(stdout);
    fflush(stderr);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    dup2(fileno(caught), STDOUT_FILENO);
    dup2(fileno(caught), STDERR_FILENO);
    optarg = (char *)argument;
    int code = sp_cli_common(&command, option, config);
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    rewind(caught);
    size_t n = fread(ret_said, 1, 4095, caught);
    ret_said[n] = '\0';
    fclose(caught);
    return code;
}

TEST(help_is_printed_and_ends_the_command)
{
    char said[4096];
    CU_ASSERT_EQUAL(common(SP_OPT_HELP, NULL, NULL, said), SP_EXIT_DONE);
    CU_ASSERT_STRING_EQUAL(said, command.help);
    CU_ASSERT_EQUAL(common(SP_OPT_HELP_SETTINGS, NULL, NULL, said), SP_EXIT_DONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "similarity.threshold"));
}

TEST(a_setting_and_a_field_change_the_configuration)
{
    struct sp_config config;
    char said[4096];
    sp_config_default(&config);
    CU_ASSERT_EQUAL(common(SP_OPT_SET, "similarity.threshold=0.75", &config, said), -1);
    CU_ASSERT_EQUAL(config.similarity_threshold, 0.75);
    CU_ASSERT_EQUAL(common(SP_OPT_FIELD, "key", &config, said), -1);
    CU_ASSERT_STRING_EQUAL(config.input_id_field, "key");
    CU_ASSERT_EQUAL(common(SP_OPT_FIELD + 6, "visits", &config, said), -1);
    CU_ASSERT_STRING_EQUAL(config.input_popularity_field, "visits");
    CU_ASSERT_STRING_EQUAL(said, "");
    sp_config_done(&config);
}

TEST(a_wrong_setting_is_named_with_the_nearest_one)
{
    struct sp_config config;
    char said[4096];
    sp_config_default(&config);
    CU_ASSERT_EQUAL(common(SP_OPT_SET, "similarity.treshold=0.7", &config, said), SP_EXIT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "similarity.threshold"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "samepage toy --help"));
    CU_ASSERT_EQUAL(common(SP_OPT_SET, "similarity.threshold=2", &config, said), SP_EXIT_USAGE);
    CU_ASSERT_EQUAL(common(SP_OPT_CONFIG, "/nowhere/at.all", &config, said), SP_EXIT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "/nowhere/at.all"));
    sp_config_done(&config);
}

TEST(a_misspelt_option_is_refused_with_the_nearest_one)
{
    char said[4096];
    char *argv[] = {"toy", "--threats", "--nothing-like-it", NULL};
    sp_cli_arguments(argv);
    optind = 2;
    CU_ASSERT_EQUAL(common('?', NULL, NULL, said), SP_EXIT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "did you mean --threads?"));
    optind = 3;
    CU_ASSERT_EQUAL(common('?', NULL, NULL, said), SP_EXIT_USAGE);
    CU_ASSERT_PTR_NULL(strstr(said, "did you mean"));
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "`samepage toy --help` lists the options"));
    sp_cli_arguments(NULL);
}

TEST(numbers_may_have_a_suffix_and_nothing_else)
{
    static const struct {
        const char *text;
        uint64_t number;
    } good[] = {{"0", 0},           {"17", 17},
                {"2K", 2000},       {"3M", 3000000},
                {"4G", 4000000000}, {"4611686018427387903", (1ull << 62) - 1},
                {"007", 7},         {"4611686018427387K", 4611686018427387000}};
    static const char *const bad[] = {"",
                                      "K",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1k",
                                      "1KK",
                                      "1KB",
                                      "0x10",
                                      "1.5",
                                      "1e3",
                                      "4611686018427387904",
                                      "99999999999999999999",
                                      "18446744073709552K" /* wraps to 384 */,
                                      "18446744074G"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t n = 1;
        CU_ASSERT(sp_cli_number(good[i].text, &n));
        CU_ASSERT_EQUAL(n, good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t n = 1;
        CU_ASSERT_FALSE(sp_cli_number(bad[i], &n));
        CU_ASSERT_EQUAL(n, 1);
    }
}
