#pragma once

struct buf;

/*
 * Who uses an image holds a lock on its manifest together with all others who do; who takes the
 * image away needs it alone, for which he must be allowed to write the manifest. So nobody loses
 * the files under a run, and who can only read an image keeps nobody from its use. fcntl(2), "Open
 * file description locks"
 */

/* Takes a share in the image at path. Returns a descriptor that is the share until it is closed;
 * -ENOENT if there is no image; -EBUSY while somebody takes it away; -errno, as of a file system
 * that has no locks. */
int image_hold(const char *path);

/* Takes the image for oneself; waits for its users if told to. Returns a descriptor as above, or
 * -EBUSY, or -errno. */
enum image_claim_how {
	IMAGE_CLAIM_NOW,
	IMAGE_CLAIM_WAIT
};
int image_claim(const char *path, enum image_claim_how how);

/* Appends who holds a share, as "process 12 (cloche), process 34 (cloche)", or that nobody is
 * found: others may be in a container. proc(5), "locks" */
void image_users_add(const char *path, struct buf *out);
