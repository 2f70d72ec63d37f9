"""A chaos tester for jtrace: random programs, options and faults, each run decided by its seed."""
