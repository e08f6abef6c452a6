/* Messages to partitions of the same instance: which are handled without the topic, and when. */
#include "harness.h"
#include "kafka/internal.h"

enum { OURS = 1, ALSO_OURS = 2, NOT_OURS = 0, PARTITIONS = 3 };
enum { ALL = 100 };

/* What the toy stages got, by the messages' clocks. */
static struct toy {
    struct sp_worker *worker;
    uint64_t taken[ALL], posted[ALL];
    int takes, posts;
    int32_t follow_ups; /* so many further messages follow from each, to ALSO_OURS */
    enum sp_err err;
} toy;

static struct sp_message *message(uint64_t number)
{
    struct sp_message *m = sp_message_new(SP_MSG_APPLIED);
    m->clock = number;
    return m;
}

static void keep(struct sp_worker *w, int32_t partition, uint64_t number)
{
    CU_ASSERT(sp_worker_keep(w, SP_TOPIC_TIER1, partition, message(number)));
}

static enum sp_err toy_take(void *stage, struct sp_message *m)
{
    (void)stage;
    toy.taken[toy.takes++] = m->clock;
    for (; toy.follow_ups > 0; toy.follow_ups--)
        keep(toy.worker, ALSO_OURS, 10 * m->clock + (uint64_t)toy.follow_ups);
    sp_message_free(m);
    return toy.err;
}

static void toy_post(void *stage, struct sp_message *m)
{
    (void)stage;
    toy.posted[toy.posts++] = m->clock;
    sp_message_free(m);
}

static void no_log(const char *level, const char *text)
{
    (void)level, (void)text;
}

static struct sp_worker_metrics metrics;
static struct sp_worker_options options = {.stage = {.name = "toy",
                                                     .input = SP_TOPIC_TIER1,
                                                     .stateful = true,
                                                     .take = toy_take,
                                                     .post = toy_post},
                                           .log = no_log,
                                           .metrics = &metrics};

struct fixture {
    struct sp_worker w;
    struct sp_task ours, also_ours;
    struct sp_task *tasks[PARTITIONS];
    struct sp_outlet outlets[PARTITIONS];
};

/* A transaction is open in which OURS has handled the message at offset 9. Of ALSO_OURS nothing was
 * handled in it; its next message is at offset 4. */
static void start(struct fixture *f)
{
    memset(&metrics, 0, sizeof metrics);
    *f = (struct fixture){
        .ours = {.partition = OURS, .input_next = 5, .handled_next = 10, .upkept = true},
        .also_ours = {.partition = ALSO_OURS, .input_next = 4, .handled_next = -1, .upkept = true}};
    f->tasks[OURS] = &f->ours;
    f->tasks[ALSO_OURS] = &f->also_ours;
    f->w = (struct sp_worker){.options = &options,
                              .tasks = f->tasks,
                              .outlets[SP_TOPIC_TIER1] = f->outlets,
                              .transaction.open = true};
    f->w.partitions[SP_TOPIC_TIER1] = PARTITIONS;
    toy = (struct toy){.worker = &f->w};
}

TEST(only_messages_for_our_partitions_of_the_input_are_kept)
{
    struct fixture f;
    start(&f);
    struct sp_message *m = message(1);
    CU_ASSERT_FALSE(sp_worker_keep(&f.w, SP_TOPIC_TIER1, NOT_OURS, m));
    CU_ASSERT_FALSE(sp_worker_keep(&f.w, SP_TOPIC_TIER2, OURS, m));
    options.stage.take = NULL;
    CU_ASSERT_FALSE(sp_worker_keep(&f.w, SP_TOPIC_TIER1, OURS, m));
    options.stage.take = toy_take;
    sp_message_free(m);
    CU_ASSERT_EQUAL(f.w.kept, 0);
}

