// Stands before Abseil's own header, which all of its headers include, where code of signal
// handlers is compiled (jtrace_handler_library).
#error "code of signal handlers must not include Abseil"
