#pragma once

#include "base/str.h"

#include <stddef.h>

#define MIME_HEAD_SIZE 16 /* bytes at a file's start that are looked at */

/* The media type of a file by its name and its first bytes (up to MIME_HEAD_SIZE; may be fewer),
 * for display only: a literal. What the bytes show wins over what the name says, but for containers
 * (a .docx is a zip). Unknown: text/plain for what looks like it, else application/octet-stream. */
const char *mime_guess(struct str name, struct str head);
