/*
 * test_lexical_history.c: whatever the history of adds, removes, seals, merges and
 * restarts, searches give what scoring the living set from scratch gives, bit for
 * bit; and old views stay as they were.
 *
 * REQ: DESIGN "Scores depend on the corpus alone"
 */
#include "lexical_model.h"

#include <stdio.h>

#define OLD_VIEWS 4

static void step(struct model *m, uint32_t what)
{
	uint32_t n = 1 + rng_below(&m->rng, 40);

	if (what < 50) {
		for (uint32_t i = 0; i < n; i++)
			model_add(m);
	} else if (what < 70) {
		for (uint32_t i = 0; i < n / 2; i++)
			model_remove_some(m);
	} else if (what < 80) { /* upserts */
		for (uint32_t i = 0; i < n / 4; i++) {
			model_remove_some(m);
			model_add(m);
		}
	}
	model_publish(m);
	if (what >= 95)
		lexical_freeze(m->lx);
	if (what % 4 == 0)
		model_maintain(m);
}

/* A history with some old views kept; head and merges small, so that all happens. */
static void run_history(uint64_t seed, unsigned steps)
{
	struct model m;
	struct model_state old[OLD_VIEWS] = { 0 };

	model_init(&m, seed, 20 + seed % 50, 2 + (unsigned)(seed % 4));
	m.gap = 1 + (uint32_t)(seed % 3) * 4;
	m.ids = seed % 2 ? 10 : 0;
	for (unsigned i = 0; i < steps; i++) {
		uint32_t slot = rng_below(&m.rng, OLD_VIEWS * 4);

		step(&m, rng_below(&m.rng, 100));
		if (i % 5 == 0)
			model_check(&m, 2);
		if (slot < OLD_VIEWS) {
			if (old[slot].view) {
				model_state_check(&m, &old[slot], 2);
				model_state_release(&old[slot]);
			}
			model_state_take(&m, &old[slot]);
		}
	}
	for (int i = 0; i < OLD_VIEWS; i++) {
		if (old[i].view) {
			model_state_check(&m, &old[i], 3);
			model_state_release(&old[i]);
		}
	}
	model_check(&m, 5);
	model_reopen(&m);
	model_check(&m, 5);
	model_release(&m);
}

static void test_histories(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++)
		run_history(seed, 60);
}

/* Restarts in the middle: what is in the files and what is replayed make the whole. */
static void test_restarts(void **state)
{
	(void)state;
	for (uint64_t seed = 100; seed < 110; seed++) {
		struct model m;
		uint64_t last = 0;

		model_init(&m, seed, 30, 3);
		for (unsigned i = 0; i < 80; i++) {
			step(&m, rng_below(&m.rng, 100));
			if (rng_below(&m.rng, 8) == 0) {
				uint64_t commit = model_reopen(&m);

				assert_true(commit >= last && commit <= m.commit);
				last = commit;
				model_check(&m, 2);
			}
		}
		lexical_freeze(m.lx);
		model_maintain(&m);
		assert_int_equal(model_reopen(&m), m.commit);
		model_check(&m, 10);
		model_release(&m);
	}
}

/* Large enough for windows, full blocks, tails and levels of segments. */
static void test_large(void **state)
{
	struct model m;
	struct model_state half;

	(void)state;
	model_init(&m, 7, 5000, 4);
	m.words = 3000;
	m.ids = 50;
	for (int i = 0; i < 30000; i++) {
		model_add(&m);
		if (i % 7 == 0)
			model_remove_some(&m);
		if (i % 100 == 0) {
			model_publish(&m);
			model_maintain(&m);
		}
		if (i == 15000) {
			model_publish(&m);
			model_state_take(&m, &half);
		}
	}
	model_publish(&m);
	model_check(&m, 30);
	model_state_check(&m, &half, 20);
	model_state_release(&half);
	lexical_freeze(m.lx);
	model_maintain(&m);
	model_check(&m, 30);
	model_release(&m);
}

/* Nothing but ties: document ids and chunk numbers decide. */
static void test_ties(void **state)
{
	struct model m;

	(void)state;
	model_init(&m, 3, 500, 3);
	m.words = 4;
	m.ids = 3;
	for (int i = 0; i < 9000; i++) {
		model_add(&m);
		if (i % 100 == 0) {
			model_publish(&m);
			model_maintain(&m);
		}
	}
	model_publish(&m);
	model_check(&m, 20);
	model_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories),
		cmocka_unit_test(test_restarts),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
