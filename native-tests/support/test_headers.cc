// Its object code is empty: the target exists for its precompiled header.
#include "native-tests/support/test_headers.h"
