"""What scripts/docs.py checks in the documents: links between them, and messages of the sources."""
