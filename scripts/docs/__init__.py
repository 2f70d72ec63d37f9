"""What scripts/docs.py reads of the programs' help, and checks in the documents: links between them, and messages of
the sources."""
