#pragma once

struct image_job;

/* The steps from unpacked packages to a tree that can be used; the recipe's finish.py and leave-out
 * say what is done. All return 0 or -EIO after job_refuse. */

/* Unpacks job->lock into job->tree by mmdebstrap. */
int finish_unpack(struct image_job *job);

/* Fonts, bytecode, and what is not needed. */
int finish_tree(struct image_job *job, const char *id);
