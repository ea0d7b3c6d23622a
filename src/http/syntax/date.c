/*
 * Theory of operation: names of days and months are written out here, since strftime's depend on
 * the locale. libmicrohttpd dates its own answers; this is for those that we send ourselves.
 */
#include "http/syntax/date.h"

#include "base/assert.h"
#include "base/str.h"

#include <time.h>

void date_format(char ret_text[DATE_SIZE])
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now = time(NULL);
	struct tm tm;
	int r;

	assert(gmtime_r(&now, &tm));
	r = str_format(ret_text, DATE_SIZE, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
		days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900,
		tm.tm_hour, tm.tm_min, tm.tm_sec);
	assert(r == 0);
}
