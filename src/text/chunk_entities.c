/*
 * chunk_entities.c: character references of HTML: numbers, and the names of HTML 4
 * (with a few that HTML 5 wrote in capitals). Only those that end in a semicolon.
 */
#include "text/chunk_private.h"

#define NAME_MAX 8
#define NUMBER_MAX 10 /* digits */

/* Names in order of their bytes, each filled up with spaces to NAME_MAX. */
static const char names[] =
	"AElig   AMP     Aacute  Acirc   Agrave  Alpha   Aring   Atilde  "
	"Auml    Beta    COPY    Ccedil  Chi     Dagger  Delta   ETH     "
	"Eacute  Ecirc   Egrave  Epsilon Eta     Euml    GT      Gamma   "
	"Iacute  Icirc   Igrave  Iota    Iuml    Kappa   LT      Lambda  "
	"Mu      Ntilde  Nu      OElig   Oacute  Ocirc   Ograve  Omega   "
	"Omicron Oslash  Otilde  Ouml    Phi     Pi      Prime   Psi     "
	"QUOT    REG     Rho     Scaron  Sigma   THORN   Tau     Theta   "
	"Uacute  Ucirc   Ugrave  Upsilon Uuml    Xi      Yacute  Yuml    "
	"Zeta    aacute  acirc   acute   aelig   agrave  alefsym alpha   "
	"amp     and     ang     apos    aring   asymp   atilde  auml    "
	"bdquo   beta    brvbar  bull    cap     ccedil  cedil   cent    "
	"chi     circ    clubs   cong    copy    crarr   cup     curren  "
	"dArr    dagger  darr    deg     delta   diams   divide  eacute  "
	"ecirc   egrave  empty   emsp    ensp    epsilon equiv   eta     "
	"eth     euml    euro    exist   fnof    forall  frac12  frac14  "
	"frac34  frasl   gamma   ge      gt      hArr    harr    hearts  "
	"hellip  iacute  icirc   iexcl   igrave  image   infin   int     "
	"iota    iquest  isin    iuml    kappa   lArr    lambda  lang    "
	"laquo   larr    lceil   ldquo   le      lfloor  lowast  loz     "
	"lrm     lsaquo  lsquo   lt      macr    mdash   micro   middot  "
	"minus   mu      nabla   nbsp    ndash   ne      ni      not     "
	"notin   nsub    ntilde  nu      oacute  ocirc   oelig   ograve  "
	"oline   omega   omicron oplus   or      ordf    ordm    oslash  "
	"otilde  otimes  ouml    para    part    permil  perp    phi     "
	"pi      piv     plusmn  pound   prime   prod    prop    psi     "
	"quot    rArr    radic   rang    raquo   rarr    rceil   rdquo   "
	"real    reg     rfloor  rho     rlm     rsaquo  rsquo   sbquo   "
	"scaron  sdot    sect    shy     sigma   sigmaf  sim     spades  "
	"sub     sube    sum     sup     sup1    sup2    sup3    supe    "
	"szlig   tau     there4  theta   thetasymthinsp  thorn   tilde   "
	"times   trade   uArr    uacute  uarr    ucirc   ugrave  uml     "
	"upsih   upsilon uuml    weierp  xi      yacute  yen     yuml    "
	"zeta    zwj     zwnj    ";

