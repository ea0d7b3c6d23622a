#include "sandbox/imports.h"

#include "base/macro.h"
#include "base/str.h"

/*
 * Lines are looked at, not a syntax tree: "import a.b as c, d" and "from a.b import c", with
 * anything but a comment in front taken for no import. One in a string is a wrong guess.
 */

/* Those of a data zygote (jail/plan/preload.def), and what imports them. */
static const char *const data_modules[] = { "numpy", "pandas", "matplotlib", "pylab", "PIL",
	"openpyxl", "seaborn", "scipy", "sklearn", "statsmodels", "plotly", "xlsxwriter", "cv2" };

static bool is_data(struct str module)
{
	struct str root, rest;

	(void)str_split_once(str_trim(module), '.', &root, &rest);
	(void)str_split_once(str_trim(root), ' ', &root, &rest);
	for (size_t i = 0; i < ARRAY_SIZE(data_modules); i++) {
		if (str_eq(root, str_from(data_modules[i])))
			return true;
	}
	return false;
}

static bool line_imports_data(struct str line)
{
	struct str word, rest;

	(void)str_split_once(str_trim(line), ' ', &word, &rest);
	if (str_eq(word, STR("from")))
		return is_data(rest);
	if (!str_eq(word, STR("import")))
		return false;
	while (rest.n > 0) {
		struct str module;

		(void)str_split_once(rest, ',', &module, &rest);
		if (is_data(module))
			return true;
	}
	return false;
}

enum wire_warm imports_guess(const struct package *package)
{
	struct str code = { .p = package->code, .n = package->code_size };

	if (package->language != PACKAGE_PYTHON || package->n_env > 0)
		return WIRE_WARM_NONE;
	while (code.n > 0) {
		struct str line;

		(void)str_split_once(code, '\n', &line, &code);
		if (line_imports_data(line))
			return WIRE_WARM_DATA;
	}
	return WIRE_WARM_SMALL;
}
