/*
 * test_lexical_codec.c: what goes into blocks comes out: bit-packing at every width,
 * patches, Rice's code, lists of all lengths; damaged ones are refused; and no posting
 * ever scores above its block's bound.
 */
#include "lexical_model.h"

#include <stdlib.h>

#include "engine/lexical/postings.h"
#include "engine/lexical/score.h"

static uint32_t draw_width(struct rng *r, unsigned width)
{
	return width ? (uint32_t)(rng_next(r) >> (64 - width)) : 0;
}

static void test_pack_widths(void **state)
{
	struct rng r = { 1 };

	(void)state;
	for (unsigned width = 0; width <= 32; width++) {
		uint32_t in[LEX_BLOCK], out[LEX_BLOCK];
		unsigned char *bytes = malloc(lex_packed_size(width) + 1); /* for ASan's eyes */

		assert_non_null(bytes);
		for (int round = 0; round < 50; round++) {
			for (unsigned i = 0; i < LEX_BLOCK; i++)
				in[i] = round ? draw_width(&r, width)
					      : (uint32_t)((UINT64_C(1) << width) - 1);
			lex_pack(in, width, bytes);
			lex_unpack(bytes, width, out);
			assert_memory_equal(in, out, sizeof(in));
		}
		free(bytes);
	}
}

static void test_gaps(void **state)
{
	struct rng r = { 2 };

	(void)state;
	for (unsigned width = 0; width <= 24; width++) {
		uint32_t gaps[LEX_BLOCK], out[LEX_BLOCK];
		unsigned char bytes[512];

		for (int round = 0; round < 50; round++) {
			uint32_t before = round % 2 ? UINT32_MAX : draw_width(&r, 20);
			uint64_t at = (uint64_t)before + 1;

			for (unsigned i = 0; i < LEX_BLOCK; i++)
				gaps[i] = draw_width(&r, width > 24 ? 24 : width) / 2;
			lex_pack(gaps, width, bytes);
			assert_true(lex_unpack_gaps(bytes, width, before, out));
			at = (uint32_t)at;
			for (unsigned i = 0; i < LEX_BLOCK; i++) {
				at += gaps[i];
				assert_int_equal(out[i], at++);
			}
		}
	}
}

/* Gaps that run over 2^31 or 2^32 must be noticed: ordinals index arrays. */
static void test_gaps_that_run_over(void **state)
{
	uint32_t gaps[LEX_BLOCK] = { 0 }, out[LEX_BLOCK];
	unsigned char bytes[512];

	(void)state;
	gaps[5] = UINT32_MAX;
	lex_pack(gaps, 32, bytes);
	assert_false(lex_unpack_gaps(bytes, 32, 7, out));
	gaps[5] = UINT32_C(1) << 31;
	lex_pack(gaps, 32, bytes);
	assert_false(lex_unpack_gaps(bytes, 32, UINT32_MAX, out));
	for (unsigned i = 0; i < LEX_BLOCK; i++)
		gaps[i] = (1U << 25) - 1;
	lex_pack(gaps, 25, bytes);
	assert_false(lex_unpack_gaps(bytes, 25, 0, out));
	lex_pack(gaps, 24, bytes);
	assert_false(lex_unpack_gaps(bytes, 24, (UINT32_C(1) << 31) - 100, out));
}

static void test_patches(void **state)
{
	struct rng r = { 3 };

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint32_t in[LEX_BLOCK], low[LEX_BLOCK], share = rng_below(&r, 100);
		unsigned wide = rng_below(&r, 33), narrow = rng_below(&r, 4), width;
		struct strbuf patches = STRBUF_INIT;
		unsigned char bytes[512];
		uint32_t out[LEX_BLOCK];

		for (unsigned i = 0; i < LEX_BLOCK; i++)
			in[i] = draw_width(&r, rng_below(&r, 100) < share ? wide : narrow);
		memcpy(low, in, sizeof(in));
		width = lex_patch_choose(low, 255, &patches);
		assert_true(patches.len <= 255 && width <= 32);
		lex_pack(low, width, bytes);
		lex_unpack(bytes, width, out);
		if (patches.len > 0) {
			const unsigned char *p = (const unsigned char *)patches.data;

			assert_ptr_equal(lex_patch_apply(out, width, p, p + patches.len),
				p + patches.len);
			assert_null(lex_patch_apply(low, width, p, p + patches.len - 1));
		}
		assert_memory_equal(in, out, sizeof(in));
		strbuf_release(&patches);
	}
}

