#include "fetch/url.h"

#include "base/macro.h"
#include "base/str.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

/* True if the URL has this part. */
static bool part_is_there(CURLU *url, CURLUPart part)
{
	char *text = NULL;
	bool is_there = curl_url_get(url, part, &text, 0) == CURLUE_OK;

	curl_free(text);
	return is_there;
}

/* The part into text of size bytes. Returns 0 or -EINVAL. */
static int part_copy(CURLU *url, CURLUPart part, char *text, size_t size)
{
	char *found = NULL;
	int r = curl_url_get(url, part, &found, 0) == CURLUE_OK ? str_copy(text, size, found)
								: -EINVAL;

	curl_free(found);
	return r < 0 ? -EINVAL : 0;
}

static bool host_is_loopback(const char *host)
{
	struct str h = str_from(host);

	return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
	       (str_starts(h, STR("127.")) && strspn(host, "0123456789.") == h.n);
}

static int url_judge(CURLU *url, const char *text, struct fetch_url *out, const char **ret_why)
{
	static const CURLUPart refused[] = { CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY,
		CURLUPART_FRAGMENT };
	char scheme[16], host[256];
	size_t n;

	*ret_why = "it is no URL";
	if (curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK)
		return -EINVAL;
	*ret_why = "it is neither http:// nor https://";
	if (part_copy(url, CURLUPART_SCHEME, scheme, sizeof(scheme)) < 0 ||
		(strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		return -EINVAL;
	*ret_why = "a user, password, query or fragment has no meaning there";
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (part_is_there(url, refused[i]))
			return -EINVAL;
	*ret_why = "it is too long";
	if (part_copy(url, CURLUPART_HOST, host, sizeof(host)) < 0 ||
		part_copy(url, CURLUPART_URL, out->base, sizeof(out->base)) < 0)
		return -EINVAL;
	n = strlen(out->base);
	while (n > 0 && out->base[n - 1] == '/')
		out->base[--n] = '\0';
	out->is_loopback = host_is_loopback(host);
	return 0;
}

int fetch_url_parse(const char *text, struct fetch_url *ret_url, const char **ret_why)
{
	struct fetch_url parsed = { .base = "" };
	CURLU *url = curl_url();
	int r = -EINVAL;

	*ret_why = "no memory for it";
	if (url)
		r = url_judge(url, text, &parsed, ret_why);
	curl_url_cleanup(url);
	if (r == 0)
		*ret_url = parsed;
	return r;
}
