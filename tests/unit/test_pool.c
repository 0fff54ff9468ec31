#include "sandbox/pool.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "helpers.h"
#include "suites.h"

/*
 * The pool by itself.  The linker puts these in the place of the functions
 * that it calls (see the Makefile): containers that do as the test says.  And
 * the clock stands still until the test says otherwise, for libevent too.
 */

struct container *__real_container_start(struct containers *containers,
    const struct container_options *options,
    const struct container_callbacks *callbacks, void *arg, struct err *err);
struct container *__wrap_container_start(struct containers *containers,
    const struct container_options *options,
    const struct container_callbacks *callbacks, void *arg, struct err *err);
void __real_container_abandon(struct container *container);
void __wrap_container_abandon(struct container *container);
int __real_containers_leaving(const struct containers *containers);
int __wrap_containers_leaving(const struct containers *containers);
void __real_containers_when_left(
    struct containers *containers, void (*left)(void *arg), void *arg);
void __wrap_containers_when_left(
    struct containers *containers, void (*left)(void *arg), void *arg);

#define TICK_MS 50
#define STARTS_MAX 100

static struct start {
	const struct container_callbacks *callbacks;
	void *arg;
	const struct language *language;
	enum container_mode mode;
	enum { STARTING, READY, TAKEN, GONE } state;
} starts[STARTS_MAX];
static size_t start_count;
static const struct language *broken; /* containers of it cannot be started */
static bool in_pool_test;
static int leaving; /* that were given up, and that the engine still has */
static bool linger; /* those that are given up do not go by themselves */
static void (*tell_left)(void *arg);
static void *tell_left_arg;
static long long clock_ms;

static struct event_base *base;
static struct settings settings;
static struct pool *pool;
static const struct language *python, *javascript;

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!in_pool_test)
		return (int)syscall(SYS_clock_gettime, clock, now);
	now->tv_sec = (time_t)(clock_ms / 1000);
	now->tv_nsec = (long)(clock_ms % 1000) * 1000000;
	return 0;
}

struct container *
__wrap_container_start(struct containers *containers,
    const struct container_options *options,
    const struct container_callbacks *callbacks, void *arg, struct err *err)
{
	struct start *start = &starts[start_count];

	if (!in_pool_test)
		return __real_container_start(
		    containers, options, callbacks, arg, err);
	ck_assert_uint_lt(start_count, STARTS_MAX);
	start_count++;
	*start = (struct start){
	    callbacks, arg, options->language, options->mode, STARTING};
	if (options->language != broken)
		return (struct container *)start;
	start->state = GONE;
	err_set(err, ERR_ENGINE, "broken");
	return NULL;
}

void
__wrap_container_abandon(struct container *container)
{
	struct start *start = (struct start *)container;

	if (!in_pool_test) {
		__real_container_abandon(container);
		return;
	}
	leaving += linger && start->state == STARTING;
	start->state = GONE;
}

int
__wrap_containers_leaving(const struct containers *containers)
{
	return in_pool_test ? leaving : __real_containers_leaving(containers);
}

void
__wrap_containers_when_left(
    struct containers *containers, void (*left)(void *arg), void *arg)
{
	if (!in_pool_test)
		__real_containers_when_left(containers, left, arg);
	tell_left = left;
	tell_left_arg = arg;
}

/* What became of a call: its number is arg. */
static struct outcome {
	struct start *start;
	bool failed;
	size_t turn;
} outcomes[STARTS_MAX];
static size_t turns;

static void
on_taken(void *arg, struct container *container, enum container_mode mode)
{
	struct outcome *outcome = arg;

	ck_assert_int_eq(mode, CONTAINER_WARM);
	outcome->start = (struct start *)container;
	outcome->start->state = TAKEN;
	outcome->turn = turns++;
}

static void
on_failed(void *arg, const struct container_end *end, enum container_mode mode)
{
	struct outcome *outcome = arg;

	(void)mode;
	ck_assert_str_eq(end->words, "broken");
	outcome->failed = true;
	outcome->turn = turns++;
}

static void
take(const struct language *language, struct outcome *outcome)
{
	static const struct pool_callbacks callbacks = {on_taken, on_failed};

	pool_take(pool, language, false, &callbacks, outcome);
}

static size_t
count(const struct language *language, int state)
{
	size_t found = 0;

	for (size_t i = 0; i < start_count; i++)
		found += starts[i].language == language &&
		    (int)starts[i].state == state;
	return found;
}

/* Whatever is starting is up; returns how many that were. */
static size_t
all_ready(void)
{
	size_t done = 0;

	for (size_t i = 0; i < start_count; i++) {
		struct start *start = &starts[i];

		if (start->state != STARTING)
			continue;
		start->state = READY;
		start->callbacks->ready(start->arg);
		done++;
	}
	return done;
}

