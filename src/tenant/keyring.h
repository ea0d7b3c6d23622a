#pragma once

#include "base/str.h"
#include "token/token.h"

#include <pthread.h>
#include <stdbool.h>

/* The tokens that hold now, for all threads. */
struct keyring {
	pthread_mutex_t mutex;
	struct tokens tokens;
};

/* Empty: nobody gets in. */
void keyring_init(struct keyring *keyring);

/* Takes the lines in the memfd for those there were. Returns 0, or -errno: then nothing changes. */
int keyring_replace(struct keyring *keyring, int fd);

/* True if the secret is a token's; *ret_token is a copy. */
bool keyring_find(struct keyring *keyring, struct str secret, struct token *ret_token);