TEST(a_message_and_what_follows_from_it_are_handled_in_their_order)
{
    struct fixture f;
    start(&f);
    toy.follow_ups = 2;
    keep(&f.w, OURS, 1);
    keep(&f.w, OURS, 2);
    sp_direct_deliver(&f.w);
    const uint64_t want[] = {1, 2, 12, 11};
    CU_ASSERT_EQUAL_FATAL(toy.takes, 4);
    CU_ASSERT_EQUAL(memcmp(toy.taken, want, sizeof want), 0);
    CU_ASSERT_EQUAL(metrics.direct, 4);
    CU_ASSERT_EQUAL(f.w.kept, 0);
    /* The receiver is part of the transaction now, and may have work that no message causes. */
    CU_ASSERT_EQUAL(f.also_ours.handled_next, 4);
    CU_ASSERT_FALSE(f.also_ours.upkept);
}

/* A message must not overtake one from the same partition that is still in the topic. */
TEST(a_message_waits_until_what_was_posted_before_it_is_handled)
{
    struct fixture f;
    start(&f);
    f.outlets[OURS].last = 10;
    keep(&f.w, OURS, 1);
    sp_direct_deliver(&f.w);
    CU_ASSERT_EQUAL(toy.takes, 0);
    f.ours.handled_next = 11;
    keep(&f.w, OURS, 2);
    sp_direct_deliver(&f.w);
    CU_ASSERT_EQUAL_FATAL(toy.takes, 2);
    CU_ASSERT(toy.taken[0] == 1 && toy.taken[1] == 2);
}

/* If the broker has acknowledged one whose offset is not known, nothing says when it is handled. */
TEST(a_message_waits_after_one_whose_offset_is_not_known)
{
    struct fixture f;
    start(&f);
    f.outlets[OURS].unknown = true;
    keep(&f.w, OURS, 1);
    sp_direct_deliver(&f.w);
    CU_ASSERT_EQUAL(toy.takes, 0);
    f.outlets[OURS].unknown = false; /* as after the next assignment */
    sp_direct_deliver(&f.w);
    CU_ASSERT_EQUAL(toy.takes, 1);
}

/* Where nothing was ever read, it is not known what is to be read first. */
TEST(a_partition_without_a_position_waits)
{
    struct fixture f;
    start(&f);
    f.outlets[ALSO_OURS].last = -1;
    f.also_ours.input_next = -1;
    keep(&f.w, ALSO_OURS, 1);
    sp_direct_deliver(&f.w);
    CU_ASSERT_EQUAL(toy.takes, 0);
    f.also_ours.handled_next = 1;
    sp_direct_deliver(&f.w);
    CU_ASSERT_EQUAL(toy.takes, 1);
}

TEST(what_is_left_goes_to_the_topic_in_its_order)
{
    struct fixture f;
    start(&f);
    f.outlets[OURS].last = 10;
    keep(&f.w, OURS, 1);
    keep(&f.w, OURS, 2);
    sp_direct_deliver(&f.w);
    sp_direct_post(&f.w);
    CU_ASSERT_EQUAL(toy.takes, 0);
    CU_ASSERT_EQUAL_FATAL(toy.posts, 2);
    CU_ASSERT(toy.posted[0] == 1 && toy.posted[1] == 2);
    CU_ASSERT_EQUAL(f.w.kept, 0);
}

/* The broker's reply says where a message went: later ones wait for it. */
TEST(the_last_offset_posted_is_noted)
{
    struct fixture f;
    start(&f);
    const int64_t offsets[] = {20, 22, 21};
    for (int i = 0; i < 3; i++)
        sp_transaction_delivered(
            NULL, &(rd_kafka_message_t){.offset = offsets[i], ._private = &f.outlets[OURS]}, &f.w);
    CU_ASSERT_EQUAL(f.outlets[OURS].last, 22);
}

TEST(a_failure_ends_the_round_and_drops_the_rest)
{
    struct fixture f;
    start(&f);
    toy.err = SP_CORRUPT;
    keep(&f.w, OURS, 1);
    keep(&f.w, OURS, 2);
    sp_direct_deliver(&f.w);
    CU_ASSERT_EQUAL(toy.takes, 1);
    CU_ASSERT_NOT_EQUAL(f.w.failure.err, SP_OK);
    sp_direct_drop(&f.w, &f.ours);
    CU_ASSERT_EQUAL(f.w.kept, 0);
    CU_ASSERT_PTR_NULL(f.ours.kept_last);
}
