#pragma once

#include <stddef.h>

/*
 * The template: a mount namespace whose root is the root file system of every cell, read-only and
 * without anything of the host but that. Cells start as copies of it, in which all of its mounts
 * are locked (mount_namespaces(7)).
 */

/* A file of ours: /etc/cloche/NAME, or NAME.py if the name has no dot. */
struct template_file {
	const char *name;
	const void *text;
	size_t size;
};

struct template_source {
	int root_fd;  /* the host's / or an image's folder */
	int is_image; /* take every folder of it, not only /usr and its links */
	const struct template_file *files;
	size_t n_files;
};

/* Makes the template out of the caller's mount namespace, in a short-lived process, and returns a
 * descriptor of it, which the caller closes; the caller gets a copy of that namespace to go on in.
 * proc_fd is the caller's own /proc. Returns 0 or -errno. */
int template_make(const struct template_source *source, int proc_fd, int *ret_ns_fd);
