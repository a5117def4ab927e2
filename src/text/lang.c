/* lang.c: languages by their tags (BCP 47; only the first subtag counts). */
#include "text/private.h"

static const char tags[TEXT_LANG_COUNT][3] = {
	[TEXT_LANG_NONE] = "",
	[TEXT_LANG_AR] = "ar",
	[TEXT_LANG_DA] = "da",
	[TEXT_LANG_DE] = "de",
	[TEXT_LANG_EL] = "el",
	[TEXT_LANG_EN] = "en",
	[TEXT_LANG_ES] = "es",
	[TEXT_LANG_FI] = "fi",
	[TEXT_LANG_FR] = "fr",
	[TEXT_LANG_HI] = "hi",
	[TEXT_LANG_HU] = "hu",
	[TEXT_LANG_ID] = "id",
	[TEXT_LANG_IT] = "it",
	[TEXT_LANG_JA] = "ja",
	[TEXT_LANG_KO] = "ko",
	[TEXT_LANG_NL] = "nl",
	[TEXT_LANG_NO] = "no",
	[TEXT_LANG_PT] = "pt",
	[TEXT_LANG_RO] = "ro",
	[TEXT_LANG_RU] = "ru",
	[TEXT_LANG_SV] = "sv",
	[TEXT_LANG_TH] = "th",
	[TEXT_LANG_TR] = "tr",
	[TEXT_LANG_VI] = "vi",
	[TEXT_LANG_ZH] = "zh",
};

enum text_lang text_lang_parse(struct bytes tag)
{
	char first, second;

	if (tag.len < 2 || (tag.len > 2 && tag.data[2] != '-' && tag.data[2] != '_'))
		return TEXT_LANG_NONE;
	first = (char)(tag.data[0] | 0x20);
	second = (char)(tag.data[1] | 0x20);
	if (first == 'n' && (second == 'b' || second == 'n'))
		return TEXT_LANG_NO; /* Bokmal and Nynorsk */
	for (unsigned lang = 1; lang < TEXT_LANG_COUNT; lang++)
		if (tags[lang][0] == first && tags[lang][1] == second)
			return (enum text_lang)lang;
	return TEXT_LANG_NONE;
}

const char *text_lang_tag(enum text_lang lang)
{
	return (unsigned)lang < TEXT_LANG_COUNT ? tags[lang] : "";
}
