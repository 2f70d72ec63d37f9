"""What scripts/release/shell.py writes: completion for three shells, and manual pages."""
