#include "cli/base/system_files.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/str.h"
#include "cli/base/image_manifest.h"
#include "cli/base/say.h"
#include "image/place/place.h"
#include "json/json.h"

#include <unistd.h>

static void text_take(char *to, size_t size, const struct json *j)
{
	struct str text;

	if (json_as_text(j, &text) == 0)
		(void)str_format(to, size, "%.*s", STR_ARG(text));
}

/* An image's manifest says it. */
static void manifest_read(struct system_files *files)
{
	AUTO_JSON struct json *manifest = NULL;
	const struct json *languages;
	struct fault fault;

	if (image_manifest_read(files->path, &manifest, &fault) < 0)
		return;
	text_take(files->id, sizeof(files->id), json_get(manifest, "id"));
	languages = json_get(manifest, "languages");
	for (size_t i = 0; i < json_size(languages); i++) {
		struct str name;

		if (json_as_text(json_get(json_at(languages, i), "name"), &name) == 0 &&
			str_eq(name, STR("python")))
			text_take(files->python, sizeof(files->python),
				json_get(json_at(languages, i), "version"));
	}
}

/* Elsewhere the link /usr/bin/python3 does, as Debian makes it: to run the program takes longer. */
static void link_read(const char *rootfs, struct system_files *files)
{
	AUTO_FREE char *path = xasprintf("%s/usr/bin/python3", rootfs);
	char target[32];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0 || !str_starts((struct str){ target, (size_t)n }, STR("python")))
		return;
	target[n] = '\0';
	if (strspn(target + strlen("python"), "0123456789.") == (size_t)n - strlen("python"))
		(void)str_copy(files->python, sizeof(files->python), target + strlen("python"));
}

void system_files_look(const char *rootfs, struct system_files *ret)
{
	*ret = (struct system_files){ .kind = SYSTEM_HOST };
	(void)str_copy(ret->path, sizeof(ret->path), rootfs ? rootfs : "/usr");
	if (!rootfs) {
		link_read("", ret);
		return;
	}
	ret->kind = image_is(rootfs) ? SYSTEM_IMAGE : SYSTEM_TREE;
	if (ret->kind == SYSTEM_IMAGE)
		manifest_read(ret);
	else
		link_read(rootfs, ret);
}

void system_files_tell(const struct system_files *files, struct buf *out)
{
	static const char *const kinds[] = {
		[SYSTEM_HOST] = "this machine's ",
		[SYSTEM_IMAGE] = "image ",
		[SYSTEM_TREE] = "tree ",
	};

	(void)buf_add_str(out, kinds[files->kind]);
	say_name(out, str_from(files->path));
	(void)buf_add_str(out, files->python[0] ? " (Python " : " (no Python");
	say_name(out, str_from(files->python));
	(void)buf_add_char(out, ')');
}

void system_files_set(const struct system_files *files, struct json *object)
{
	static const char *const kinds[] = {
		[SYSTEM_HOST] = "host",
		[SYSTEM_IMAGE] = "image",
		[SYSTEM_TREE] = "tree",
	};
	struct json *member = json_set_object(object, "system");

	json_set_cstr(member, "kind", kinds[files->kind]);
	json_set_text(member, "path", str_from(files->path));
	json_set_cstr_or_null(member, "id", files->id);
	json_set_cstr_or_null(member, "python", files->python);
}