static void
let_pass(int seconds)
{
	for (int i = 0; i < seconds * 1000 / TICK_MS; i++) {
		clock_ms += TICK_MS;
		event_base_loop(base, EVLOOP_NONBLOCK);
	}
}

/* So many seconds go by, and whatever starts is up then. */
static void
seconds(int number)
{
	let_pass(number);
	while (all_ready() > 0)
		let_pass(1);
}

static void
give_back(size_t calls)
{
	for (size_t i = 0; i < calls; i++)
		pool_give_back(pool, python, false);
}

/* A call that comes and goes. */
static void
call(const struct language *language)
{
	struct outcome *outcome = &outcomes[STARTS_MAX - 1];

	take(language, outcome);
	while (all_ready() > 0)
		;
	pool_give_back(pool, language, false);
}

static void
calls_at_once(size_t number)
{
	for (size_t i = 0; i < number; i++)
		take(python, &outcomes[i]);
	while (all_ready() > 0)
		;
	for (size_t i = 0; i < number; i++)
		ck_assert_ptr_nonnull(outcomes[i].start);
	give_back(number);
}

static void
open_pool(const char *spares)
{
	settings_make(&settings, "--pool", spares, "--max-parallel", "6", NULL);
	python = settings.languages.rows[0];
	javascript = settings.languages.rows[1];
	pool = pool_new(base, NULL, &settings);
}

static void
set_up(void)
{
	in_pool_test = true;
	clock_ms = 1000000;
	start_count = turns = 0;
	leaving = 0;
	linger = false;
	broken = NULL;
	for (size_t i = 0; i < STARTS_MAX; i++)
		outcomes[i] = (struct outcome){0};
	base = event_base_new();
}

static void
tear_down(void)
{
	pool_free(pool);
	settings_release(&settings);
	for (size_t i = 0; i < start_count; i++)
		ck_assert(starts[i].state == TAKEN || starts[i].state == GONE);
	event_base_free(base);
	in_pool_test = false;
}

START_TEST(nothing_before_the_first_call)
{
	open_pool("3");
	seconds(1000);
	ck_assert_uint_eq(start_count, 0);
}
END_TEST

START_TEST(a_call_and_then_a_spare)
{
	open_pool("1");
	take(python, &outcomes[0]);
	ck_assert_uint_eq(start_count, 1);
	all_ready();
	ck_assert_ptr_eq(outcomes[0].start, &starts[0]);
	ck_assert_uint_eq(start_count, 1);
	seconds(2);
	ck_assert_uint_eq(count(python, READY), 1);
	ck_assert_uint_eq(count(javascript, READY), 0);
}
END_TEST

START_TEST(without_a_pool_no_spare)
{
	open_pool("0");
	calls_at_once(4);
	seconds(100);
	ck_assert_uint_eq(start_count, 4);
}
END_TEST

START_TEST(first_come_first_served)
{
	open_pool("1");
	for (size_t i = 0; i < 8; i++)
		take(python, &outcomes[i]);
	while (all_ready() > 0)
		;
	for (size_t i = 0; i < 8; i++)
		ck_assert_uint_eq(outcomes[i].turn, i);
}
END_TEST

/* More than the four that start at once: the rest have to wait, and with them
 * everything that is not for a call. */
START_TEST(spares_wait_for_calls)
{
	open_pool("6");
	call(javascript);
	for (size_t i = 0; i < 8; i++)
		take(python, &outcomes[i]);
	let_pass(20);
	ck_assert_uint_eq(start_count, 1 + 4);
	ck_assert_uint_eq(count(python, STARTING), 4);
}
END_TEST

START_TEST(grows_with_the_calls_that_come_together)
{
	open_pool("1");
	calls_at_once(3);
	seconds(5);
	ck_assert_uint_eq(count(python, READY), 3);
}
END_TEST

START_TEST(grows_no_further_than_max_parallel)
{
	open_pool("1");
	calls_at_once(10);
	seconds(5);
	ck_assert_uint_eq(count(python, READY), 6);
}
END_TEST

START_TEST(shrinks_when_nobody_calls)
{
	open_pool("2");
	calls_at_once(5);
	seconds(30);
	ck_assert_uint_eq(count(python, READY), 5);
	seconds(120);
	ck_assert_uint_eq(count(python, READY), 2);
	seconds(1000);
	ck_assert_uint_eq(count(python, READY), 0);
	/* And begins again. */
	call(python);
	seconds(5);
	ck_assert_uint_eq(count(python, READY), 2);
}
END_TEST

