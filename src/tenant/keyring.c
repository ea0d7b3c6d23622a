#include "tenant/keyring.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"

#include <errno.h>
#include <sys/stat.h>

void keyring_init(struct keyring *keyring)
{
	*keyring = (struct keyring){ .mutex = PTHREAD_MUTEX_INITIALIZER };
}

/* The memfd's text; its position is not to be trusted. */
static int lines_read(int fd, char **ret_text, size_t *ret_size)
{
	AUTO_FREE char *text = NULL;
	struct stat st;
	ssize_t n;

	if (!fd_is_sealed(fd) || fstat(fd, &st) < 0)
		return -EBADMSG;
	if (st.st_size > (off_t)TOKENS_FILE_MAX)
		return -EFBIG;
	text = xmalloc((size_t)st.st_size + 1);
	n = pread(fd, text, (size_t)st.st_size, 0);
	if (n != st.st_size)
		return -EIO;
	*ret_text = TAKE_PTR(text);
	*ret_size = (size_t)n;
	return 0;
}

int keyring_replace(struct keyring *keyring, int fd)
{
	AUTO_FREE char *text = NULL;
	struct tokens tokens, before;
	struct fault fault;
	size_t size = 0;
	int r = lines_read(fd, &text, &size);

	if (r == 0)
		r = tokens_parse((struct str){ .p = text, .n = size }, &tokens, &fault);
	if (r < 0)
		return r;
	(void)pthread_mutex_lock(&keyring->mutex);
	before = keyring->tokens;
	keyring->tokens = tokens;
	(void)pthread_mutex_unlock(&keyring->mutex);
	free(before.items);
	return 0;
}

bool keyring_find(struct keyring *keyring, struct str secret, struct token *ret_token)
{
	const struct token *found;

	(void)pthread_mutex_lock(&keyring->mutex);
	found = tokens_find(&keyring->tokens, secret);
	if (found)
		*ret_token = *found;
	(void)pthread_mutex_unlock(&keyring->mutex);
	return found;
}
