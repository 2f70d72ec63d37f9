#include "agent/writer/tree_source.h"
