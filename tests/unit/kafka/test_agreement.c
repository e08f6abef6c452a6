/* What stages note of their fixed settings, and see in the notes of others. */
#include "kafka/agreement.h"

#include "base/mem.h"
#include "harness.h"

static const char settings[] =
    "signature.version=1\nmode=exact\nsimilarity.method=shingles\ntext.scope=main\n";

/* What stages with these settings see in a note; NULL: one of nobody. */
static enum sp_noted look(const char *fingerprint, const char *note)
{
    struct sp_agreement ours;
    sp_agreement_of(fingerprint, &ours);
    rd_kafka_topic_partition_t offset = {.metadata = (void *)(uintptr_t)note,
                                         .metadata_size = note ? strlen(note) : 0};
    return sp_agreement_look(&ours, &offset);
}

/* What they see in the note of a stage with other settings. */
static enum sp_noted look_at(const char *fingerprint, const char *others)
{
    struct sp_agreement theirs;
    rd_kafka_topic_partition_t offset = {0};
    sp_agreement_of(others, &theirs);
    sp_agreement_note(&theirs, &offset);
    CU_ASSERT_EQUAL(offset.metadata_size, strlen(theirs.note));
    enum sp_noted noted = look(fingerprint, offset.metadata);
    sp_free(offset.metadata);
    return noted;
}

TEST(a_stage_agrees_with_one_of_the_same_settings)
{
    CU_ASSERT_EQUAL(look_at(settings, settings), SP_NOTED_SAME);
    CU_ASSERT_EQUAL(look_at("", ""), SP_NOTED_SAME);
}

TEST(settings_that_signatures_do_not_depend_on_are_told_apart)
{
    static const char *const others[] = {
        "signature.version=1\nmode=fast\nsimilarity.method=shingles\ntext.scope=main\n",
        "signature.version=1\nmode=exact\nsimilarity.method=shingles\ntext.scope=main\ntier1.partitions=2\n",
        "signature.version=1\nmode=exact\nsimilarity.method=shingles\ntext.scope=main\nwinner.margin=2\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT_EQUAL(look_at(settings, others[i]), SP_NOTED_SETTINGS);
}

TEST(settings_that_the_tiers_share_are_told_apart)
{
    static const char *const others[] = {
        "signature.version=1\nmode=exact\nsimilarity.method=shingles\nsimilarity.threshold=0.9\ntext.scope=main\n",
        "signature.version=1\nmode=fast\nsimilarity.method=shingles\ntext.scope=main\npartition.cells=2\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT_EQUAL(look_at(settings, others[i]), SP_NOTED_TIERS);
}

TEST(settings_that_signatures_depend_on_are_told_apart)
{
    static const char *const others[] = {
        "signature.version=2\nmode=exact\nsimilarity.method=shingles\ntext.scope=main\n",
        "signature.version=1\nmode=exact\nsimilarity.method=simhash\ntext.scope=main\n",
        "signature.version=1\npartition.map: dictionary=00000001\nmode=exact\nsimilarity.method=shingles\ntext.scope=main\n",
        "signature.version=1\nmode=exact\nsimilarity.method=shingles\ntext.scope=all\n", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT_EQUAL(look_at(settings, others[i]), SP_NOTED_SIGNATURES);
}

TEST(what_is_not_noted_is_no_difference)
{
    CU_ASSERT_EQUAL(look(settings, "samepage"), SP_NOTED_SAME); /* of an earlier version */
    CU_ASSERT_EQUAL(look(settings, "samepage 01234567 89abcdef"), SP_NOTED_SAME);
    CU_ASSERT_EQUAL(look(settings, NULL), SP_NOTED_ELSEWHERE);
    CU_ASSERT_EQUAL(look(settings, ""), SP_NOTED_ELSEWHERE);
    CU_ASSERT_EQUAL(look(settings, "same"), SP_NOTED_ELSEWHERE);
    CU_ASSERT_EQUAL(look(settings, "consumer of somebody"), SP_NOTED_ELSEWHERE);
}