static void test_rice(void **state)
{
	struct rng r = { 4 };

	(void)state;
	for (unsigned k = 0; k < 32; k++) {
		struct strbuf sb = STRBUF_INIT;
		uint32_t in[300];
		uint64_t bits = 0;
		struct lex_bits reader;
		uint32_t v;

		for (int i = 0; i < 300; i++) {
			in[i] = draw_width(&r, rng_below(&r, 33));
			lex_put_rice(&sb, &bits, k, in[i]);
		}
		reader = (struct lex_bits){ (unsigned char *)sb.data, 0, sb.len * 8 };
		for (int i = 0; i < 300; i++) {
			assert_true(lex_get_rice(&reader, k, &v));
			assert_int_equal(v, in[i]);
		}
		for (int i = 0; i < 8 && lex_get_rice(&reader, k, &v); i++)
			; /* the padding may hold a number or two, but ends */
		assert_true(reader.at <= reader.end);
		strbuf_release(&sb);
	}
}

static void test_varints_and_bits(void **state)
{
	struct rng r = { 5 };
	unsigned char bits[80];

	(void)state;
	for (unsigned width = 0; width <= 64; width++) {
		struct strbuf sb = STRBUF_INIT;
		uint64_t v = width ? rng_next(&r) >> (64 - width) : 0, got = ~v;
		const unsigned char *p;

		lex_put_varint(&sb, v);
		p = (const unsigned char *)sb.data;
		assert_ptr_equal(lex_get_varint64(p, p + sb.len, &got), p + sb.len);
		assert_true(got == v);
		assert_null(lex_get_varint64(p, p + sb.len - 1, &got));
		for (unsigned at = 0; at < 60; at++) {
			memset(bits, 0, sizeof(bits));
			lex_put_bits(bits, at, width, v);
			assert_true(lex_get_bits(bits, at, width) == v);
		}
		strbuf_release(&sb);
	}
}

#define LIST 1000

/* A list of n postings with random gaps: ordinals, tfs and lengths by ordinal. */
static uint32_t draw_list(struct rng *r, uint32_t n, uint32_t *ords, uint32_t *tfs)
{
	uint32_t ord = rng_below(r, 3), spread = 1 + rng_below(r, 60);

	for (uint32_t i = 0; i < n; i++) {
		ords[i] = ord;
		ord += 1 + rng_below(r, spread);
		tfs[i] = rng_below(r, 5) ? 1 : 1 + rng_below(r, rng_below(r, 50) ? 6 : 70000);
	}
	return ord;
}

static void test_lists(void **state)
{
	static uint32_t ords[LIST], tfs[LIST], lengths[LIST * 64];
	struct rng r = { 6 };
	struct lex_encoder en;
	struct lex_decoder de;

	(void)state;
	lex_encoder_init(&en, lengths, 100);
	for (uint32_t n = 1; n < LIST; n += n < 300 ? 1 : 37) {
		uint32_t limit = draw_list(&r, n, ords, tfs), df, at = 0;
		struct strbuf out = STRBUF_INIT;
		bool damaged = false;

		for (uint32_t i = 0; i < n; i++)
			lex_encoder_add(&en, ords[i], tfs[i]);
		assert_true(lex_encoder_finish(&en, &out, &df));
		assert_int_equal(df, n);
		assert_true(lex_decoder_init(&de, (unsigned char *)out.data, out.len, df, limit));
		while (lex_decoder_next(&de, &damaged)) {
			for (uint32_t i = 0; i < de.count; i++, at++) {
				assert_int_equal(de.ords[i], ords[at]);
				assert_int_equal(de.tfs[i], tfs[at]);
			}
		}
		assert_false(damaged);
		assert_int_equal(at, n);
		/* The last ordinal is out of bounds: not accepted. */
		if (lex_decoder_init(&de, (unsigned char *)out.data, out.len, df, ords[n - 1]))
			while (lex_decoder_next(&de, &damaged))
				;
		assert_true(damaged);
		strbuf_release(&out);
	}
	lex_encoder_release(&en);
}

