#pragma once

struct image_job;

/* The Debian archive, by the apt-get of this host, which does not learn of it: lists and files are
 * below the cache. */

/* Decides which packages go in and fetches them: job->lock is filled, and each of its files is in
 * job->debs with the right hash. Returns 0 or -EIO after job_refuse. */
int archive_fetch(struct image_job *job);

/* Makes the folder of .deb files a small archive that apt can read: its Packages file is written to
 * job->work/archive, with the packages of job->lock and no others. Returns 0 or -EIO. */
int archive_index(struct image_job *job);
