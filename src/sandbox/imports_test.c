#include "sandbox/imports.h"

#include "base/unit.h"

#include <string.h>

static enum wire_warm guess(const char *code)
{
	struct package package = {
		.language = PACKAGE_PYTHON, .code = code, .code_size = strlen(code)
	};

	return imports_guess(&package);
}

static void test_data_modules_are_found_in_import_statements(void **state)
{
	static const char *const codes[] = { "import numpy", "import numpy as np\n",
		"import os, pandas as pd", "print(1)\nfrom matplotlib import pyplot as plt",
		"def f():\n\timport matplotlib.pyplot as plt\r\n", "from PIL import Image",
		"    from   pandas.api import types", "import\x20numpy.random" };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_int_equal(guess(codes[i]), WIRE_WARM_DATA);
}

static void test_other_code_needs_the_standard_library(void **state)
{
	static const char *const codes[] = { "", "print(6*7)", "import os", "import numpyx",
		"# import numpy", "x = 'numpy'", "from os import path", "importnumpy", "import",
		"from", "import ,,", "from .numpy import x" };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_int_equal(guess(codes[i]), WIRE_WARM_SMALL);
}

static void test_what_no_zygote_can_run_is_executed(void **state)
{
	struct package package = {
		.language = PACKAGE_BASH, .code = "import numpy", .code_size = 12
	};

	assert_int_equal(imports_guess(&package), WIRE_WARM_NONE);
	package.language = PACKAGE_PROGRAM;
	assert_int_equal(imports_guess(&package), WIRE_WARM_NONE);
	package.language = PACKAGE_PYTHON;
	package.n_env = 1;
	assert_int_equal(imports_guess(&package), WIRE_WARM_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_modules_are_found_in_import_statements),
		cmocka_unit_test(test_other_code_needs_the_standard_library),
		cmocka_unit_test(test_what_no_zygote_can_run_is_executed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
