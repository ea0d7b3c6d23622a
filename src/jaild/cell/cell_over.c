#include "jaild/cell/cell.h"

#include "jail/cgroup/cgroup_live.h"
#include "jail/outside/home.h"
#include "jail/outside/process.h"
#include "jaild/live/live_oom.h"

/*
 * Theory of operation. Most of a short run's end is the kernel's: to free the memory of the
 * script's process, to tell init, to end init and its namespaces. None of that needs to be waited
 * for, if nothing of the cell can execute an instruction any more, which is what an answer
 * promises. So when both of the run's streams have ended, jaild looks: beside init there is the
 * script's process alone, it had one thread, and it is past its last instruction
 * (jail/outside/process.h). Then the client is told what it would have been told a millisecond or
 * two later, and the cell fades: init is killed, the session's next run waits for the rest
 * (turn.h). In all other cases nothing is done here, and the end comes as cell.c says.
 *
 * The process still holds its files until its memory is freed. One that has no name any more takes
 * room in the home, in which the client may want to put something right behind the answer; so a
 * run that leaves more there than a little is waited for.
 */

/* Between the end of the streams and that of the process are two system calls: who asks once more
 * is not waited for. */
#define PATIENCE_US 300

/* By which the home may have grown in the run. */
#define HOME_LITTLE_BYTES (1024 * 1024ULL)

/* The one process of the cell beside init, if it has one thread. False if there are more, or none.
 * Threads are asked for, since who executes programs in threads can be missed among processes. */
static bool other_find(const struct cell *cell, pid_t *ret_pid)
{
	pid_t pids[CGROUP_CELL_PIDS_MAX];
	size_t n = 0;

	if (cgroup_cell_threads(&cell->cgroup, pids, &n) < 0 || n != 2)
		return false;
	*ret_pid = pids[0] == cell->pid ? pids[1] : pids[0];
	return pids[0] == cell->pid || pids[1] == cell->pid;
}

void cell_know_script(struct cell *cell)
{
	int proc_fd = cell->session->jaild->proc_fd;
	pid_t pid;

	if (other_find(cell, &pid) && process_is_known_as(proc_fd, pid, cell->script_within))
		cell->script = pid;
}

/* Init and one more, by the kernel's own count, which no walk through a list can get wrong. */
static bool are_two(const struct cell *cell)
{
	uint64_t n = 0;

	return cgroup_cell_count(&cell->session->jaild->cgroups, &cell->cgroup, &n) == 0 && n == 2;
}

/* That it is alone is asked when it is known to be past: whoever it had begun would be there. */
static bool is_past(struct cell *cell, int *ret_status)
{
	usec_t patience_us = cell->has_looked ? 0 : PATIENCE_US;
	pid_t pid;

	cell->has_looked = true;
	return process_is_past(
		       cell->session->jaild->proc_fd, cell->script, patience_us, ret_status) &&
	       are_two(cell) && other_find(cell, &pid) && pid == cell->script;
}

static bool has_grown_little(const struct session *session)
{
	uint64_t home_bytes;

	return home_used(&session->home, &home_bytes) == 0 &&
	       home_bytes <= session->home_at_start_bytes + HOME_LITTLE_BYTES;
}

static void answer(struct cell *cell, int status)
{
	struct session *session = cell->session;
	struct init_event exit = {
		.kind = INIT_EXITED, .status = status, .ended_us = clock_now_us()
	};
	struct cgroup_usage usage;

	live_oom_settle(session);
	cgroup_run_end(&session->jaild->cgroups, &session->cgroup, &cell->cgroup, &usage);
	usage.is_out_of_memory |= live_oom_took_script(cell);
	cell_exited(cell, &exit);
	session->cell = NULL;
	session->fading = cell;
	session->jaild->n_cells--;
	cell_answer_ended(cell, &usage);
	cell_end(cell);
}

void cell_look(struct cell *cell)
{
	const struct session *session = cell->session;
	int status;

	if (cell->is_live || cell->state != CELL_RUNNING || cell->script_within == 0 ||
		!cgroup_run_has_peak(&session->jaild->cgroups, &session->cgroup))
		return;
	/* who had put the copy there may have been about when it started */
	if (cell->script == 0)
		cell_know_script(cell);
	if (cell->script == 0 || !is_past(cell, &status) || !has_grown_little(session))
		return;
	cell_heed(cell); /* init has the first word, if it has said it */
	if (cell->state == CELL_RUNNING && !cell->has_exit && !cell->has_end &&
		cell->failure.error == 0)
		answer(cell, status);
}

void cell_faded(struct cell *cell)
{
	struct session *session = cell->session;
	struct cgroup_usage usage;

	session->fading = NULL;
	/* what the end has cost is no later run's */
	cgroup_run_end(&session->jaild->cgroups, &session->cgroup, &cell->cgroup, &usage);
	cell_spare_schedule(session);
}
