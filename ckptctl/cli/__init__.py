"""The command line: parse, one call of `ckptctl.api`, one renderer of `ckptctl.report`."""
