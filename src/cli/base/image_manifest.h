#pragma once

struct json;
struct fault;

/* Reads what the image at path says of itself (IMAGE_MANIFEST). Returns 0 with *ret_manifest, which
 * json_free ends; or -errno with *ret_fault, which says what is wrong with that file. */
int image_manifest_read(const char *path, struct json **ret_manifest, struct fault *ret_fault);
