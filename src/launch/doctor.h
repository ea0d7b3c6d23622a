#pragma once

#include "launch/options.h"

/*
 * cloche-jaild --doctor: tries every mechanism that a jail needs on this host, each for itself, and
 * at last the whole start. Prints a line for each: name, ok or fail, cause, remedy, separated by
 * tabs. Returns 0 when all is there, else 1.
 */
int doctor_run(const struct options *options);

/* What a check finds. cause and remedy stay empty when it is ok; cause may then still hold a fact
 * worth telling ("ABI 7"). */
struct finding {
	bool is_ok;
	char cause[256];
	char remedy[256];
};

/* The checks, by the file that has them. Each fills in *ret, which is "failed" at first. */
void doctor_kernel(const struct options *options, struct finding *ret);
void doctor_calls(const struct options *options, struct finding *ret);
void doctor_landlock(const struct options *options, struct finding *ret);
void doctor_seccomp(const struct options *options, struct finding *ret);
void doctor_memfd(const struct options *options, struct finding *ret);
void doctor_ids(const struct options *options, struct finding *ret);
void doctor_id_helpers(const struct options *options, struct finding *ret);
void doctor_user_namespaces(const struct options *options, struct finding *ret);
void doctor_namespaces(const struct options *options, struct finding *ret);
void doctor_proc(const struct options *options, struct finding *ret);
void doctor_cgroup_trees(const struct options *options, struct finding *ret);
void doctor_cgroup_delegation(const struct options *options, struct finding *ret);
void doctor_cgroup_kill(const struct options *options, struct finding *ret);
void doctor_start(const struct options *options, struct finding *ret);

/* Writes both texts. */
__attribute__((format(printf, 3, 4))) void finding_explain(
	struct finding *finding, const char *remedy, const char *cause_format, ...);
