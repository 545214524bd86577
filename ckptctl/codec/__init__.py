"""Bytes to values and back: pickles, JSON, JSON lines, CSV, and edits of them.

Nothing here runs, imports or calls what a file names. Pickles are read by a
symbolic machine of our own and edited by splicing opcodes; text is spliced, never
written anew.
"""
