#include "agent/signal_safe/signal_scope.h"

namespace jtrace::signal_safe {

constinit InFlight handlers_in_flight;

}  // namespace jtrace::signal_safe
