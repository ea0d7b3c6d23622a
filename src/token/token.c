/*
 * Theory of operation: a token is 260 random bits, so a plain SHA-256 of it can be kept: there is
 * nothing to guess. To find one, the hash of what came is compared with all of them, each in
 * constant time, to the end of the list; so the time of a refusal tells nothing.
 */
#include "token/token.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/macro.h"

#include <errno.h>
#include <inttypes.h>

static bool is_name(struct str text, size_t max)
{
	if (text.n == 0 || text.n > max)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			    c == '.' || c == '_' || c == ':' || c == '-'))
			return false;
	}
	return true;
}

int token_set_tenant(struct token *token, struct str text)
{
	if (!is_name(text, TOKEN_TENANT_MAX))
		return -EINVAL;
	return str_format(token->tenant, sizeof(token->tenant), "%.*s", STR_ARG(text));
}

int token_set_scopes(struct token *token, struct str text)
{
	unsigned scopes = 0;
	struct str word;

	while (text.n > 0) {
		(void)str_split_once(text, ',', &word, &text);
		if (str_eq(word, STR("run")))
			scopes |= TOKEN_SCOPE_RUN;
		else if (str_eq(word, STR("admin")))
			scopes |= TOKEN_SCOPE_ADMIN;
		else
			return -EINVAL;
	}
	if (scopes == 0)
		return -EINVAL;
	token->scopes = scopes;
	return 0;
}

int token_set_profiles(struct token *token, struct str text)
{
	struct str word;
	size_t n = 0;

	if (str_eq(text, STR("*"))) {
		token->n_profiles = 0;
		return 0;
	}
	while (text.n > 0) {
		(void)str_split_once(text, ',', &word, &text);
		if (n == TOKEN_PROFILES_MAX || !is_name(word, TOKEN_PROFILE_SIZE - 1))
			return -EINVAL;
		(void)str_format(token->profiles[n++], TOKEN_PROFILE_SIZE, "%.*s", STR_ARG(word));
	}
	token->n_profiles = n;
	return n > 0 ? 0 : -EINVAL;
}

/* One line with its five or six words. Returns 0, or -EINVAL with *ret_wrong naming the word. */
static int line_parse(struct str line, struct token *token, const char **ret_wrong)
{
	struct str hash, tenant, scopes, profiles, created, policy;

	(void)str_split_once(line, ' ', &hash, &line);
	(void)str_split_once(line, ' ', &tenant, &line);
	(void)str_split_once(line, ' ', &scopes, &line);
	(void)str_split_once(line, ' ', &profiles, &line);
	token->is_kept = str_split_once(line, ' ', &created, &policy);
	*ret_wrong = "the hash";
	if (hash_parse(hash, &token->hash) < 0)
		return -EINVAL;
	*ret_wrong = "the tenant";
	if (token_set_tenant(token, tenant) < 0)
		return -EINVAL;
	*ret_wrong = "the scopes";
	if (token_set_scopes(token, scopes) < 0)
		return -EINVAL;
	*ret_wrong = "the profiles";
	if (token_set_profiles(token, profiles) < 0)
		return -EINVAL;
	*ret_wrong = "the time";
	if (str_to_u64(created, INT64_MAX, &token->created_unix) < 0)
		return -EINVAL;
	*ret_wrong = "the policy";
	return token->is_kept && !str_eq(policy, STR("kept")) ? -EINVAL : 0;
}

int tokens_parse(struct str text, struct tokens *ret_tokens, struct fault *ret_fault)
{
	AUTO_FREE struct token *items = NULL;
	unsigned number = 0;
	size_t n = 0;
	struct str line;

	while (text.n > 0) {
		struct token token = { 0 };
		const char *wrong = "";

		(void)str_split_once(text, '\n', &line, &text);
		line = str_trim(line);
		number++;
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (n == TOKENS_MAX) {
			fault_set(ret_fault, FAULT_BAD_REQUEST, "more than %d tokens", TOKENS_MAX);
			return -EBADMSG;
		}
		if (line_parse(line, &token, &wrong) < 0) {
			fault_set(ret_fault, FAULT_BAD_REQUEST, "line %u: %s is wrong", number,
				wrong);
			return -EBADMSG;
		}
		items = xrealloc(items, (n + 1) * sizeof(*items));
		items[n++] = token;
	}
	*ret_tokens = (struct tokens){ .items = TAKE_PTR(items), .n = n };
	return 0;
}

const struct token *tokens_find(const struct tokens *tokens, struct str secret)
{
	struct hash hash = hash_make(secret);
	const struct token *found = NULL;

	for (size_t i = 0; i < tokens->n; i++)
		if (hash_is_equal(&tokens->items[i].hash, &hash))
			found = &tokens->items[i];
	return found;
}

int token_format(const struct token *token, struct buf *out)
{
	static const char *const scopes[] = { "", "run", "admin", "run,admin" };
	char hash[HASH_TEXT_SIZE];
	int r;

	hash_format(&token->hash, hash);
	r = buf_addf(out, "%s %s %s ", hash, token->tenant, scopes[token->scopes & 3]);
	if (r == 0 && token->n_profiles == 0)
		r = buf_add_char(out, '*');
	for (size_t i = 0; r == 0 && i < token->n_profiles; i++)
		r = buf_addf(out, "%s%s", i > 0 ? "," : "", token->profiles[i]);
	if (r == 0)
		r = buf_addf(out, " %" PRIu64 "%s\n", token->created_unix,
			token->is_kept ? " kept" : "");
	return r;
}
