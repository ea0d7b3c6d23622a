#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/fd.h"
#include "jail/inside/wall.h"
#include "jail/inside/warm.h"
#include "jail/plan/zygote.h"
#include "wire/channel.h"
#include "wire/package.h"
#include "wire/report.h"
#include "zygote/cell_fork.h"
#include "zygote/hot.h"
#include "zygote/surroundings.h"
#include "zygote/text.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Theory of operation. The zygote's whole life after its imports is serve(): for each request of
 * jaild's, one copy of this process in a cell. In the copy serve() returns, when it has already
 * become the script's process; zygote.py then makes it as fresh as a started interpreter and calls
 * wait(), which returns with the run's arguments and code. Limited API of 3.11: one build for all
 * later versions. Everything is refused rather than risked: a zygote that is in doubt ends, and
 * jaild starts another.
 *
 * Python is not told of the copying (PyOS_AfterFork_Child). What it would do is to make the locks
 * anew that threads may have held which the child has not; here is one thread, which goes on in the
 * copy where it was, as the same thread of libc's. All that is told of a fork, or differs in the
 * copy, zygote.py sees to (renew). It would cost 160 written pages, 0.5 ms.
 */

/* What imports leave open has low numbers. */
#define DESCRIPTORS_CHECKED 1024

static int libraries_count(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	*(unsigned long long *)count = info->dlpi_adds;
	return 1;
}

/* How many shared libraries have ever been loaded. */
static unsigned long long libraries(void)
{
	unsigned long long count = 0;

	(void)dl_iterate_phdr(libraries_count, &count);
	return count;
}

static unsigned long long libraries_of_zygote;

static int event_send(const struct zygote_event *event)
{
	return channel_send(INIT_CONTROL_FD, event, sizeof(*event), NULL, 0);
}

/* Signals are blocked so that none is handled by a helper, in our memory; the copy unblocks them
 * itself. Returns as cell_fork. */
static int copy_make(const struct zygote_request *request, const int *fds, unsigned *ret_stage)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	r = cell_fork(request, fds, ret_stage);
	if (r == 1) {
		hot_populate();
		warm_become();
		return 1;
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}

static bool request_is_whole(const struct zygote_request *request, ssize_t n, size_t n_fds)
{
	return n == sizeof(*request) && request->magic == ZYGOTE_MAGIC && request->has_leaf <= 1 &&
	       request->n_tasks <= ZYGOTE_TASKS_MAX &&
	       n_fds == ZYGOTE_FD_CGROUPS + request->has_leaf + request->n_tasks;
}

/* Serves one request. Returns true in the copy. */
static bool request_serve(void)
{
	struct zygote_event answer = { .magic = ZYGOTE_MAGIC, .kind = ZYGOTE_ANSWER };
	struct zygote_request request;
	int fds[CHANNEL_FDS_MAX], r;
	size_t n_fds;
	ssize_t n;

	n = channel_receive(INIT_CONTROL_FD, &request, sizeof(request), fds, &n_fds);
	if (n <= 0)
		_exit(0); /* jaild has no use for us any more */
	if (!request_is_whole(&request, n, n_fds))
		_exit(1);
#ifdef CLOCHE_FAULT_INJECTION
	stage_to_fail = request.stage_to_fail;
#endif
	r = copy_make(&request, fds, &answer.stage);
	if (r == 1)
		return true;
	channel_close_fds(fds, n_fds);
	answer.seq = request.seq;
	answer.error = -r;
	if (event_send(&answer) < 0)
		_exit(1);
	return false;
}

/* No Python runs in the zygote from here on: what it would write would take the huge pages apart
 * that hot_gather has made. */
static PyObject *serve(PyObject *module, PyObject *arguments)
{
	(void)module;
	(void)arguments;
	while (!request_serve()) {
		if (!surroundings_are_same())
			_exit(0); /* jaild starts another */
	}
	Py_RETURN_NONE;
}

static PyObject *note(PyObject *module, PyObject *arguments)
{
	const char *path;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "s", &path))
		return NULL;
	if (surroundings_note(path) < 0) {
		PyErr_SetString(PyExc_ValueError, "too many places, or too long a name");
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *learn(PyObject *module, PyObject *arguments)
{
	unsigned pages_max;
	const char *bytes;
	Py_ssize_t size;
	int pagemap_fd, r;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "iy#I", &pagemap_fd, &bytes, &size, &pages_max))
		return NULL;
	/* the bytes of an object are aligned as the object is */
	r = hot_learn(
		pagemap_fd, (const void *)bytes, (size_t)size / sizeof(struct hot_span), pages_max);
	return PyLong_FromLong(r);
}

