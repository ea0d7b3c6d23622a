#pragma once

/* Makes the /etc of the template below root_fd: names, users and hosts of our own, and read-only
 * binds or copies of what programs need from the source tree's /etc (decision 11). source_fd is the
 * root of the host or of an image. Returns 0 or -errno. */
int etc_make(int root_fd, int source_fd);
