#pragma once

#include "init/cell.h"

/* Starts a live interpreter in the finished cell and serves it with jaild's calls until one of the
 * three ends; then the process ends, and the cell with it. A failure to start goes through wall().
 */
__attribute__((noreturn)) void live_serve(const struct cell *cell);
