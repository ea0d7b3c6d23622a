#include "wire/message.h"

#include "base/macro.h"

#include "base/unit.h"

#include <errno.h>

/* What each type must look like, written down apart from the code. */
static const struct {
	unsigned type;
	size_t size;
	size_t n_fds;
	int is_request;
} forms[] = {
	{ WIRE_STATUS, 8, 0, 1 },
	{ WIRE_SESSION_OPEN, 8 + 129 + 7 + sizeof(struct wire_limits), 0, 1 },
	{ WIRE_SESSION_CLOSE, 16, 0, 1 },
	{ WIRE_RUN, 32, 5, 1 },
	{ WIRE_RUN_CANCEL, 16, 0, 1 },
	{ WIRE_FILE_OPEN, 24 + 4097 + 7, 0, 1 },
	{ WIRE_FILE_CREATE, 24 + 4097 + 7, 0, 1 },
	{ WIRE_FILE_COMMIT, 32, 0, 1 },
	{ WIRE_FILE_ABORT, 16, 0, 1 },
	{ WIRE_FILE_REMOVE, 24 + 4097 + 7, 0, 1 },
	{ WIRE_LIST, 24 + 16, 0, 1 },
	{ WIRE_ATTACH, 8, 1, 1 },
	{ WIRE_MAKE, 32 + 4097 + 7, 0, 1 },
	{ WIRE_LIVE, 32, 5, 1 },
	{ WIRE_SPARES, 16 + sizeof(struct wire_limits), 0, 1 },
	{ WIRE_RUN_LOOK, 16, 0, 1 },
	{ WIRE_FAILED, 16, 0, 0 },
	{ WIRE_DONE, 8, 0, 0 },
	{ WIRE_STATUS_IS, 184, 0, 0 },
	{ WIRE_SESSION_IS, 16, 0, 0 },
	{ WIRE_RUN_STARTED, 40, 0, 0 },
	{ WIRE_RUN_ENDED, 88, 0, 0 },
	{ WIRE_FILE_IS, 32, 1, 0 },
	{ WIRE_UPLOAD_IS, 16, 1, 0 },
	{ WIRE_LISTING_IS, 24, 1, 0 },
};

static union wire_any message;

static void message_begin(unsigned type)
{
	memset(&message, 0, sizeof(message));
	message.header = (struct wire_header){ (uint16_t)type, WIRE_VERSION, 7 };
}

static void test_every_type_has_a_form_here(void **state)
{
	assert_int_equal(ARRAY_SIZE(forms), WIRE_TYPE_MAX - 1);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		assert_int_equal(forms[i].type, i + 1);
}

static void test_sizes_names_and_directions(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		assert_int_equal(wire_size(forms[i].type), forms[i].size);
		assert_string_not_equal(wire_name(forms[i].type), "unknown");
		assert_int_equal(wire_is_request(forms[i].type), forms[i].is_request);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(wire_name(forms[i].type), wire_name(forms[j].type));
	}
}

static void test_unknown_types_have_no_size(void **state)
{
	static const unsigned unknown[] = { WIRE_NONE, WIRE_TYPE_MAX, WIRE_TYPE_MAX + 1, 255, 256,
		UINT16_MAX, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		assert_int_equal(wire_size(unknown[i]), 0);
		assert_string_equal(wire_name(unknown[i]), "unknown");
		assert_false(wire_is_request(unknown[i]));
	}
}

static void test_unknown_types_are_refused_at_any_size(void **state)
{
	for (unsigned type = 0; type <= UINT16_MAX; type++) {
		if (type >= WIRE_STATUS && type < WIRE_TYPE_MAX)
			continue;
		message_begin(type);
		assert_int_equal(wire_check(&message, 0, 0), -EBADMSG);
		assert_int_equal(wire_check(&message, sizeof(struct wire_header), 0), -EBADMSG);
		assert_int_equal(wire_check(&message, sizeof(message), 0), -EBADMSG);
	}
}

static void test_only_the_exact_size_passes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		message_begin(forms[i].type);
		for (size_t size = 0; size <= sizeof(message); size++) {
			int expected = size == forms[i].size ? 0 : -EBADMSG;

			assert_int_equal(wire_check(&message, size, forms[i].n_fds), expected);
		}
	}
}

