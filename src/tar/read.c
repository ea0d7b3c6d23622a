/*
 * Theory of operation: a small machine that is fed bytes. Heads are collected into one block;
 * what follows a head goes to the sink, into `words`, or nowhere. Nothing in an archive makes us
 * hold more than TAR_WORDS_MAX bytes.
 */
#include "tar/read.h"

#include "base/macro.h"
#include "tar/block.h"

#include <errno.h>
#include <string.h>

#define TAR_WORDS_MAX (64u * 1024) /* of one pax head */
#define NSEC_PER_SEC  1000000000
#define SECONDS_MAX   (INT64_MAX / NSEC_PER_SEC - 1)
#define SIZE_MAX_TOLD ((uint64_t)1 << 62)

void tar_reader_init(struct tar_reader *reader, struct tar_sink *sink)
{
	*reader = (struct tar_reader){ .sink = sink,
		.words = BUF_INIT(TAR_WORDS_MAX),
		.path = BUF_INIT(TAR_NAME_MAX + 1),
		.target = BUF_INIT(TAR_NAME_MAX + 1) };
}

void tar_reader_fini(struct tar_reader *reader)
{
	buf_fini(&reader->words);
	buf_fini(&reader->path);
	buf_fini(&reader->target);
}

/* Octal text, or GNU's and pax' binary form for what is too large for it. */
static int number_get(const char *field, size_t size, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t i = 0;

	if ((unsigned char)field[0] == 0x80) {
		for (i = 1; i < size; i++) {
			if (value >> 55)
				return -EBADMSG;
			value = value << 8 | (unsigned char)field[i];
		}
		*ret_value = value;
		return 0;
	}
	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	if (i < size && field[i] != '\0' && field[i] != ' ')
		return -EBADMSG;
	*ret_value = value;
	return 0;
}

static bool checksum_is_right(const struct tar_block *block)
{
	const unsigned char *bytes = (const unsigned char *)block;
	size_t from = offsetof(struct tar_block, checksum);
	uint64_t said = 0, sum = 0;

	for (size_t i = 0; i < sizeof(*block); i++)
		sum += i >= from && i < from + sizeof(block->checksum) ? ' ' : bytes[i];
	return number_get(block->checksum, sizeof(block->checksum), &said) == 0 && said == sum;
}

static int field_add(struct buf *out, const char *field, size_t size)
{
	return buf_add(out, field, strnlen(field, size));
}

/* The path of ustar's two fields, unless one was said before. */
static int path_take(struct tar_reader *reader, const struct tar_block *block)
{
	int r = 0;

	if (reader->path.len > 0)
		return 0;
	if (memcmp(block->magic, "ustar\0", 6) == 0 && block->prefix[0]) {
		r = field_add(&reader->path, block->prefix, sizeof(block->prefix));
		if (r == 0)
			r = buf_add_char(&reader->path, '/');
	}
	return r < 0 ? r : field_add(&reader->path, block->name, sizeof(block->name));
}

/* Without "./" before and "/" behind; "." itself becomes nothing. */
static struct str path_trim(struct str path)
{
	while (path.n >= 2 && path.p[0] == '.' && path.p[1] == '/') {
		path.p += 2;
		path.n -= 2;
		while (path.n > 0 && path.p[0] == '/') {
			path.p++;
			path.n--;
		}
	}
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path.n == 1 && path.p[0] == '.' ? (struct str){ .p = path.p, .n = 0 } : path;
}

static int kind_of(char type, enum tar_kind *ret_kind)
{
	switch (type) {
	case '\0':
	case '0':
	case '7':
		*ret_kind = TAR_FILE;
		return 0;
	case '1':
		*ret_kind = TAR_SAME;
		return 0;
	case '2':
		*ret_kind = TAR_LINK;
		return 0;
	case '5':
		*ret_kind = TAR_FOLDER;
		return 0;
	default:
		return -ENOENT;
	}
}

/* What heads before the entry have said is over with it. */
static void said_clear(struct tar_reader *reader)
{
	buf_clear(&reader->path);
	buf_clear(&reader->target);
	reader->has_mtime = reader->has_size = false;
}

