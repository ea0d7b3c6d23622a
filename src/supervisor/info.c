/*
 * Theory of operation: nobody but a script in the jail can say which interpreter and packages the
 * jail has. So two ordinary runs ask, in a session of a tenant whose name no token can have, before
 * the service says that it is ready. What they print is read as what a stranger says: bounded.
 */
#include "supervisor/info.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/str.h"
#include "call/call.h"
#include "house/house.h"
#include "json/json.h"
#include "json/parse.h"

#define KEY "info"

static const char python_script[] =
	"import importlib.metadata as m, json, sys\n"
	"found = {d.metadata['Name']: d.version for d in m.distributions() if d.metadata['Name']}\n"
	"try:\n"
	"    image = json.load(open('/usr/share/cloche/image.json'))\n" /* docs/image.md */
	"    fonts, image = image['fonts'][:1000], image['id']\n"
	"except Exception:\n"
	"    fonts = image = None\n"
	"print(json.dumps([sys.version.split()[0], sorted(found.items(), key=str)[:1000], fonts, "
	"image]))\n";

static const char bash_script[] = "echo \"${BASH_VERSION%%(*}\"\n";

/* Runs the script; what it printed is borrowed from *ret_answer, which the caller frees. */
static int ask(struct house *house, enum package_language language, const char *script,
	struct json **ret_answer, struct str *ret_text)
{
	const struct call_request request = { .tenant = HOUSE_TENANT_OURS,
		.key = KEY,
		.language = language,
		.code = str_from(script),
		.client_fd = -1 };
	struct call_result result;
	int r = call_run(house, &request, &result);

	*ret_answer = result.answer;
	if (r == 0 && strcmp(result.outcome, "ok") == 0)
		return json_as_text(json_get(json_get(result.answer, "stdout"), "text"), ret_text);
	log_warning("msg=\"what the jail holds is not known\" cause=%s",
		LOG_VALUE(r < 0 ? result.fault.text : result.reason));
	return -1;
}

/* Copies text that fits; else it is left empty. */
static void text_take(char *to, size_t size, const struct json *j)
{
	struct str text;

	if (json_as_text(j, &text) == 0)
		(void)str_format(to, size, "%.*s", STR_ARG(text));
}

static void fonts_take(struct info *info, const struct json *list)
{
	info->fonts = xcalloc(INFO_FONTS_MAX, sizeof(*info->fonts));
	for (size_t i = 0; i < json_size(list) && info->n_fonts < INFO_FONTS_MAX; i++) {
		text_take(info->fonts[info->n_fonts], INFO_NAME_SIZE, json_at(list, i));
		info->n_fonts += info->fonts[info->n_fonts][0] != '\0';
	}
}

static void python_take(struct info *info, struct str text)
{
	AUTO_JSON struct json *found = NULL;
	const struct json *list;
	struct fault fault;

	if (json_parse(text, &found, &fault) < 0)
		return;
	list = json_at(found, 1);
	text_take(info->python, sizeof(info->python), json_at(found, 0));
	info->packages = xcalloc(INFO_PACKAGES_MAX, sizeof(*info->packages));
	for (size_t i = 0; i < json_size(list) && info->n_packages < INFO_PACKAGES_MAX; i++) {
		struct info_package *package = &info->packages[info->n_packages];

		text_take(package->name, sizeof(package->name), json_at(json_at(list, i), 0));
		text_take(package->version, sizeof(package->version), json_at(json_at(list, i), 1));
		info->n_packages += package->name[0] != '\0';
	}
	text_take(info->image, sizeof(info->image), json_at(found, 3));
	if (info->image[0])
		fonts_take(info, json_at(found, 2));
}

void info_find(struct info *info, struct house *house)
{
	AUTO_JSON struct json *python = NULL;
	AUTO_JSON struct json *bash = NULL;
	struct fault fault;
	struct str text;

	if (ask(house, PACKAGE_PYTHON, python_script, &python, &text) == 0)
		python_take(info, str_trim(text));
	if (ask(house, PACKAGE_BASH, bash_script, &bash, &text) == 0)
		(void)str_format(info->bash, sizeof(info->bash), "%.*s", STR_ARG(str_trim(text)));
	(void)house_close(house, HOUSE_TENANT_OURS, KEY, &fault);
	atomic_store(&info->is_found, true);
}

static void language_add(struct json *languages, const char *name, const char *version)
{
	struct json *language = json_add_object(languages);

	json_set_cstr(language, "name", name);
	json_set_cstr_or_null(language, "version", version);
}

void info_set(const struct info *info, struct json *object)
{
	struct json *languages = json_set_array(object, "languages"), *packages, *fonts;
	bool is_found = atomic_load(&info->is_found);

	language_add(languages, "python", is_found ? info->python : "");
	language_add(languages, "bash", is_found ? info->bash : "");
	packages = json_set_array(object, "packages");
	for (size_t i = 0; is_found && i < info->n_packages; i++) {
		struct json *package = json_add_object(packages);

		json_set_cstr(package, "name", info->packages[i].name);
		json_set_cstr(package, "version", info->packages[i].version);
	}
	if (!is_found || !info->image[0]) {
		json_set_null(object, "image");
		json_set_null(object, "fonts");
		return;
	}
	json_set_cstr(object, "image", info->image);
	fonts = json_set_array(object, "fonts");
	for (size_t i = 0; i < info->n_fonts; i++)
		json_add_text(fonts, str_from(info->fonts[i]));
}
