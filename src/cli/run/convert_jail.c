#include "cli/run/convert.h"

#include "base/fault.h"
#include "base/macro.h"
#include "cli/run/graphics.h"
#include "jail/client/jaild.h"
#include "jail/files/put.h"
#include "sandbox/profile.h"
#include "sandbox/run.h"

#include <errno.h>

#define SESSION_KEY "picture" /* beside the run's own, in a jaild of ours alone */

/* Under `strict`, whatever the person's script was given. */
static int session_open(const struct convert_jail *jail, uint64_t *ret_session)
{
	struct wire_limits limits;
	struct fault fault;
	int r = profile_get(PROFILE_DEFAULT, &limits, &fault);

	return r == 0 ? jaild_session_open(jail->jaild, SESSION_KEY, &limits, ret_session) : r;
}

static int script_run(
	const struct convert_jail *jail, uint64_t session, const struct convert_script *script)
{
	const struct package package = { .language = PACKAGE_PYTHON,
		.code = script->code.p,
		.code_size = script->code.n,
		.args = { script->args[0], script->args[1] },
		.n_args = CONVERT_WORDS };
	const struct run_request request = {
		.session = session, .wall_ms = CONVERT_MS, .package = &package
	};
	struct run run;
	int r;

	run_init(&run);
	r = run_start(&run, jail->jaild, &request);
	if (r == 0)
		r = run_wait(&run, -1);
	if (r == 0 && (run.ended.end != WIRE_END_EXIT || run.ended.code != 0))
		r = -EPROTO;
	run_fini(&run);
	return r;
}

static int on_run(
	struct convert *convert, int png_fd, const struct convert_script *script, int *ret_fd)
{
	struct convert_jail *jail = container_of(convert, struct convert_jail, convert);
	struct put_request put = { .path = CONVERT_FROM, .max_bytes = GRAPHICS_PNG_MAX };
	struct wire_file_is is;
	uint64_t bytes;
	int r = session_open(jail, &put.session);

	if (r < 0)
		return r;
	r = put_file(jail->jaild, png_fd, &put, &bytes);
	if (r == 0)
		r = script_run(jail, put.session, script);
	if (r == 0)
		r = jaild_file_open(jail->jaild, put.session, CONVERT_TO, &is, ret_fd);
	/* The home is on the decoder's module path: the next picture gets another. One that stays
	 * has the key, and the next picture is then not drawn. */
	(void)jaild_session_close(jail->jaild, put.session);
	return r;
}

void convert_jail_init(struct convert_jail *jail, struct jaild *jaild)
{
	*jail = (struct convert_jail){ .convert = { .run = on_run }, .jaild = jaild };
}
