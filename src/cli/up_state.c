/*
 * Theory of operation: nothing here follows a link or trusts a name: the directory is opened once,
 * must belong to us and be writable by nobody else, and all its files are opened from its
 * descriptor. The token is written whole under another name and renamed, so it is there whole or
 * not at all, and stays the same over restarts.
 */
#include "cli/up_state.h"

#include "base/buf.h"
#include "base/fault.h"
#include "base/fd.h"
#include "base/str.h"
#include "crypt/secret.h"
#include "token/token.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define TOKEN_SIZE_MAX	 256u /* bytes of DIR/token: a person may put his own there */
#define TOKEN_LENGTH_MIN 24   /* characters: fewer might be guessed */

/* Makes the directory and those above it that are missing. */
static int folders_make(const char *path)
{
	char part[PATH_MAX];
	size_t n = strlen(path);

	if (str_copy(part, sizeof(part), path) < 0)
		return -ENAMETOOLONG;
	for (size_t i = 1; i <= n; i++) {
		if (part[i] != '/' && part[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return -errno;
		part[i] = path[i];
	}
	return 0;
}

static int folder_open(const char *path, int *ret_fd, struct fault *ret_fault)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int r = folders_make(path);

	if (r == 0) {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
	}
	if (r < 0) {
		fault_set(
			ret_fault, FAULT_BAD_REQUEST, "state directory %s: %s", path, strerror(-r));
		return r;
	}
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"state directory %s: must be yours and writable by nobody else (chmod "
			"go-w)",
			path);
		return -EPERM;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Says who holds the lock, from its file, or why it cannot be had. */
static void lock_explain(int fd, int error, struct fault *ret_fault)
{
	char text[32] = "";

	if (error != -EWOULDBLOCK) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "lock: %s", strerror(-error));
		return;
	}
	(void)!pread(fd, text, sizeof(text) - 1, 0);
	text[strcspn(text, "\n")] = '\0';
	fault_set(ret_fault, FAULT_BAD_REQUEST,
		"another cloche up (process %s) uses this state directory: end it, or name "
		"another one with --state",
		text);
}

/* One `up` for each directory; the lock's file says which. */
static int lock_take(int dir_fd, int *ret_fd, struct fault *ret_fault)
{
	AUTO_CLOSE int fd = openat(dir_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	char text[32];

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int r = -errno;

		lock_explain(fd, r, ret_fault);
		return r;
	}
	(void)str_format(text, sizeof(text), "%d\n", getpid());
	if (ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, text, strlen(text), 0);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int token_write(int dir_fd)
{
	char secret[SECRET_LEN + 2];
	AUTO_CLOSE int fd = -1;
	int r;

	if (unlinkat(dir_fd, "token.new", 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir_fd, "token.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	secret_make(secret);
	secret[SECRET_LEN] = '\n';
	r = fd_write_full(fd, secret, SECRET_LEN + 1);
	explicit_bzero(secret, sizeof(secret));
	if (r == 0 && (fsync(fd) < 0 || renameat(dir_fd, "token.new", dir_fd, "token") < 0 ||
			      fsync(dir_fd) < 0))
		r = -errno;
	return r;
}

/* Reads DIR/token into text, without its line end. */
static int token_read(int dir_fd, struct buf *text, struct str *ret_secret)
{
	AUTO_CLOSE int fd = openat(dir_fd, "token", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char bytes[TOKEN_SIZE_MAX];
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0600) < 0)
		return -errno;
	n = fd_read_full(fd, bytes, sizeof(bytes));
	if (n < 0)
		return (int)n;
	(void)buf_add(text, bytes, (size_t)n);
	*ret_secret = str_trim(buf_get_slice(text));
	return 0;
}

/* The line of DIR/token: tenant default, all scopes, all profiles. */
static int own_line_add(int dir_fd, struct buf *lines, struct fault *ret_fault)
{
	AUTO_BUF struct buf text = BUF_INIT(TOKEN_SIZE_MAX);
	struct token token = { .tenant = "default", .scopes = TOKEN_SCOPE_RUN | TOKEN_SCOPE_ADMIN };
	struct str secret = STR("");
	int r = token_read(dir_fd, &text, &secret);

	if (r == -ENOENT) {
		r = token_write(dir_fd);
		if (r == 0)
			r = token_read(dir_fd, &text, &secret);
	}
	if (r < 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "token: %s", strerror(-r));
		return r;
	}
	if (secret.n < TOKEN_LENGTH_MIN) {
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"token: at least %d characters; delete the file, and a new one is made",
			TOKEN_LENGTH_MIN);
		return -EINVAL;
	}
	token.hash = hash_make(secret);
	token.created_unix = (uint64_t)time(NULL);
	return token_format(&token, lines);
}

int up_state_read_tokens(struct up_state *state, struct fault *ret_fault)
{
	AUTO_BUF struct buf lines = BUF_INIT(TOKENS_FILE_MAX);
	struct tokens tokens;
	struct fault fault;
	int fd = -1, r = own_line_add(state->dir_fd, &lines, ret_fault);

	if (r < 0)
		return r;
	r = buf_add_file(&lines, state->dir_fd, "tokens");
	if (r < 0 && r != -ENOENT) {
		fault_set(ret_fault, FAULT_BAD_REQUEST, "tokens: %s", strerror(-r));
		return r;
	}
	if (tokens_parse(buf_get_slice(&lines), &tokens, &fault) < 0) {
		fault_set(ret_fault, FAULT_BAD_REQUEST,
			"tokens: %.100s (counted behind that of the file token)", fault.text);
		return -EBADMSG;
	}
	free(tokens.items);
	r = fd_memfd_sealed("tokens", buf_get_cstr(&lines), lines.len, &fd);
	if (r < 0)
		return r;
	(void)fd_close(state->token_fd);
	state->token_fd = fd;
	return 0;
}

int up_state_open_audit(struct up_state *state, struct fault *ret_fault)
{
	int fd = openat(state->dir_fd, "audit.log",
		O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) {
		int r = -errno;

		fault_set(ret_fault, FAULT_BAD_REQUEST, "audit.log: %s", strerror(-r));
		return r;
	}
	(void)fd_close(state->audit_fd);
	state->audit_fd = fd;
	return 0;
}

int up_state_open(const char *path, struct up_state *ret_state, struct fault *ret_fault)
{
	struct up_state *state = ret_state;
	int r;

	*state = (struct up_state)UP_STATE_INIT;
	r = folder_open(path, &state->dir_fd, ret_fault);
	if (r == 0)
		r = lock_take(state->dir_fd, &state->lock_fd, ret_fault);
	if (r == 0)
		r = up_state_read_tokens(state, ret_fault);
	if (r == 0)
		r = up_state_open_audit(state, ret_fault);
	return r < 0 ? r : up_store_open(state, ret_fault);
}

void up_state_close(struct up_state *state)
{
	state->token_fd = fd_close(state->token_fd);
	state->store_fd = fd_close(state->store_fd);
	state->secret_fd = fd_close(state->secret_fd);
	state->audit_fd = fd_close(state->audit_fd);
	state->lock_fd = fd_close(state->lock_fd);
	state->dir_fd = fd_close(state->dir_fd);
}
