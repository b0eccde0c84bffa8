"""One family a file. A file that is put here is found; there is no list to edit."""
