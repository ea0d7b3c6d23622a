#include "crypt/key.h"

#include "base/assert.h"
#include "base/buf.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

/* Two versions of a format never share a key. */
static const char salt[] = "cloche keys 1";

void key_random(void *ret_bytes, size_t size)
{
	int r = gnutls_rnd(GNUTLS_RND_KEY, ret_bytes, size);

	assert(r == 0);
}

/* Every part with its length before it. */
static void info_fill(
	const char *label, const struct str *parts, size_t n_parts, struct buf *ret_info)
{
	int r = buf_add(ret_info, label, strlen(label) + 1);

	for (size_t i = 0; r == 0 && i < n_parts; i++) {
		uint64_t n = parts[i].n;

		r = buf_add(ret_info, &n, sizeof(n));
		if (r == 0)
			r = buf_add_slice(ret_info, parts[i]);
	}
	assert(r == 0);
}

void key_derive(const struct key *from, const char *label, const struct str *parts, size_t n_parts,
	struct key *ret_key)
{
	AUTO_BUF struct buf info = BUF_INIT(KEY_INFO_MAX + 256);
	uint8_t middle[KEY_SIZE];
	const gnutls_datum_t from_datum = { (unsigned char *)(uintptr_t)from->bytes, KEY_SIZE };
	const gnutls_datum_t salt_datum = { (unsigned char *)(uintptr_t)salt, sizeof(salt) - 1 };
	const gnutls_datum_t middle_datum = { middle, sizeof(middle) };
	gnutls_datum_t info_datum;
	int r;

	assert(n_parts <= KEY_PARTS_MAX);
	info_fill(label, parts, n_parts, &info);
	info_datum = (gnutls_datum_t){ (unsigned char *)info.data, (unsigned)info.len };
	r = gnutls_hkdf_extract(GNUTLS_MAC_SHA256, &from_datum, &salt_datum, middle);
	if (r == 0)
		r = gnutls_hkdf_expand(
			GNUTLS_MAC_SHA256, &middle_datum, &info_datum, ret_key->bytes, KEY_SIZE);
	gnutls_memset(middle, 0, sizeof(middle));
	assert(r == 0);
}

void key_wipe(struct key *key)
{
	gnutls_memset(key->bytes, 0, KEY_SIZE);
}
