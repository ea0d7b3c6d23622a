#pragma once

/* Writes 0 to every max_*_namespaces of the cell's user namespace, so that no process in it can
 * make a namespace even if the filter had a hole. sys_user_fd is jaild's /proc/sys/user: the
 * numbers there are those of the caller's own user namespace. Returns 0 or -errno. namespaces(7) */
int namespaces_forbid(int sys_user_fd);
