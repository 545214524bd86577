"""Documents and their renderers: values in, text out."""
