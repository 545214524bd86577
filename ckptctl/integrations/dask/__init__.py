"""Dask as a cluster that scans and copies: extra ``ckptctl[dask]``, ``--executor dask``."""
