"""Where bytes live: the only package that writes files and that imports fsspec."""