static PyObject *stop(PyObject *module, PyObject *arguments)
{
	unsigned own_pages;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "I", &own_pages))
		return NULL;
	hot_child_stop(own_pages);
	Py_RETURN_NONE;
}

static PyObject *align(PyObject *module, PyObject *arguments)
{
	Py_ssize_t piece;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "n", &piece))
		return NULL;
	hot_align((size_t)piece);
	Py_RETURN_NONE;
}

static PyObject *gather(PyObject *module, PyObject *arguments)
{
	const char *bytes;
	Py_ssize_t size;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "y#", &bytes, &size))
		return NULL;
	hot_gather((const void *)bytes, (size_t)size / sizeof(struct hot_span));
	text_gather();
	Py_RETURN_NONE;
}

/* A copy has none of our descriptors: whoever still wanted to read from one would find it closed,
 * or a file of the script's behind it. */
static bool descriptors_are_ours(void)
{
	for (int fd = INIT_CONTROL_FD + 1; fd < DESCRIPTORS_CHECKED; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			return false;
	}
	return true;
}

static PyObject *ready(PyObject *module, PyObject *arguments)
{
	struct zygote_event event = { .magic = ZYGOTE_MAGIC, .kind = ZYGOTE_SERVES };
	unsigned long long loaded;
	int lesson;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "Ki", &loaded, &lesson))
		return NULL;
	event.loaded = loaded;
	hot_settle();
	event.hot_pages = hot_count();
	event.lesson = lesson != 0 || event.hot_pages > 0 ? lesson : ENODATA;
	if (!descriptors_are_ours()) {
		event.stage = STAGE_ZYGOTE_SERVES;
		event.error = EMFILE;
	}
	libraries_of_zygote = libraries();
	/* nobody of our uid is to look into us; a copy is its script's own (warm_become) */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || event_send(&event) < 0)
		_exit(1);
	Py_RETURN_NONE;
}

/* Keeps an object for good. */
static PyObject *keep(PyObject *module, PyObject *object)
{
	(void)module;
	Py_INCREF(object);
	Py_RETURN_NONE;
}

/* The names in the first dictionary whose values the second does not have under them, by identity.
 * It takes no reference to a value: that would be a write, and a copy of its page. */
static PyObject *changed(PyObject *module, PyObject *arguments)
{
	PyObject *now, *before, *name, *value, *names = PyList_New(0);
	Py_ssize_t at = 0;

	(void)module;
	if (!names || !PyArg_ParseTuple(arguments, "OO", &now, &before)) {
		Py_XDECREF(names);
		return NULL;
	}
	while (PyDict_Next(now, &at, &name, &value)) {
		if (PyDict_GetItemWithError(before, name) == value)
			continue;
		if (PyErr_Occurred() || PyList_Append(names, name) < 0) {
			Py_DECREF(names);
			return NULL;
		}
	}
	return names;
}

/* Whether each name in the first dictionary is in the second one; likewise without a reference. */
static PyObject *is_within(PyObject *module, PyObject *arguments)
{
	PyObject *now, *known, *name;
	Py_ssize_t at = 0;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "OO", &now, &known))
		return NULL;
	while (PyDict_Next(now, &at, &name, NULL)) {
		if (!PyDict_GetItemWithError(known, name))
			return PyErr_Occurred() ? NULL : PyBool_FromLong(0);
	}
	return PyBool_FromLong(1);
}

/* By exit(3), which calls what libraries have registered, if the script has loaded any; else that
 * would only copy the pages of the zygote's. Then the streams are closed first: whoever reads them
 * need not wait until the kernel has freed our memory (jaild/cell/cell_over.c). No other thread
 * runs Python any more that could open something in their place. */
static PyObject *leave(PyObject *module, PyObject *arguments)
{
	int status;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "i", &status))
		return NULL;
	if (hot_is_child())
		hot_child_stop(0);
	if (libraries() != libraries_of_zygote)
		exit(status);
	(void)fflush(NULL);
	(void)close_range(STDOUT_FILENO, STDERR_FILENO, 0);
	_exit(status);
}

static PyObject *words_of(const struct package *package)
{
	PyObject *words = PyList_New(0);

	for (unsigned i = 0; words && i < package->n_args; i++) {
		PyObject *word = PyUnicode_DecodeFSDefault(package->args[i]);

		if (!word || PyList_Append(words, word) < 0)
			Py_CLEAR(words);
		Py_XDECREF(word);
	}
	return words;
}

