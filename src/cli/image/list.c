/* `cloche image path`, `ls` and `rm`: what there is, from the manifests that the images carry. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/str.h"
#include "cli/base/exit.h"
#include "cli/base/image_dir.h"
#include "cli/base/image_manifest.h"
#include "cli/base/say.h"
#include "cli/image/image.h"
#include "image/place/place.h"
#include "image/place/tree.h"
#include "json/json.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_WIDTH 78
#define ITEM_MAX   4096 /* bytes of a name with its version, as they are shown; more is cut */

int image_verb_path(const struct image_request *request)
{
	char path[PATH_MAX];

	(void)request;
	if (image_default(path) < 0) {
		say("there is no image in the default place; `cloche image build` makes one, and "
		    "one that was built with --out DIR is used by --rootfs DIR");
		return EXIT_OURS;
	}
	(void)puts(path);
	return 0;
}

struct shown {
	char path[PATH_MAX];
	bool is_current;
	struct tree_sum sum;
	char built[32]; /* the day, UTC */
	struct json *manifest;
};

/* Fills *ret with the manifest of the image at path and measures it. Returns 0, or an exit status.
 */
static int shown_read(const char *path, struct shown *ret)
{
	AUTO_FREE char *manifest = xasprintf("%s" IMAGE_MANIFEST, path);
	char current[PATH_MAX];
	struct fault fault;
	struct stat st;
	struct tm day;

	*ret = (struct shown){ 0 };
	if (str_copy(ret->path, sizeof(ret->path), path) < 0)
		return EXIT_OURS;
	if (image_manifest_read(path, &ret->manifest, &fault) < 0) {
		say("%s: %s", manifest, fault.text);
		return EXIT_OURS;
	}
	if (stat(manifest, &st) < 0) {
		say("%s: %s", manifest, strerror(errno));
		return EXIT_OURS;
	}
	ret->is_current = image_default(current) == 0 && strcmp(current, ret->path) == 0;
	if (gmtime_r(&st.st_mtim.tv_sec, &day))
		(void)strftime(ret->built, sizeof(ret->built), "%Y-%m-%d", &day);
	(void)tree_measure(ret->path, &ret->sum);
	return 0;
}

static struct str text_get(const struct json *object, const char *name)
{
	struct str text = STR("");

	(void)json_as_text(json_get(object, name), &text);
	return text;
}

/* "NAME VERSION" of an object, or a text. What packages' code has said of itself when the image was
 * made is shown like a name that a script chose. */
static void item_add(struct buf *out, const struct json *item)
{
	struct str name = text_get(item, "name"), version = text_get(item, "version");

	(void)json_as_text(item, &name);
	say_name(out, name);
	if (version.n > 0) {
		(void)buf_add_char(out, ' ');
		say_name(out, version);
	}
}

/* "Title: a 1, b 2, ..." in lines of a terminal. */
static void list_print(const char *title, const struct json *list)
{
	int column = printf("  %s (%zu):", title, json_size(list));

	for (size_t i = 0; i < json_size(list); i++) {
		AUTO_BUF struct buf text = BUF_INIT(ITEM_MAX);

		item_add(&text, json_at(list, i));
		if (column + (int)text.len + 2 > LINE_WIDTH)
			column = printf("\n   ") - 1;
		column += printf(" %s%s", buf_get_cstr(&text), i + 1 < json_size(list) ? "," : "");
	}
	(void)printf("\n");
}

static void shown_print(const struct shown *shown)
{
	const struct json *manifest = shown->manifest;
	AUTO_BUF struct buf id = BUF_INIT(ITEM_MAX);

	say_name(&id, text_get(manifest, "id"));
	(void)printf("%s %s  %s  %llu MB, %llu files  %s\n", shown->is_current ? "*" : " ",
		buf_get_cstr(&id), shown->built, (unsigned long long)(shown->sum.bytes / 1000000),
		(unsigned long long)shown->sum.files, shown->path);
	list_print("languages", json_get(manifest, "languages"));
	list_print("Python packages", json_get(manifest, "packages"));
	list_print("Debian packages", json_get(manifest, "system_packages"));
	list_print("fonts", json_get(manifest, "fonts"));
}

static void texts_copy(struct json *to, const char *name, const struct json *from)
{
	const struct json *list = json_get(from, name);
	struct json *array = json_set_array(to, name);

	for (size_t i = 0; i < json_size(list); i++) {
		const struct json *item = json_at(list, i);
		struct str text;

		if (json_as_text(item, &text) == 0) {
			json_add_text(array, text);
			continue;
		}
		struct json *object = json_add_object(array);

		json_set_text(object, "name", text_get(item, "name"));
		json_set_text(object, "version", text_get(item, "version"));
	}
}

static void shown_add(struct json *array, const struct shown *shown)
{
	static const char *const lists[] = { "languages", "packages", "system_packages", "fonts" };
	struct json *object = json_add_object(array);

	json_set_text(object, "id", text_get(shown->manifest, "id"));
	json_set_cstr(object, "path", shown->path);
	json_set_bool(object, "current", shown->is_current);
	json_set_cstr(object, "built", shown->built);
	json_set_count(object, "bytes", shown->sum.bytes);
	json_set_count(object, "files", shown->sum.files);
	json_set_text(object, "suite", text_get(shown->manifest, "suite"));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		texts_copy(object, lists[i], shown->manifest);
}

/* One image: onto the terminal, or into the array. Returns 0 or an exit status. */
static int show(const struct image_request *request, const char *path, struct json *array)
{
	struct shown shown;
	int status = shown_read(path, &shown);

	if (status == 0 && request->json)
		shown_add(array, &shown);
	else if (status == 0)
		shown_print(&shown);
	json_free(shown.manifest);
	return status;
}

/* Images that the person names by their folders. */
static int show_named(const struct image_request *request, struct json *array)
{
	int status = 0;

	for (char **word = request->words; *word && status == 0; word++) {
		char path[PATH_MAX];

		status = image_path_take("ls", *word, path);
		if (status == 0 && !image_is(path))
			return say_usage("%s: is no image; name the DIR of `cloche image build "
					 "--out DIR`",
				*word);
		if (status == 0)
			status = show(request, path, array);
	}
	return status;
}

static int show_all(const struct image_request *request, struct json *array)
{
	struct image_id ids[IMAGES_MAX];
	char place[PATH_MAX], path[PATH_MAX];
	int n = 0, status = 0;

	if (image_dir_default(place) == 0)
		n = image_list(place, ids);
	if (n < 0) {
		say("%s: %s", place, strerror(-n));
		return EXIT_OURS;
	}
	for (int i = 0; i < n && status == 0; i++)
		if (str_format(path, sizeof(path), "%s/%s", place, ids[i].text) == 0)
			status = show(request, path, array);
	if (n == 0)
		say("there is no image in %s; `cloche image build` makes one, and `cloche image ls "
		    "DIR` shows one that was built with --out DIR",
			place);
	return status;
}

int image_verb_ls(const struct image_request *request)
{
	AUTO_JSON struct json *answer = json_object_new();
	struct json *array = json_set_array(answer, "images");
	int status = request->words[0] ? show_named(request, array) : show_all(request, array);

	return request->json && status == 0 ? say_json(answer) : status;
}
