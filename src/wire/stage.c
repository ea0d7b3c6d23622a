#include "wire/stage.h"

#include "base/macro.h"

static const char *const stage_names[] = {
	"none",
#define STAGE(id, name) name,
#include "wire/stage.def"
#undef STAGE
};

#ifdef CLOCHE_FAULT_INJECTION
unsigned stage_to_fail = STAGE_NONE;
#endif

const char *stage_name(unsigned stage)
{
	return stage < ARRAY_SIZE(stage_names) ? stage_names[stage] : "unknown";
}