/* (arguments, code), (None, None) for a package that cannot be read. */
static PyObject *package_read(int package_fd)
{
	struct package package;
	PyObject *read = NULL;
	struct stat status;
	void *data;

	if (fstat(package_fd, &status) < 0)
		return Py_BuildValue("OO", Py_None, Py_None);
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, package_fd, 0);
	if (data == MAP_FAILED)
		return Py_BuildValue("OO", Py_None, Py_None);
	if (package_parse(data, (size_t)status.st_size, &package) == 0)
		read = Py_BuildValue(
			"Ny#", words_of(&package), package.code, (Py_ssize_t)package.code_size);
	(void)munmap(data, (size_t)status.st_size);
	if (read)
		return read;
	PyErr_Clear();
	return Py_BuildValue("OO", Py_None, Py_None);
}

static PyObject *wait_for_run(PyObject *module, PyObject *arguments)
{
	int package_fd = -1;
	PyObject *read;

	(void)module;
	(void)arguments;
	if (!warm_wait(&package_fd))
		_exit(0);
	read = package_read(package_fd);
	(void)fd_close(package_fd);
	return read;
}

static PyObject *is_same(PyObject *module, PyObject *arguments)
{
	(void)module;
	(void)arguments;
	return PyBool_FromLong(surroundings_are_same());
}

static PyObject *home_is_empty(PyObject *module, PyObject *arguments)
{
	(void)module;
	(void)arguments;
	return PyBool_FromLong(surroundings_home_is_empty());
}

static PyObject *streams(PyObject *module, PyObject *arguments)
{
	(void)module;
	(void)arguments;
	return PyLong_FromUnsignedLong(surroundings_streams());
}

/* The report's memory, which stays for as long as the process lives; None if there is none. */
static PyObject *map_report(PyObject *module, PyObject *arguments)
{
	void *data = MAP_FAILED;
	struct stat status;
	int fd;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "i", &fd))
		return NULL;
	if (fstat(fd, &status) == 0 && status.st_size >= (off_t)REPORT_SIZE)
		data = mmap(NULL, REPORT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)fd_close(fd);
	if (data == MAP_FAILED)
		Py_RETURN_NONE;
	return PyMemoryView_FromMemory(data, REPORT_SIZE, PyBUF_WRITE);
}

static PyMethodDef methods[] = {
	{ "ready", ready, METH_VARARGS,
		"Tells jaild that everything is loaded: a set of bits, and the lesson's errno." },
	{ "learn", learn, METH_VARARGS,
		"Learns which pages a run writes, from pagemap, spans and the most pages that a "
		"copy has alone. Returns 1 in the child that is to run, else 0 or -errno." },
	{ "stop", stop, METH_VARARGS,
		"In that child: lets the parent look, and says how many pages it has alone." },
	{ "align", align, METH_VARARGS,
		"Has memory of this size begin with huge pages; 0: no more." },
	{ "gather", gather, METH_VARARGS,
		"Puts the memory of spans, and our text, into huge pages." },
	{ "keep", keep, METH_O, "Keeps an object for as long as the process lives." },
	{ "changed", changed, METH_VARARGS,
		"Names of what is not the same in another dictionary." },
	{ "is_within", is_within, METH_VARARGS,
		"Whether a dictionary's names are in another one." },
	{ "leave", leave, METH_VARARGS,
		"Ends the process with this status, without Python's end." },
	{ "note", note, METH_VARARGS, "Notes a file that Python is loaded from, for is_same." },
	{ "serve", serve, METH_NOARGS, "Serves requests; returns in copies." },
	{ "wait", wait_for_run, METH_NOARGS,
		"In the copy: waits for the run, returns its arguments and its code." },
	{ "is_same", is_same, METH_NOARGS, "Whether what was noted is as it was." },
	{ "home_is_empty", home_is_empty, METH_NOARGS, "Whether there is no file in the home." },
	{ "streams", streams, METH_NOARGS, "Which of the three are what they most often are." },
	{ "map_report", map_report, METH_VARARGS, "The report's memory, its descriptor closed." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "cloche_zygote",
	.m_size = -1, .m_methods = methods };

PyMODINIT_FUNC PyInit_cloche_zygote(void);

__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit_cloche_zygote(void)
{
	return PyModule_Create(&definition);
}