static int make_is(unsigned kind, uint32_t mode, const char *names, size_t size)
{
	message_begin(WIRE_MAKE);
	message.make.kind = kind;
	message.make.mode = mode;
	memcpy(message.make.names, names, size);
	return wire_check(&message, sizeof(message.make), 0);
}

static void test_names_of_make(void **state)
{
	char full[WIRE_PATH_SIZE];

	assert_int_equal(make_is(WIRE_MAKE_FOLDER, 0755, "a/b", 4), 0);
	assert_int_equal(make_is(WIRE_MAKE_FOLDER, 0755, "a\0b", 4), -EBADMSG);
	assert_int_equal(make_is(WIRE_MAKE_LINK, 0, "a\0b", 4), 0);
	assert_int_equal(make_is(WIRE_MAKE_LINK, 0755, "a\0b", 4), -EBADMSG);
	assert_int_equal(make_is(WIRE_MAKE_LINK, 0, "a", 2), -EBADMSG);
	assert_int_equal(make_is(WIRE_MAKE_SAME, 0, "a\0b\0c", 6), -EBADMSG);
	assert_int_equal(make_is(WIRE_MAKE_KIND_MAX, 0, "a\0b", 4), -EBADMSG);
	memset(full, 'x', sizeof(full));
	assert_int_equal(make_is(WIRE_MAKE_LINK, 0, full, sizeof(full)), -EBADMSG);
	full[10] = '\0';
	assert_int_equal(make_is(WIRE_MAKE_LINK, 0, full, sizeof(full)), -EBADMSG);
	full[sizeof(full) - 1] = '\0';
	assert_int_equal(make_is(WIRE_MAKE_LINK, 0, full, sizeof(full)), 0);
	(void)make_is(WIRE_MAKE_FOLDER, 0, "a", 2);
	message.make.padding[6] = 1;
	assert_int_equal(wire_check(&message, sizeof(message.make), 0), -EBADMSG);
}

static void test_time_of_a_commit(void **state)
{
	message_begin(WIRE_FILE_COMMIT);
	message.commit.mtime_ns = -5;
	assert_int_equal(wire_check(&message, sizeof(message.commit), 0), -EBADMSG);
	message.commit.has_mtime = 1;
	assert_int_equal(wire_check(&message, sizeof(message.commit), 0), 0);
	message.commit.has_mtime = 2;
	assert_int_equal(wire_check(&message, sizeof(message.commit), 0), -EBADMSG);
}

static void test_only_the_exact_number_of_descriptors_passes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		message_begin(forms[i].type);
		for (size_t n = 0; n < 20; n++) {
			/* a live call may go without its stdin */
			bool is_live = forms[i].type == WIRE_LIVE && n == WIRE_LIVE_STDIN;
			int expected = n == forms[i].n_fds || is_live ? 0 : -EBADMSG;

			assert_int_equal(wire_check(&message, forms[i].size, n), expected);
		}
	}
}

static void test_another_version_is_refused(void **state)
{
	static const uint16_t versions[] = { 0, WIRE_VERSION + 1, WIRE_VERSION << 8, UINT16_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(versions); j++) {
			message_begin(forms[i].type);
			message.header.version = versions[j];
			assert_int_equal(
				wire_check(&message, forms[i].size, forms[i].n_fds), -EBADMSG);
		}
	}
}

static int check_key(const void *key, size_t n)
{
	message_begin(WIRE_SESSION_OPEN);
	memcpy(message.session_open.key, key, n);
	return wire_check(&message, sizeof(message.session_open), 0);
}

static void test_a_key_ends_in_its_array(void **state)
{
	char key[WIRE_KEY_SIZE];

	memset(key, 'k', sizeof(key));
	assert_int_equal(check_key(key, sizeof(key)), -EBADMSG);
	assert_int_equal(check_key(key, sizeof(key) - 1), 0);
	assert_int_equal(check_key(key, 1), 0);
}

static void test_nothing_hides_behind_the_end_of_a_key(void **state)
{
	char key[WIRE_KEY_SIZE] = "key";

	assert_int_equal(check_key("a\0b", 3), -EBADMSG);
	assert_int_equal(check_key("\0b", 2), -EBADMSG);
	key[WIRE_KEY_SIZE - 1] = 'x';
	assert_int_equal(check_key(key, sizeof(key)), -EBADMSG);
}

