#pragma once

#include "wire/message.h"
#include "wire/package.h"

/* What a package could start from, guessed from the import statements of its code; a wrong guess
 * costs time only. jaild is told, since it reads no code itself. */
enum wire_warm imports_guess(const struct package *package);
