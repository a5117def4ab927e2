/* test_detect.c: languages of sample sentences, tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terms_of.h"

struct sample {
	const char *tag, *text;
};

static const struct sample samples[] = {
	{ "ar", "وصل القطار إلى المحطة قبل الفجر، وكان المسافرون ينتظرون في البرد منذ ساعات." },
	{ "da", "Jeg har aldrig set noget så smukt som havet ved Skagen, når solen går ned." },
	{ "de", "Der alte Gärtner hat gestern die Rosen geschnitten, weil es bald Winter wird." },
	{ "el", "Το πλοίο φεύγει από το λιμάνι κάθε πρωί στις οκτώ." },
	{ "en", "The old gardener cut the roses yesterday because winter will be here soon." },
	{ "es", "El panadero abre su tienda antes de que salga el sol y cierra cuando ya no queda pan." },
	{ "fi", "Vanha mies istui rannalla ja katseli, kun veneet palasivat kotiin ennen myrskyä." },
	{ "fr", "La boulangère ouvre sa boutique avant le lever du soleil et ferme quand il n'y a plus de pain." },
	{ "hi", "पुरानी किताबों की दुकान शहर के बीच में है और वहाँ हर दिन लोग आते हैं।" },
	{ "hu", "Az öreg kertész tegnap megmetszette a rózsákat, mert hamarosan itt van a tél." },
	{ "id", "Kapal itu berangkat dari pelabuhan setiap pagi dan kembali sebelum malam." },
	{ "it", "Il fornaio apre la bottega prima dell'alba e chiude quando non c'è più pane." },
	{ "ja", "駅前の古い本屋は、毎朝九時に開きます。" },
	{ "ko", "역 앞의 오래된 서점은 매일 아침 아홉 시에 문을 엽니다." },
	{ "nl", "De oude tuinman heeft gisteren de rozen gesnoeid, omdat het bijna winter is." },
	{ "no", "Jeg har aldri sett noe så vakkert som havet etter at stormen har lagt seg." },
	{ "pt", "O padeiro abre a loja antes do nascer do sol e fecha quando já não há pão." },
	{ "ro", "Brutarul deschide prăvălia înainte de răsărit și o închide când nu mai este pâine." },
	{ "ru", "Старый садовник вчера подрезал розы, потому что скоро наступит зима." },
	{ "sv", "Jag har aldrig sett något så vackert som havet efter att stormen har lagt sig." },
	{ "th", "ร้านหนังสือเก่าหน้าสถานีเปิดทุกวันตอนเก้าโมงเช้า" },
	{ "tr", "Yaşlı bahçıvan dün gülleri budadı, çünkü kış yakında gelecek ve hava çok soğuk olacak." },
	{ "vi", "Hiệu sách cũ trước nhà ga mở cửa vào chín giờ mỗi buổi sáng." },
	{ "zh", "车站前的旧书店每天早上九点开门。" },
	/* Questions are short. */
	{ "en", "Who was the first president?" },
	{ "de", "Wer war der erste Präsident?" },
	{ "fr", "Qui était le premier président ?" },
	{ "es", "¿Quién fue el primer presidente?" },
	{ "zh", "谁是第一任总统？" },
	{ "ja", "初代大統領は誰ですか" },
	/* Mixed scripts: the larger one. */
	{ "ja", "GPUを使ったモデルの学習方法について説明します。PyTorch 2.0" },
	{ "ru", "Установите пакет nginx и не забудьте про файл nginx.conf, он нужен для запуска." },
};

/* Too little to tell, or languages that are not ours. */
static const char *const unknown[] = {
	"", " ", "12345", "x", "nginx", "kubectl apply", "\xFF\xFE", "🎉🎉🎉",
	"Zażółć gęślą jaźń, mówi stary ogrodnik do róż.", "Příliš žluťoučký kůň úpěl ďábelské ódy.",
	"Старий садівник учора підрізав троянди, бо скоро зима і їх треба вкрити.",
	"کتاب‌فروشی قدیمی روبه‌روی ایستگاه هر روز ساعت نه باز می‌شود."
};

static void test_samples(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const char *got = text_lang_tag(text_lang_detect(bytes_of(samples[i].text)));

		if (strcmp(got, samples[i].tag) != 0) {
			print_error("%s taken for '%s': %s\n", samples[i].tag, got,
				samples[i].text);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void test_unknown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		const char *got = text_lang_tag(text_lang_detect(bytes_of(unknown[i])));

		if (*got)
			fail_msg("taken for %s: %s", got, unknown[i]);
	}
	assert_int_equal(text_lang_detect(BYTES_NONE), TEXT_LANG_NONE);
}

/* Only the start is looked at, wherever that cuts. */
static void test_long_text(void **state)
{
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (unsigned i = 0; i < 1500; i++)
		strbuf_adds(&text, "и это не так ");
	for (size_t cut = 4090; cut < 4100; cut++)
		assert_int_equal(text_lang_detect((struct bytes){ text.data, cut }), TEXT_LANG_RU);
	assert_int_equal(text_lang_detect((struct bytes){ text.data, text.len }), TEXT_LANG_RU);
	strbuf_release(&text);
}

static void test_tags(void **state)
{
	(void)state;
	for (unsigned lang = 1; lang < TEXT_LANG_COUNT; lang++) {
		const char *tag = text_lang_tag((enum text_lang)lang);

		assert_int_equal(strlen(tag), 2);
		assert_int_equal(text_lang_parse(bytes_of(tag)), lang);
	}
	assert_int_equal(text_lang_parse(bytes_of("EN-gb")), TEXT_LANG_EN);
	assert_int_equal(text_lang_parse(bytes_of("pt_BR")), TEXT_LANG_PT);
	assert_int_equal(text_lang_parse(bytes_of("zh-Hant-TW")), TEXT_LANG_ZH);
	assert_int_equal(text_lang_parse(bytes_of("nb")), TEXT_LANG_NO);
	assert_int_equal(text_lang_parse(bytes_of("nn-NO")), TEXT_LANG_NO);
	assert_int_equal(text_lang_parse(bytes_of("")), TEXT_LANG_NONE);
	assert_int_equal(text_lang_parse(BYTES_NONE), TEXT_LANG_NONE);
	assert_int_equal(text_lang_parse(bytes_of("e")), TEXT_LANG_NONE);
	assert_int_equal(text_lang_parse(bytes_of("english")), TEXT_LANG_NONE);
	assert_int_equal(text_lang_parse(bytes_of("xx")), TEXT_LANG_NONE);
	assert_string_equal(text_lang_tag(TEXT_LANG_NONE), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
