/* `cloche image`: the words and options of its four verbs. */
#include "cli/image/image.h"

#include "base/macro.h"
#include "base/str.h"
#include "cli/base/exit.h"
#include "cli/base/say.h"

#include <getopt.h>
#include <stdbool.h>

static const struct {
	const char *name;
	int (*main)(const struct image_request *request);
	const char *options; /* that it takes, by their letters */
	bool takes_words;
} verbs[] = {
	{ "build", image_verb_build, "ofclu", false },
	{ "path", image_verb_path, "", false },
	{ "ls", image_verb_ls, "j", true },
	{ "rm", image_verb_rm, "Odfc", true },
};

static const struct option long_options[] = {
	{ "out", required_argument, NULL, 'o' },
	{ "from", required_argument, NULL, 'f' },
	{ "cache", required_argument, NULL, 'c' },
	{ "locked", no_argument, NULL, 'l' },
	{ "update-lock", optional_argument, NULL, 'u' },
	{ "old", no_argument, NULL, 'O' },
	{ "downloads", no_argument, NULL, 'd' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Notes the option's letter in `given`. */
static int option_take(struct image_request *request, int what, char **argv)
{
	switch (what) {
	case 'o':
		request->out = optarg;
		return 0;
	case 'f':
		request->from = optarg;
		return 0;
	case 'c':
		request->cache = optarg;
		return 0;
	case 'l':
		request->locked = 1;
		return 0;
	case 'u':
		request->update = 1;
		request->package = optarg;
		return 0;
	case 'O':
		request->old = 1;
		return 0;
	case 'd':
		request->downloads = 1;
		return 0;
	case 'j':
		request->json = 1;
		return 0;
	default:
		return say_usage("%s: no such option, or its value is missing; see `cloche image "
				 "--help`",
			argv[optind - 1]);
	}
}

static int verb_run(struct image_request *request, const char *given)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (strcmp(request->verb, verbs[i].name) != 0)
			continue;
		if (given[strspn(given, verbs[i].options)])
			return say_usage("`cloche image %s` does not take that option; see `cloche "
					 "image --help`",
				request->verb);
		if (!verbs[i].takes_words && request->words[0])
			return say_usage("'%s' is one word too many; see `cloche image --help`",
				request->words[0]);
		return verbs[i].main(request);
	}
	return say_usage("there is no `cloche image %s`; say build, path, ls or rm", request->verb);
}

int cli_image(int argc, char **argv)
{
	struct image_request request = { 0 };
	char given[16] = "";
	size_t n = 0;
	int what, status = 0;

	optind = 0; /* glibc: begin anew, getopt(3) */
	while (status == 0 && (what = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
		if (what == 'h')
			return EXIT_HELP;
		if (n < sizeof(given) - 1)
			given[n++] = (char)what;
		status = option_take(&request, what, argv);
	}
	if (status != 0)
		return status;
	if (optind == argc)
		return say_usage("say build, path, ls or rm; see `cloche image --help`");
	request.verb = argv[optind];
	request.words = argv + optind + 1;
	return verb_run(&request, given);
}
