#pragma once

struct image_job;

/* The Python set, by the pip of this host as it is set up: its index, certificates and proxies
 * count, and nothing of them gets into the image. Wheels only: nothing is built, and no package's
 * code runs here. */

/* Writes the recipe's requirements.txt anew from requirements.in, by uv. Returns 0 or -EIO after
 * job_refuse. */
int wheels_lock(struct image_job *job);

/* Brings every wheel of requirements.txt into the cache; pip checks the hashes. Returns 0 or -EIO.
 */
int wheels_fetch(struct image_job *job);

/* Unpacks them into the tree. Returns 0 or -EIO. */
int wheels_install(struct image_job *job);
