#pragma once

/* Descriptors that jaild holds at most for each session (with its home, a run and a spare), and for
 * everything else: how many sessions its limit of open descriptors allows. It is known here so that
 * who decides on a number of sessions can compare. */
#define WIRE_SESSION_DESCRIPTORS 32
#define WIRE_OTHER_DESCRIPTORS	 144