/* What they stand for, in the same order. */
static const uint16_t code_points[] = { 198, 38, 193, 194, 192, 913, 197, 195, 196, 914, 169, 199,
	935, 8225, 916, 208, 201, 202, 200, 917, 919, 203, 62, 915, 205, 206, 204, 921, 207, 922,
	60, 923, 924, 209, 925, 338, 211, 212, 210, 937, 927, 216, 213, 214, 934, 928, 8243, 936,
	34, 174, 929, 352, 931, 222, 932, 920, 218, 219, 217, 933, 220, 926, 221, 376, 918, 225,
	226, 180, 230, 224, 8501, 945, 38, 8743, 8736, 39, 229, 8776, 227, 228, 8222, 946, 166,
	8226, 8745, 231, 184, 162, 967, 710, 9827, 8773, 169, 8629, 8746, 164, 8659, 8224, 8595,
	176, 948, 9830, 247, 233, 234, 232, 8709, 8195, 8194, 949, 8801, 951, 240, 235, 8364, 8707,
	402, 8704, 189, 188, 190, 8260, 947, 8805, 62, 8660, 8596, 9829, 8230, 237, 238, 161, 236,
	8465, 8734, 8747, 953, 191, 8712, 239, 954, 8656, 955, 9001, 171, 8592, 8968, 8220, 8804,
	8970, 8727, 9674, 8206, 8249, 8216, 60, 175, 8212, 181, 183, 8722, 956, 8711, 160, 8211,
	8800, 8715, 172, 8713, 8836, 241, 957, 243, 244, 339, 242, 8254, 969, 959, 8853, 8744, 170,
	186, 248, 245, 8855, 246, 182, 8706, 8240, 8869, 966, 960, 982, 177, 163, 8242, 8719, 8733,
	968, 34, 8658, 8730, 9002, 187, 8594, 8969, 8221, 8476, 174, 8971, 961, 8207, 8250, 8217,
	8218, 353, 8901, 167, 173, 963, 962, 8764, 9824, 8834, 8838, 8721, 8835, 185, 178, 179,
	8839, 223, 964, 8756, 952, 977, 8201, 254, 732, 215, 8482, 8657, 250, 8593, 251, 249, 168,
	978, 965, 252, 8472, 958, 253, 165, 255, 950, 8205, 8204 };
_Static_assert(sizeof(names) - 1 == NAME_MAX * (sizeof(code_points) / sizeof(code_points[0])),
	"a name for each code point");

/* Numbers 128 to 159 mean what Windows-1252 has there, as HTML 5 says. */
static const uint16_t windows[] = { 8364, 129, 8218, 402, 8222, 8230, 8224, 8225, 710, 8240, 352,
	8249, 338, 141, 381, 143, 144, 8216, 8217, 8220, 8221, 8226, 8211, 8212, 732, 8482, 353,
	8250, 339, 157, 382, 376 };

static int digit_value(char c, unsigned base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return base == 16 && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "&#8211;" and "&#x2013;" */
static size_t read_number(const char *p, size_t n, uint32_t *ret_cp)
{
	unsigned base = n > 2 && (p[2] | 0x20) == 'x' ? 16 : 10;
	size_t first = base == 16 ? 3 : 2, i = first;
	uint64_t value = 0;

	for (; i < n && i - first < NUMBER_MAX && digit_value(p[i], base) >= 0; i++)
		value = value * base + (unsigned)digit_value(p[i], base);
	if (i == first || i >= n || p[i] != ';')
		return 0;
	if (value >= 128 && value < 160)
		value = windows[value - 128];
	if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
		return 0;
	*ret_cp = (uint32_t)value;
	return i + 1;
}

static size_t read_name(const char *p, size_t n, uint32_t *ret_cp)
{
	char key[NAME_MAX];
	size_t len = 0, low = 0, high = sizeof(code_points) / sizeof(code_points[0]);

	memset(key, ' ', sizeof(key));
	while (len + 1 < n && p[len + 1] != ';') {
		if (len == NAME_MAX || p[len + 1] < '0')
			return 0;
		key[len] = p[len + 1];
		len++;
	}
	if (len == 0 || len + 1 >= n)
		return 0;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = memcmp(key, names + mid * NAME_MAX, NAME_MAX);

		if (order == 0) {
			*ret_cp = code_points[mid];
			return len + 2;
		}
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return 0;
}

size_t html_entity(const char *p, size_t n, uint32_t *ret_cp)
{
	return n > 1 && p[1] == '#' ? read_number(p, n, ret_cp) : read_name(p, n, ret_cp);
}
