#pragma once

#include "base/str.h"
#include "crypt/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fault;

/*
 * Who may use the service: the lines of DIR/tokens, one for each token, never the token itself.
 *
 *     HASH TENANT SCOPES PROFILES CREATED [kept]
 *
 * HASH is the SHA-256 of the token in hexadecimal, TENANT 1 to 64 of A-Za-z0-9._:- , SCOPES "run",
 * "admin" or "run,admin", PROFILES names with commas or "*" for all, CREATED seconds since 1970.
 * With "kept", sessions that this token opens are kept unless it says otherwise.
 * Empty lines and those that begin with # mean nothing.
 */

#define TOKEN_TENANT_MAX   64
#define TOKEN_PROFILES_MAX 8
#define TOKEN_PROFILE_SIZE 32
#define TOKENS_MAX	   1000		 /* one comparison each for every request */
#define TOKENS_FILE_MAX	   (512u * 1024) /* bytes: TOKENS_MAX of the longest lines */
#define TOKEN_ID_LEN	   12		 /* so many digits of the hash name a token to people */

enum token_scope {
	TOKEN_SCOPE_RUN = 1,   /* sessions, runs and files of its tenant */
	TOKEN_SCOPE_ADMIN = 2, /* and to see and end those of all */
};

struct token {
	struct hash hash;
	char tenant[TOKEN_TENANT_MAX + 1];
	unsigned scopes; /* of enum token_scope */
	char profiles[TOKEN_PROFILES_MAX][TOKEN_PROFILE_SIZE];
	size_t n_profiles;     /* 0: all */
	uint64_t created_unix; /* seconds */
	bool is_kept;
};

/* A list; the caller frees the items with free. */
struct tokens {
	struct token *items;
	size_t n;
};

/* Reads the lines. Returns 0, or -EBADMSG with *ret_fault naming the line. */
int tokens_parse(struct str text, struct tokens *ret_tokens, struct fault *ret_fault);

/* The token whose hash is that of the secret, or NULL. Takes as long wherever it stands. */
const struct token *tokens_find(const struct tokens *tokens, struct str secret);

/* Appends the line of a token with its newline. Returns 0 or -ENOBUFS. */
int token_format(const struct token *token, struct buf *out);

/* The parts of a line, as an option gives them: 0, or -EINVAL. */
int token_set_tenant(struct token *token, struct str text);
int token_set_scopes(struct token *token, struct str text);
int token_set_profiles(struct token *token, struct str text);
