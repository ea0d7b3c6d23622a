/*
 * What a visit asks of its session's home: the turn to list it, what is known of it without a
 * listing (jail/files/listed.h, guarded by the house's lock), and what a file in it looks like.
 */
#include "house/visit/visit.h"

#include "base/clock.h"
#include "base/fd.h"
#include "house/kept.h"
#include "house/state.h"
#include "jail/files/listed.h"
#include "jail/files/mime.h"

void visit_listing_begin(struct visit *visit)
{
	house_listing_begin(visit->house, visit->session);
}

void visit_listing_end(struct visit *visit)
{
	house_listing_end(visit->house, visit->session);
}

int visit_list(struct visit *visit, uint32_t flags, struct snapshot *ret_snapshot)
{
	return house_list_home(visit->house, visit->session, visit->jaild, flags, ret_snapshot);
}

void visit_change_begin(struct visit *visit)
{
	(void)pthread_mutex_lock(&visit->house->mutex);
	listed_change_begin(&visit->session->listed);
	(void)pthread_mutex_unlock(&visit->house->mutex);
}

void visit_change_end(struct visit *visit)
{
	(void)pthread_mutex_lock(&visit->house->mutex);
	listed_change_end(&visit->session->listed);
	(void)pthread_mutex_unlock(&visit->house->mutex);
}

uint64_t visit_listing_mark(struct visit *visit)
{
	uint64_t mark;

	(void)pthread_mutex_lock(&visit->house->mutex);
	mark = listed_mark(&visit->session->listed);
	(void)pthread_mutex_unlock(&visit->house->mutex);
	return mark;
}

void visit_listing_keep(struct visit *visit, uint64_t mark, struct snapshot *snapshot)
{
	(void)pthread_mutex_lock(&visit->house->mutex);
	listed_keep(&visit->session->listed, mark, snapshot);
	(void)pthread_mutex_unlock(&visit->house->mutex);
}

bool visit_listing_take(struct visit *visit, struct snapshot *ret_snapshot)
{
	struct timespec now;
	bool is_known;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) < 0)
		return false;
	(void)pthread_mutex_lock(&visit->house->mutex);
	is_known = listed_take(&visit->session->listed, clock_to_ns(&now), ret_snapshot);
	(void)pthread_mutex_unlock(&visit->house->mutex);
	return is_known;
}

const char *visit_mime(struct visit *visit, const char *path)
{
	struct wire_file_is file;
	AUTO_CLOSE int fd = -1;
	char head[MIME_HEAD_SIZE];
	ssize_t n = 0;

	if (jaild_file_open(visit->jaild, visit->session->id, path, &file, &fd) == 0)
		n = fd_read_full(fd, head, sizeof(head));
	return mime_guess(str_from(path), (struct str){ .p = head, .n = n > 0 ? (size_t)n : 0 });
}
