#pragma once

/* What main has read of the environment: nobody else calls getenv. */
struct environment {
	const char *home;	 /* HOME, or NULL, as all of these */
	const char *config_home; /* XDG_CONFIG_HOME */
	const char *state_home;	 /* XDG_STATE_HOME */
	const char *cache_home;	 /* XDG_CACHE_HOME */
};

/* The strings are borrowed: the environment's own. */
void environment_set(const struct environment *environment);
const struct environment *environment_get(void);