static const unsigned file_types[] = { WIRE_FILE_OPEN, WIRE_FILE_CREATE, WIRE_FILE_REMOVE };

static void test_a_path_ends_in_its_array(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_types); i++) {
		struct wire_file *file = &message.file;

		message_begin(file_types[i]);
		memset(file->path, 'p', sizeof(file->path));
		assert_int_equal(wire_check(&message, sizeof(*file), 0), -EBADMSG);
		file->path[sizeof(file->path) - 1] = '\0';
		assert_int_equal(wire_check(&message, sizeof(*file), 0), 0);
		file->path[10] = '\0';
		assert_int_equal(wire_check(&message, sizeof(*file), 0), -EBADMSG);
	}
}

static void test_every_reserved_byte_must_be_zero(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_types); i++) {
		for (size_t at = 0; at < 7; at++) {
			message_begin(file_types[i]);
			message.file.padding[at] = 1;
			assert_int_equal(wire_check(&message, sizeof(message.file), 0), -EBADMSG);
		}
		for (unsigned bit = 0; bit < 32; bit++) {
			message_begin(file_types[i]);
			message.file.reserved = 1u << bit;
			assert_int_equal(wire_check(&message, sizeof(message.file), 0), -EBADMSG);
		}
	}
	for (size_t at = 0; at < 7; at++) {
		message_begin(WIRE_SESSION_OPEN);
		message.session_open.reserved[at] = 0x80;
		assert_int_equal(wire_check(&message, sizeof(message.session_open), 0), -EBADMSG);
	}
	for (unsigned bit = 0; bit < 32; bit++) {
		message_begin(WIRE_RUN);
		message.run.reserved = 1u << bit;
		assert_int_equal(wire_check(&message, sizeof(message.run), WIRE_RUN_FDS), -EBADMSG);
		message_begin(WIRE_LIST);
		message.list.reserved = 1u << bit;
		assert_int_equal(wire_check(&message, sizeof(message.list), 0), -EBADMSG);
		message_begin(WIRE_LIVE);
		message.live.reserved = 1u << bit;
		assert_int_equal(
			wire_check(&message, sizeof(message.live), WIRE_RUN_FDS), -EBADMSG);
	}
}

static void test_a_run_starts_from_what_there_is(void **state)
{
	for (uint32_t warm = 0; warm < WIRE_WARM_MAX + 3; warm++) {
		message_begin(WIRE_RUN);
		message.run.warm = warm;
		assert_int_equal(wire_check(&message, sizeof(message.run), WIRE_RUN_FDS),
			warm < WIRE_WARM_MAX ? 0 : -EBADMSG);
	}
}

static void test_numbers_are_left_to_the_handler(void **state)
{
	message_begin(WIRE_RUN);
	message.run.session = UINT64_MAX;
	message.run.wall_ms = UINT64_MAX;
	message.header.seq = UINT32_MAX;
	assert_int_equal(wire_check(&message, sizeof(message.run), WIRE_RUN_FDS), 0);
	message_begin(WIRE_LIST);
	message.list.flags = UINT32_MAX;
	assert_int_equal(wire_check(&message, sizeof(message.list), 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type_has_a_form_here),
		cmocka_unit_test(test_sizes_names_and_directions),
		cmocka_unit_test(test_unknown_types_have_no_size),
		cmocka_unit_test(test_unknown_types_are_refused_at_any_size),
		cmocka_unit_test(test_only_the_exact_size_passes),
		cmocka_unit_test(test_names_of_make),
		cmocka_unit_test(test_time_of_a_commit),
		cmocka_unit_test(test_only_the_exact_number_of_descriptors_passes),
		cmocka_unit_test(test_another_version_is_refused),
		cmocka_unit_test(test_a_key_ends_in_its_array),
		cmocka_unit_test(test_nothing_hides_behind_the_end_of_a_key),
		cmocka_unit_test(test_a_path_ends_in_its_array),
		cmocka_unit_test(test_every_reserved_byte_must_be_zero),
		cmocka_unit_test(test_a_run_starts_from_what_there_is),
		cmocka_unit_test(test_numbers_are_left_to_the_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
