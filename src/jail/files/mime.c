/*
 * Theory of operation: two short tables, no library, as this runs near tokens (decision 32). A
 * signature is stronger than an extension, since a page that trusts "image/png" must not get
 * something else. Containers (zip, ole, ogg, xml text ...) say little, so there the extension may
 * refine. An extension whose format has a signature, on bytes that lack it, is not believed.
 */
#include "jail/files/mime.h"

#include "base/macro.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct signature {
	size_t at;
	struct str bytes;
	const char *type;
	bool is_container; /* the extension says more */
};

/* By Wikipedia's list of file signatures and the formats' own documents. */
static const struct signature signatures[] = {
	{ 0, { "\x89PNG\r\n\x1a\n", 8 }, "image/png", false },
	{ 0, { "\xff\xd8\xff", 3 }, "image/jpeg", false },
	{ 0, { "GIF87a", 6 }, "image/gif", false },
	{ 0, { "GIF89a", 6 }, "image/gif", false },
	{ 8, { "WEBP", 4 }, "image/webp", false },
	{ 8, { "WAVE", 4 }, "audio/wav", false },
	{ 8, { "AVI ", 4 }, "video/x-msvideo", false },
	{ 0, { "II*\0", 4 }, "image/tiff", false },
	{ 0, { "MM\0*", 4 }, "image/tiff", false },
	{ 0, { "%PDF-", 5 }, "application/pdf", false },
	{ 0, { "PK\x03\x04", 4 }, "application/zip", true },
	{ 0, { "PK\x05\x06", 4 }, "application/zip", true },
	{ 0, { "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8 }, "application/x-ole-storage", true },
	{ 0, { "\x1f\x8b", 2 }, "application/gzip", false },
	{ 0, { "BZh", 3 }, "application/x-bzip2", false },
	{ 0,
		{ "\xfd"
		  "7zXZ",
			6 },
		"application/x-xz", false },
	{ 0, { "7z\xbc\xaf\x27\x1c", 6 }, "application/x-7z-compressed", false },
	{ 0, { "\x28\xb5\x2f\xfd", 4 }, "application/zstd", false },
	{ 4, { "ftypM4A", 7 }, "audio/mp4", false },
	{ 4, { "ftypqt", 6 }, "video/quicktime", false },
	{ 4, { "ftypavif", 8 }, "image/avif", false },
	{ 4, { "ftyp", 4 }, "video/mp4", false },
	{ 0, { "\x1a\x45\xdf\xa3", 4 }, "video/webm", true },
	{ 0, { "OggS", 4 }, "audio/ogg", true },
	{ 0, { "fLaC", 4 }, "audio/flac", false },
	{ 0, { "ID3", 3 }, "audio/mpeg", false },
	{ 0, { "\xff\xfb", 2 }, "audio/mpeg", false },
	{ 0, { "SQLite format 3\0", 16 }, "application/vnd.sqlite3", false },
	{ 0, { "PAR1", 4 }, "application/vnd.apache.parquet", false },
	{ 0,
		{ "\x7f"
		  "ELF",
			4 },
		"application/x-elf", false },
	{ 0, { "wOF2", 4 }, "font/woff2", false },
	{ 0, { "OTTO", 4 }, "font/otf", false },
};

struct extension {
	const char *name;
	const char *type;
	const char *container; /* type of the signature that its bytes have; NULL: none is known */
};

#define ZIP   "application/zip"
#define OLE   "application/x-ole-storage"
#define OOXML "application/vnd.openxmlformats-officedocument."
#define ODF   "application/vnd.oasis.opendocument."

static const struct extension extensions[] = {
	{ "txt", "text/plain", NULL },
	{ "log", "text/plain", NULL },
	{ "csv", "text/csv", NULL },
	{ "tsv", "text/tab-separated-values", NULL },
	{ "md", "text/markdown", NULL },
	{ "html", "text/html", NULL },
	{ "htm", "text/html", NULL },
	{ "css", "text/css", NULL },
	{ "js", "text/javascript", NULL },
	{ "mjs", "text/javascript", NULL },
	{ "json", "application/json", NULL },
	{ "jsonl", "application/jsonl", NULL },
	{ "geojson", "application/geo+json", NULL },
	{ "ipynb", "application/x-ipynb+json", NULL },
	{ "xml", "application/xml", NULL },
	{ "yaml", "application/yaml", NULL },
	{ "yml", "application/yaml", NULL },
	{ "toml", "application/toml", NULL },
	{ "py", "text/x-python", NULL },
	{ "sh", "text/x-shellscript", NULL },
	{ "tex", "text/x-tex", NULL },
	{ "svg", "image/svg+xml", NULL },
	{ "srt", "application/x-subrip", NULL },
	{ "ics", "text/calendar", NULL },
	{ "vcf", "text/vcard", NULL },
	{ "rtf", "application/rtf", NULL },
	{ "eps", "application/postscript", NULL },
	{ "ps", "application/postscript", NULL },
	{ "tar", "application/x-tar", NULL },
	{ "npy", "application/x-npy", NULL },
	{ "pkl", "application/octet-stream", NULL },
	{ "bmp", "image/bmp", NULL },
	{ "ico", "image/x-icon", NULL },
	{ "mp3", "audio/mpeg", NULL },
	{ "ttf", "font/ttf", NULL },
	{ "docx", OOXML "wordprocessingml.document", ZIP },
	{ "xlsx", OOXML "spreadsheetml.sheet", ZIP },
	{ "pptx", OOXML "presentationml.presentation", ZIP },
	{ "odt", ODF "text", ZIP },
	{ "ods", ODF "spreadsheet", ZIP },
	{ "odp", ODF "presentation", ZIP },
	{ "epub", "application/epub+zip", ZIP },
	{ "jar", "application/java-archive", ZIP },
	{ "whl", "application/x-wheel+zip", ZIP },
	{ "npz", "application/x-npz", ZIP },
	{ "doc", "application/msword", OLE },
	{ "xls", "application/vnd.ms-excel", OLE },
	{ "ppt", "application/vnd.ms-powerpoint", OLE },
	{ "mkv", "video/x-matroska", "video/webm" },
	{ "webm", "video/webm", "video/webm" },
	{ "ogg", "audio/ogg", "audio/ogg" },
	{ "oga", "audio/ogg", "audio/ogg" },
	{ "opus", "audio/ogg", "audio/ogg" },
	{ "ogv", "video/ogg", "audio/ogg" },
};

static const struct extension *extension_find(struct str name)
{
	const char *dot = name.n > 0 ? memrchr(name.p, '.', name.n) : NULL;
	size_t n = dot ? (size_t)(name.p + name.n - dot) - 1 : 0;

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++)
		if (strlen(extensions[i].name) == n &&
			strncasecmp(extensions[i].name, name.p + name.n - n, n) == 0)
			return &extensions[i];
	return NULL;
}

static const struct signature *signature_find(struct str head)
{
	for (size_t i = 0; i < ARRAY_SIZE(signatures); i++) {
		const struct signature *s = &signatures[i];

		if (head.n >= s->at + s->bytes.n &&
			memcmp(head.p + s->at, s->bytes.p, s->bytes.n) == 0)
			return s;
	}
	return NULL;
}

/* No control characters but those of text. Bytes over 0x7f may be any encoding. */
static bool looks_like_text(struct str head)
{
	for (size_t i = 0; i < head.n; i++) {
		unsigned char c = (unsigned char)head.p[i];

		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b)
			return false;
	}
	return true;
}

const char *mime_guess(struct str name, struct str head)
{
	const struct extension *extension = extension_find(name);
	const struct signature *signature = signature_find(head);

	if (signature) {
		bool is_refined = signature->is_container && extension && extension->container &&
				  strcmp(extension->container, signature->type) == 0;

		return is_refined ? extension->type : signature->type;
	}
	if (extension && !extension->container)
		return extension->type;
	return looks_like_text(head) ? "text/plain" : "application/octet-stream";
}
