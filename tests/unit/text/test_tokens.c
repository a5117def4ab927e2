/*
 * test_tokens.c: the estimate of tokens against counts of a real tokenizer (o200k), and
 * what callers rely on.
 */
#include "../unit.h"

#include <stdlib.h>

#include "text/chunk_private.h"

struct sample {
	size_t tokens; /* as the tokenizer counts */
	const char *text;
};

static const struct sample english[] = {
	{ 74,
		"The harbour was quiet when the last ferry came in. A few gulls stood on the "
		"railing, and the man who sold tickets had already locked his window. Nobody had "
		"told the passengers that the storm would keep the boats in port for two days, so "
		"they walked up the hill with their bags and asked for rooms in the only hotel that "
		"was still open in winter." },
	{ 70,
		"A search engine that answers questions must know which parts of a document belong "
		"together. If it cuts a text every thousand characters, a heading may stand in one "
		"piece and its paragraph in the next, and neither says much alone. It is better to "
		"follow the structure that the author gave the text, and to cut sentences only where "
		"nothing else is left." },
	{ 78,
		"Bread needs little more than flour, water, salt and time. Mix them in the evening, "
		"cover the bowl with a cloth, and leave it on the kitchen table until morning. The "
		"dough will have doubled by then. Shape it gently, let it rest for another hour, and "
		"bake it in a very hot oven; after forty minutes the crust should sound hollow when "
		"you knock on it." },
	{ 73,
		"In 1846, two astronomers working independently predicted the position of an unknown "
		"planet from small irregularities in the orbit of Uranus. Neptune was found within "
		"one degree of the calculated place, on the first night that anybody looked. The "
		"discovery was celebrated as a triumph of Newtonian mechanics, although the question "
		"of who deserved the credit occupied both countries for decades." },
	{ 72,
		"Before you change the configuration, make a copy of the file and note which version "
		"of the server is running. Most settings take effect after a reload, but the "
		"listening address, the number of worker threads and the data directory are read "
		"only once, at startup. The server refuses to start with an unknown key, and the "
		"message says which line it didn't understand." },
	{ 84,
		"\"I don't think we'll get there before dark,\" she said, \"but we can't stay here "
		"either.\" He looked at the map again - it was an old one, printed in the sixties, "
		"and half of the roads weren't on it - and then at the sky. They'd have to follow "
		"the river; there was simply no other way, and whoever had told them otherwise "
		"hadn't been here for a very long time." },
};

/* Program text, German, Chinese, Japanese, numbers. */
static const struct sample others[] = {
	/* code */
	{ 79,
		"static size_t count_words(const char *p, size_t n)\n"
		"{\n"
		"\tsize_t words = 0;\n"
		"\tbool inside = false;\n"
		"\n"
		"\tfor (size_t i = 0; i < n; i++) {\n"
		"\t\tbool letter = isalpha((unsigned char)p[i]);\n"
		"\n"
		"\t\tif (letter && !inside)\n"
		"\t\t\twords++;\n"
		"\t\tinside = letter;\n"
		"\t}\n"
		"\treturn words;\n"
		"}\n" },
	/* de */
	{ 62,
		"Der Hafen lag still, als die letzte Fähre einlief. Ein paar Möwen saßen auf dem "
		"Geländer, und der Mann, der die Fahrkarten verkaufte, hatte sein Fenster schon "
		"geschlossen. Niemand hatte den Reisenden gesagt, dass der Sturm die Schiffe zwei "
		"Tage lang festhalten würde." },
	/* zh */
	{ 81,
		"最后一班渡轮进港的时候，港口很安静。几只海鸥站在栏杆上，"
		"卖票的人已经锁上了窗户。没有人告诉乘客，暴风雨会让船只在"
		"港口停留两天，所以他们提着行李走上山坡，去唯一一家冬天还"
		"营业的旅馆要房间。" },
	/* ja */
	{ 80,
		"最後のフェリーが入ってきたとき、港は静かだった。数羽のカ"
		"モメが手すりに止まり、切符売りの男はもう窓口を閉めていた"
		"。嵐のために船が二日間港にとどまることを、誰も乗客に知ら"
		"せていなかった。" },
	/* numbers */
	{ 64,
		"2024-01-15 12:30:45, 1234567 items at 19.99 each; 3.14159265 and 100000000, 42% of "
		"8192, from 10.0.0.1 to 10.0.255.254.\n" },
};

static void check(const struct sample *s, size_t percent)
{
	size_t got = text_tokens(bytes_of(s->text)),
	       off = got > s->tokens ? got - s->tokens : s->tokens - got;

	if (off * 100 > percent * s->tokens)
		fail_msg("%zu instead of %zu: %s", got, s->tokens, s->text);
}

/* REQ: D43 */
static void test_within_15_percent_on_english(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(english) / sizeof(english[0]); i++)
		check(&english[i], 15);
}

static void test_near_on_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		check(&others[i], 25);
}

/* A start never counts more than the whole. */
static void test_monotonic(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct bytes b = bytes_of(others[i].text);
		size_t before = 0;

		for (size_t n = 0; n <= b.len; n++) {
			size_t got;

			if (n < b.len && ((unsigned char)b.data[n] & 0xC0) == 0x80)
				continue;
			got = text_tokens((struct bytes){ b.data, n });
			assert_true(got >= before);
			before = got;
		}
	}
	assert_int_equal(text_tokens(BYTES_NONE), 0);
	assert_int_equal(text_tokens(bytes_of("a")), 1);
}

/* Counting piece by piece gives the same; the limit is exact. */
static void test_goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(english) / sizeof(english[0]); i++) {
		struct bytes b = bytes_of(english[i].text);
		size_t all = text_tokens(b);

		for (size_t cut = 0; cut <= b.len; cut += 7) {
			struct token_count c = { 0 };

			assert_true(tokens_add(&c, b.data, cut, SIZE_MAX));
			assert_true(tokens_add(&c, b.data + cut, b.len - cut, all));
			assert_int_equal(tokens_of(&c), all);
			memset(&c, 0, sizeof(c));
			assert_false(tokens_add(&c, b.data, b.len, all - 1));
		}
	}
}

/* Long runs of anything cost something, but not each character. */
static void test_runs(void **state)
{
	static const char *const runs[] = { " ", "\n", "-", "a", "A", "7" };
	static char text[100000];

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		size_t got;

		memset(text, runs[i][0], sizeof(text));
		got = text_tokens((struct bytes){ text, sizeof(text) });
		assert_in_range(got, sizeof(text) / 70, sizeof(text));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_15_percent_on_english),
		cmocka_unit_test(test_near_on_others),
		cmocka_unit_test(test_monotonic),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