static void test_length_codes(void **state)
{
	(void)state;
	for (uint32_t length = 0; length < 5000; length++) {
		uint32_t code = lex_length_code(length), floor = lex_code_length((uint8_t)code);

		assert_true(floor <= length);
		assert_true(length < 64 ? floor == length
					: length >= 4096 || floor + floor / 32 >= length - 1);
		assert_true(lex_length_code(length + 1) >= code);
	}
	assert_true(lex_code_length(lex_length_code(UINT32_MAX)) <= 4096);
}

/* Under parameters and averages that the block has never seen. */
static void test_bounds_hold(void **state)
{
	static const double ks[] = { 0, 0.5, 1.2, 3 }, bs[] = { 0, 0.4, 0.75, 1 };
	struct rng r = { 8 };
	struct lex_model *m = malloc(sizeof(*m));

	(void)state;
	assert_non_null(m);
	for (int round = 0; round < 4000; round++) {
		uint32_t tfs[LEX_BLOCK], lengths[LEX_BLOCK], n = 1 + rng_below(&r, LEX_BLOCK);
		unsigned char pairs[LEX_BOUND_BYTES];
		float bound, scores[LEX_BLOCK];

		for (uint32_t i = 0; i < n; i++) {
			tfs[i] = 1 + draw_width(&r, rng_below(&r, 12));
			lengths[i] = draw_width(&r, rng_below(&r, 14));
			if (round % 2) { /* more pairs than are kept: long chunks, high tfs */
				tfs[i] = 1 + rng_below(&r, 20);
				lengths[i] = tfs[i] * tfs[i] * 3 + rng_below(&r, 10);
			}
		}
		lex_bound_make(tfs, lengths, n, 1 + rng_below(&r, 200), pairs);
		lex_model_init(m, ks[rng_below(&r, 4)], bs[rng_below(&r, 4)], 100,
			1 + rng_below(&r, 30000));
		bound = lex_bound_score(m, pairs);
		lex_score_run(m, 1, tfs, lengths, n, scores);
		for (uint32_t i = 0; i < n; i++)
			assert_true(scores[i] <= bound * 1.000001F);
	}
	free(m);
}

static void test_checksum_notices(void **state)
{
	unsigned char data[200] = { 0 };
	struct rng r = { 9 };

	(void)state;
	for (size_t n = 0; n < sizeof(data); n++) {
		uint64_t h;

		for (size_t i = 0; i < n; i++)
			data[i] = (unsigned char)rng_next(&r);
		h = lex_checksum(data, n, 1);
		assert_true(h == lex_checksum(data, n, 1) && h != lex_checksum(data, n, 2));
		for (size_t i = 0; i < n; i++) {
			data[i] ^= (unsigned char)(1 << i % 8);
			assert_true(h != lex_checksum(data, n, 1));
			data[i] ^= (unsigned char)(1 << i % 8);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pack_widths),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_gaps_that_run_over),
		cmocka_unit_test(test_patches),
		cmocka_unit_test(test_rice),
		cmocka_unit_test(test_varints_and_bits),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_length_codes),
		cmocka_unit_test(test_bounds_hold),
		cmocka_unit_test(test_checksum_notices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