static int entry_tell(struct tar_reader *reader, const struct tar_block *block)
{
	struct tar_entry entry = { .size_bytes = reader->left };
	uint64_t mode = 0, mtime = 0;
	int r = kind_of(block->type, &entry.kind);

	reader->part = TAR_PART_SKIP;
	if (r < 0) {
		reader->skipped++;
		return 0;
	}
	r = number_get(block->mode, sizeof(block->mode), &mode);
	if (r == 0)
		r = number_get(block->mtime, sizeof(block->mtime), &mtime);
	if (r == 0)
		r = path_take(reader, block);
	if (r == 0 && reader->target.len == 0)
		r = field_add(&reader->target, block->target, sizeof(block->target));
	if (r < 0)
		return r == -ENOBUFS ? -ENAMETOOLONG : r;
	entry.path = path_trim(buf_get_slice(&reader->path));
	entry.target = buf_get_slice(&reader->target);
	if (entry.kind == TAR_SAME)
		entry.target = path_trim(entry.target);
	entry.mode = mode & 0777;
	entry.mtime_ns = reader->has_mtime
				 ? reader->mtime_ns
				 : (int64_t)MIN(mtime, (uint64_t)SECONDS_MAX) * NSEC_PER_SEC;
	if (entry.kind == TAR_FILE)
		reader->part = TAR_PART_DATA;
	else
		entry.size_bytes = 0;
	/* The archive's own folder. */
	return entry.path.n == 0 && entry.kind == TAR_FOLDER
		       ? 0
		       : reader->sink->on_entry(reader->sink, &entry);
}

/* "-12.5": seconds with parts. Returns 0 or -EBADMSG. */
static int mtime_parse(struct str text, int64_t *ret_ns)
{
	bool is_negative = text.n > 0 && text.p[0] == '-';
	struct str whole, part;
	uint64_t seconds = 0;
	int64_t ns = 0, unit = NSEC_PER_SEC / 10;

	if (is_negative) {
		text.p++;
		text.n--;
	}
	(void)str_split_once(text, '.', &whole, &part);
	if (str_to_u64(whole, SECONDS_MAX, &seconds) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < part.n; i++, unit /= 10) {
		if (part.p[i] < '0' || part.p[i] > '9')
			return -EBADMSG;
		ns += (part.p[i] - '0') * unit;
	}
	ns += (int64_t)seconds * NSEC_PER_SEC;
	*ret_ns = is_negative ? -ns : ns;
	return 0;
}

static int name_set(struct buf *name, struct str value)
{
	buf_clear(name);
	if (value.n == 0 || memchr(value.p, '\0', value.n))
		return -EBADMSG;
	return buf_add_slice(name, value) < 0 ? -ENAMETOOLONG : 0;
}

static int record_take(struct tar_reader *reader, struct str name, struct str value)
{
	if (str_eq(name, STR("path")))
		return name_set(&reader->path, value);
	if (str_eq(name, STR("linkpath")))
		return name_set(&reader->target, value);
	if (str_starts(name, STR("GNU.sparse.")))
		return -EOPNOTSUPP;
	if (str_eq(name, STR("size"))) {
		reader->has_size = true;
		return str_to_u64(value, SIZE_MAX_TOLD, &reader->size_bytes) < 0 ? -EBADMSG : 0;
	}
	if (str_eq(name, STR("mtime"))) {
		reader->has_mtime = true;
		return mtime_parse(value, &reader->mtime_ns);
	}
	return 0;
}

/* The records "LENGTH name=value\n" of a pax head. */
static int records_take(struct tar_reader *reader, struct str rest)
{
	while (rest.n > 0) {
		struct str digits, record, name, value;
		uint64_t length = 0;
		int r;

		if (!str_split_once(rest, ' ', &digits, &record) ||
			str_to_u64(digits, rest.n, &length) < 0 || length < digits.n + 3 ||
			rest.p[length - 1] != '\n')
			return -EBADMSG;
		record.n = (size_t)length - digits.n - 2;
		if (!str_split_once(record, '=', &name, &value))
			return -EBADMSG;
		r = record_take(reader, name, value);
		if (r < 0)
			return r;
		rest.p += length;
		rest.n -= (size_t)length;
	}
	return 0;
}

