#include "jaild/cell/turn.h"

#include "base/fd.h"
#include "jaild/answer.h"
#include "jaild/cell/cell.h"
#include "jaild/live/live.h"
#include "jaild/session.h"
#include "wire/channel.h"

#include <errno.h>

void turn_init(struct turn *turn)
{
	*turn = (struct turn){ .request.fds = { -1, -1, -1, -1, -1 } };
}

void turn_wait(struct session *session, struct run_request *request)
{
	session->turn = (struct turn){ .is_taken = true, .request = *request };
	for (int i = 0; i < WIRE_RUN_FDS; i++)
		request->fds[i] = -1;
}

static void begin(struct session *session, struct run_request *request)
{
	struct failure failure = { 0 };
	bool is_begun = request->is_live ? live_call(session, request, &failure)
					 : cell_run(session, request, &failure);

	channel_close_fds(request->fds, WIRE_RUN_FDS); /* of a failure; else they are -1 */
	if (!is_begun)
		answer_failed(session->jaild, &request->reply, &failure);
}

void turn_take(struct session *session, struct run_request *request)
{
	if (session->fading)
		turn_wait(session, request);
	else
		begin(session, request);
}

void turn_go_on(struct session *session)
{
	struct run_request request = session->turn.request;

	if (!session->turn.is_taken || session->fading ||
		(request.is_live && live_is_ending(session)))
		return;
	turn_init(&session->turn);
	begin(session, &request);
}

void turn_forget(struct session *session, uint64_t client)
{
	struct turn *turn = &session->turn;
	struct reply reply = turn->request.reply;

	if (!turn->is_taken || (client != 0 && reply.client != client))
		return;
	channel_close_fds(turn->request.fds, WIRE_RUN_FDS);
	turn_init(turn);
	answer_refused(session->jaild, &reply, ECANCELED);
}
