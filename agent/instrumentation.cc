#include "agent/instrumentation.h"