/* Few calls do not keep what many once needed. */
START_TEST(a_burst_is_forgotten)
{
	open_pool("1");
	calls_at_once(5);
	for (size_t i = 0; i < 10; i++) {
		seconds(20);
		call(python);
	}
	seconds(20);
	ck_assert_uint_eq(count(python, READY), 1);
}
END_TEST

START_TEST(a_language_does_not_keep_another_s_spares)
{
	open_pool("1");
	call(javascript);
	for (size_t i = 0; i < 12; i++) {
		seconds(100);
		call(python);
	}
	seconds(5);
	ck_assert_uint_eq(count(python, READY), 1);
	ck_assert_uint_eq(count(javascript, READY), 0);
}
END_TEST

START_TEST(a_failure_is_told_to_who_waits)
{
	open_pool("1");
	take(python, &outcomes[0]);
	take(python, &outcomes[1]);
	starts[0].state = GONE;
	starts[0].callbacks->ended(starts[0].arg,
	    &(struct container_end){
	        .kind = CONTAINER_FAILED, .words = "broken"});
	ck_assert(outcomes[0].failed);
	all_ready();
	ck_assert_ptr_eq(outcomes[1].start, &starts[1]);
}
END_TEST

/* Tries after 2, 4, 8, 16, 32 seconds and then every minute; and a call of
 * another language has its spare at once, and does not cause another try. */
START_TEST(a_broken_language_backs_off_alone)
{
	long long begun = clock_ms, minutes;

	open_pool("1");
	call(javascript);
	broken = javascript;
	for (size_t i = 0; i < 20; i++) {
		seconds(10);
		call(python);
		seconds(2);
		ck_assert_uint_eq(count(python, READY), 1);
	}
	minutes = (clock_ms - begun) / 60000;
	ck_assert_uint_ge(count(javascript, GONE), 3);
	ck_assert_int_le((long long)count(javascript, GONE), 6 + minutes);
}
END_TEST

static void
lose_spares(void)
{
	for (size_t i = 0; i < start_count; i++) {
		if (starts[i].state != READY)
			continue;
		starts[i].state = GONE;
		starts[i].callbacks->ended(
		    starts[i].arg, &(struct container_end){.words = ""});
	}
}

START_TEST(a_spare_that_died_is_replaced_after_a_rest)
{
	open_pool("1");
	call(python);
	seconds(2);
	lose_spares();
	ck_assert_uint_eq(count(python, READY), 0);
	seconds(10);
	ck_assert_uint_eq(count(python, READY), 1);
}
END_TEST

/* 2, 4, 8 and 16 seconds, although each of them came up. */
START_TEST(spares_that_keep_dying_are_put_off_longer_each_time)
{
	open_pool("1");
	call(python);
	for (int i = 0; i < 40; i++) {
		seconds(1);
		lose_spares();
	}
	ck_assert_uint_eq(start_count, 1 + 5);
}
END_TEST

/* Four start at once, and one of each language waits, which are served as they
 * came, however many of the first language come behind them. */
START_TEST(no_language_starves_another)
{
	open_pool("0");
	for (size_t i = 0; i < 4; i++)
		take(python, &outcomes[i]);
	take(javascript, &outcomes[4]);
	for (size_t i = 5; i < 12; i++)
		take(python, &outcomes[i]);
	while (all_ready() > 0)
		;
	ck_assert_ptr_nonnull(outcomes[4].start);
	ck_assert_uint_le(outcomes[4].turn, 7);
	for (size_t i = 0; i < 12; i++)
		ck_assert_ptr_nonnull(outcomes[i].start);
}
END_TEST

START_TEST(no_call_waits_behind_later_ones)
{
	size_t next = 5;

	open_pool("0");
	for (size_t i = 0; i < 4; i++)
		take(python, &outcomes[i]);
	take(javascript, &outcomes[4]);
	/* For each that comes up, another call of the same language. */
	for (size_t i = 0; outcomes[4].start == NULL && i < start_count; i++) {
		ck_assert_uint_lt(next, 12);
		take(python, &outcomes[next++]);
		starts[i].state = READY;
		starts[i].callbacks->ready(starts[i].arg);
	}
	ck_assert_ptr_nonnull(outcomes[4].start);
	while (all_ready() > 0)
		;
}
END_TEST

/* Calls that are cancelled while they start leave the engine with work. */
START_TEST(starts_that_linger_are_bounded)
{
	size_t before;

	open_pool("0");
	linger = true;
	for (size_t i = 0; i < 60; i++) {
		take(python, &outcomes[0]);
		pool_forget(pool, &outcomes[0]);
	}
	ck_assert_uint_eq(start_count, 16);
	take(python, &outcomes[1]);
	seconds(5);
	ck_assert_ptr_null(outcomes[1].start);
	before = start_count;
	leaving--;
	tell_left(tell_left_arg);
	seconds(1);
	ck_assert_uint_eq(start_count, before + 1);
	ck_assert_ptr_nonnull(outcomes[1].start);
}
END_TEST

