/* date.c: RFC 3339, section 5.6, by hand: strptime(3) knows no fractions or offsets. */
#include "util/date.h"

#define DAY_MS 86400000LL

/* n digits at p, or -1. */
static int digits(const char *p, size_t n)
{
	int v = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		v = v * 10 + (p[i] - '0');
	}
	return v;
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar: years begin in March,
 * so that the leap day is the last of its year. */
static int64_t days_since_epoch(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return era * 146097 + day_of_era - 719468;
}

static bool parse_day(const char *p, int64_t *ret_days)
{
	int year = digits(p, 4), month = digits(p + 5, 2), day = digits(p + 8, 2);

	if (year < 0 || p[4] != '-' || p[7] != '-' || month < 1 || month > 12 || day < 1 ||
		day > days_in_month(year, month))
		return false;
	*ret_days = days_since_epoch(year, month, day);
	return true;
}

/* "Z" or "+hh:mm" filling the rest of the text; milliseconds east of UTC. */
static bool parse_offset(const char *p, size_t n, int64_t *ret_ms)
{
	int hours, minutes;

	if (n == 1 && (*p == 'Z' || *p == 'z')) {
		*ret_ms = 0;
		return true;
	}
	if (n != 6 || (*p != '+' && *p != '-') || p[3] != ':')
		return false;
	hours = digits(p + 1, 2);
	minutes = digits(p + 4, 2);
	if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
		return false;
	*ret_ms = (hours * 60LL + minutes) * 60000 * (*p == '-' ? -1 : 1);
	return true;
}

/* Milliseconds of ".123456" at p; *used bytes belong to it. */
static int64_t parse_fraction(const char *p, size_t n, size_t *used)
{
	int64_t ms = 0, scale = 100;

	*used = 0;
	if (n < 2 || *p != '.' || digits(p + 1, 1) < 0)
		return 0;
	for (*used = 1; *used < n && digits(p + *used, 1) >= 0; ++*used) {
		ms += digits(p + *used, 1) * scale;
		scale /= 10;
	}
	return ms;
}

bool date_parse(struct bytes text, int64_t *ret_ms)
{
	const char *p = text.data;
	int64_t days, offset, fraction;
	int hour, minute, second;
	size_t used;

	if (text.len < 10 || !parse_day(p, &days))
		return false;
	if (text.len == 10) {
		*ret_ms = days * DAY_MS;
		return true;
	}
	if (text.len < 20 || (p[10] != 'T' && p[10] != 't') || p[13] != ':' || p[16] != ':')
		return false;
	hour = digits(p + 11, 2);
	minute = digits(p + 14, 2);
	second = digits(p + 17, 2);
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
		return false;
	fraction = parse_fraction(p + 19, text.len - 19, &used);
	if (second == 60) {
		second = 59;
		fraction = 999;
	}
	if (!parse_offset(p + 19 + used, text.len - 19 - used, &offset))
		return false;
	*ret_ms = days * DAY_MS + ((hour * 60LL + minute) * 60 + second) * 1000 + fraction - offset;
	return true;
}
