#pragma once

#include "jaild/jaild.h"
#include "launch/setup.h"

/* Turns the process that the launcher executed in the outer namespaces into jaild: mounts of its
 * own, the template, the filter, few capabilities, locked in. Returns 0, or -errno with *ret_stage
 * where. The descriptors of the setup are taken over. */
int start_jaild(struct jaild *jaild, const struct setup *setup, enum stage *ret_stage);
