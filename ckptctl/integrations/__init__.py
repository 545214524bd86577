"""What other software imports to work with ckptctl at the source."""
