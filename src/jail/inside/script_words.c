#include "jail/inside/script_words.h"

#include "base/assert.h"
#include "base/macro.h"
#include "base/str.h"
#include "jail/plan/plan.h"

#include <inttypes.h>
#include <string.h>

/*
 * The environment starts from nothing, so no secret of any of our processes can be in it; what is
 * here is all that a script finds (a test holds it against decision 10).
 */

static const char *const fixed_variables[] = {
	"PATH=/usr/local/bin:/usr/bin:/bin",
	"HOME=" CELL_HOME,
	"USER=sandbox",
	"TMPDIR=" CELL_TMP,
	"MPLBACKEND=Agg",
	"MPLCONFIGDIR=" CELL_HOME "/.config/matplotlib",
	"XDG_CACHE_HOME=" CELL_HOME "/.cache",
	"PYTHONUNBUFFERED=1",
};

/* Each library has its own name for the size of its thread pool; more threads than processors only
 * eat into the process limit. */
static const char *const thread_variables[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
	"MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_NUM_THREADS", "PYTHON_CPU_COUNT" };

static bool is_requested(const struct package *package, const char *name)
{
	size_t n = strlen(name);

	for (unsigned i = 0; i < package->n_env; i++) {
		if (strncmp(package->env[i], name, n) == 0)
			return true;
	}
	return false;
}

static void environment_make(
	struct script_words *words, const struct package *package, const struct wire_limits *limits)
{
	uint64_t cpus = (limits->cpu_ms_per_s + 999) / 1000;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fixed_variables); i++)
		words->envp[n++] = fixed_variables[i];
	if (!is_requested(package, "LANG="))
		words->envp[n++] = "LANG=C.UTF-8";
	if (!is_requested(package, "TZ="))
		words->envp[n++] = "TZ=UTC";
	for (size_t i = 0; i < ARRAY_SIZE(thread_variables); i++) {
		int r = str_format(words->threads[i], sizeof(words->threads[i]), "%s=%" PRIu64,
			thread_variables[i], cpus);

		assert(r == 0);
		words->envp[n++] = words->threads[i];
	}
	for (unsigned i = 0; i < package->n_env; i++)
		words->envp[n++] = package->env[i];
	assert(n < ARRAY_SIZE(words->envp));
	words->envp[n] = NULL;
}

void script_words_make(
	struct script_words *words, const struct package *package, const struct wire_limits *limits)
{
	size_t n = 0;

	switch (package->language) {
	case PACKAGE_PYTHON:
		words->path = CELL_PYTHON;
		words->argv[n++] = CELL_PYTHON;
		words->argv[n++] = CELL_BOOTSTRAP;
		break;
	case PACKAGE_BASH:
		words->path = CELL_BASH;
		words->argv[n++] = "bash";
		words->argv[n++] = CELL_CODE_BASH;
		break;
	case PACKAGE_PROGRAM:
		words->path = package->args[0];
		break;
	case PACKAGE_LANGUAGE_MAX:
		unreachable_();
	}
	for (unsigned i = 0; i < package->n_args; i++)
		words->argv[n++] = package->args[i];
	assert(n < ARRAY_SIZE(words->argv));
	words->argv[n] = NULL;
	environment_make(words, package, limits);
}