/* A pax head or a long name has come whole. */
static int words_take(struct tar_reader *reader)
{
	struct str words = buf_get_slice(&reader->words);
	int r = 0;

	if (reader->type == 'x')
		r = records_take(reader, words);
	else if (words.n > 0)
		r = name_set(reader->type == 'L' ? &reader->path : &reader->target,
			(struct str){ .p = words.p, .n = strnlen(words.p, words.n) });
	buf_clear(&reader->words);
	return r;
}

/* What was read of a part is whole. */
static int part_end(struct tar_reader *reader)
{
	enum tar_part part = reader->part;

	reader->part = reader->padding > 0 ? TAR_PART_SKIP : TAR_PART_HEAD;
	reader->left = reader->padding;
	reader->padding = 0;
	if (part == TAR_PART_WORDS)
		return words_take(reader);
	if (part != TAR_PART_DATA)
		return 0;
	return reader->sink->on_end(reader->sink);
}

static int head_take(struct tar_reader *reader)
{
	static const struct tar_block zeros;
	struct tar_block block;
	uint64_t size = 0;
	int r;

	memcpy(&block, reader->block, sizeof(block));
	reader->n = 0;
	if (memcmp(&block, &zeros, sizeof(block)) == 0) {
		reader->zeros++;
		return 0;
	}
	/* Behind the end only zeros: one archive, one reading of it. */
	if (reader->zeros > 0 || !checksum_is_right(&block) ||
		number_get(block.size, sizeof(block.size), &size) < 0)
		return -EBADMSG;
	reader->type = block.type;
	if (reader->has_size && !strchr("xgLK", block.type ? block.type : '0'))
		size = reader->size_bytes;
	if (size > SIZE_MAX_TOLD)
		return -EBADMSG;
	/* Heads of links may say a size that nothing follows. */
	if (strchr("125", block.type ? block.type : '0'))
		size = 0;
	reader->left = size;
	reader->padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
	if (block.type == 'S')
		return -EOPNOTSUPP;
	if (block.type == 'x' || block.type == 'L' || block.type == 'K') {
		if (size > TAR_WORDS_MAX)
			return -ENAMETOOLONG;
		reader->part = TAR_PART_WORDS;
	} else if (block.type == 'g') {
		reader->part = TAR_PART_SKIP;
	} else {
		r = entry_tell(reader, &block);
		said_clear(reader);
		if (r < 0)
			return r;
	}
	return reader->left == 0 ? part_end(reader) : 0;
}

/* Takes what it can of the bytes. Returns how many, or -errno. */
static ssize_t part_take(struct tar_reader *reader, const char *data, size_t size)
{
	size_t n = (size_t)MIN((uint64_t)size, reader->left);
	int r = 0;

	if (reader->part == TAR_PART_HEAD) {
		n = MIN(size, TAR_BLOCK - reader->n);
		memcpy(reader->block + reader->n, data, n);
		reader->n += n;
		r = reader->n == TAR_BLOCK ? head_take(reader) : 0;
		return r < 0 ? r : (ssize_t)n;
	}
	if (reader->part == TAR_PART_DATA)
		r = reader->sink->on_data(reader->sink, (struct str){ .p = data, .n = n });
	else if (reader->part == TAR_PART_WORDS)
		r = buf_add(&reader->words, data, n);
	reader->left -= n;
	if (r == 0 && reader->left == 0)
		r = part_end(reader);
	return r < 0 ? r : (ssize_t)n;
}

int tar_reader_feed(struct tar_reader *reader, const void *data, size_t size)
{
	const char *bytes = data;

	while (size > 0) {
		ssize_t n = part_take(reader, bytes, size);

		if (n < 0)
			return (int)n;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

int tar_reader_end(const struct tar_reader *reader)
{
	return reader->part == TAR_PART_HEAD && reader->n == 0 && reader->zeros > 0 ? 0 : -EBADMSG;
}