/* Six at once in the first language leave room for --pool in the other. */
START_TEST(spares_of_all_languages_are_bounded)
{
	open_pool("1");
	calls_at_once(6);
	for (size_t i = 0; i < 6; i++)
		take(javascript, &outcomes[10 + i]);
	while (all_ready() > 0)
		;
	for (size_t i = 0; i < 6; i++)
		pool_give_back(pool, javascript, false);
	seconds(5);
	ck_assert_uint_eq(count(python, READY), 6);
	ck_assert_uint_eq(count(javascript, READY), 1);
}
END_TEST

/* A daemon that is restarted takes all of them at once. */
START_TEST(spares_that_die_together_are_put_off_once)
{
	open_pool("1");
	calls_at_once(5);
	seconds(5);
	ck_assert_uint_eq(count(python, READY), 5);
	lose_spares();
	seconds(3);
	ck_assert_uint_eq(count(python, READY), 5);
}
END_TEST

START_TEST(a_call_that_is_served_ends_the_rest)
{
	open_pool("1");
	call(python);
	for (int i = 0; i < 30; i++) {
		seconds(1);
		lose_spares();
	}
	ck_assert_uint_eq(count(python, READY), 0);
	call(python);
	seconds(1);
	ck_assert_uint_eq(count(python, READY), 1);
}
END_TEST

/* An interpreter that did not wait is tried again, although calls go on. */
START_TEST(warmth_is_tried_again)
{
	enum container_mode modes[25];

	open_pool("0");
	ck_assert(!pool_knows_shell(pool, python));
	call(python);
	ck_assert(pool_knows_shell(pool, python));
	ck_assert(!pool_knows_shell(pool, javascript));
	pool_set_mode(pool, python, CONTAINER_PLAIN);
	for (size_t i = 0; i < COUNT(modes); i++) {
		take(python, &outcomes[0]);
		modes[i] = starts[start_count - 1].mode;
		pool_forget(pool, &outcomes[0]);
		let_pass(30);
	}
	ck_assert_int_eq(modes[0], CONTAINER_PLAIN);
	ck_assert_int_eq(modes[15], CONTAINER_PLAIN);
	ck_assert_int_eq(modes[24], CONTAINER_WARM);
}
END_TEST

/* Four start at once, and a fifth waits; then nobody wants those four. */
START_TEST(starts_that_are_given_up_make_room)
{
	open_pool("0");
	for (size_t i = 0; i < 4; i++)
		take(python, &outcomes[i]);
	take(javascript, &outcomes[4]);
	ck_assert_uint_eq(count(javascript, STARTING), 0);
	for (size_t i = 0; i < 4; i++)
		pool_forget(pool, &outcomes[i]);
	ck_assert_uint_eq(count(python, GONE), 4);
	seconds(1);
	ck_assert_ptr_nonnull(outcomes[4].start);
}
END_TEST

Suite *
pool_suite(void)
{
	Suite *suite = suite_create("pool");
	TCase *tcase = tcase_create("pool");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, nothing_before_the_first_call);
	tcase_add_test(tcase, a_call_and_then_a_spare);
	tcase_add_test(tcase, without_a_pool_no_spare);
	tcase_add_test(tcase, first_come_first_served);
	tcase_add_test(tcase, no_language_starves_another);
	tcase_add_test(tcase, no_call_waits_behind_later_ones);
	tcase_add_test(tcase, starts_that_linger_are_bounded);
	tcase_add_test(tcase, spares_of_all_languages_are_bounded);
	tcase_add_test(tcase, spares_that_die_together_are_put_off_once);
	tcase_add_test(tcase, a_call_that_is_served_ends_the_rest);
	tcase_add_test(tcase, warmth_is_tried_again);
	tcase_add_test(tcase, spares_wait_for_calls);
	tcase_add_test(tcase, grows_with_the_calls_that_come_together);
	tcase_add_test(tcase, grows_no_further_than_max_parallel);
	tcase_add_test(tcase, shrinks_when_nobody_calls);
	tcase_add_test(tcase, a_burst_is_forgotten);
	tcase_add_test(tcase, a_language_does_not_keep_another_s_spares);
	tcase_add_test(tcase, a_failure_is_told_to_who_waits);
	tcase_add_test(tcase, a_broken_language_backs_off_alone);
	tcase_add_test(tcase, a_spare_that_died_is_replaced_after_a_rest);
	tcase_add_test(
	    tcase, spares_that_keep_dying_are_put_off_longer_each_time);
	tcase_add_test(tcase, starts_that_are_given_up_make_room);
	suite_add_tcase(suite, tcase);
	return suite;
}
