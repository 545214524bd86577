"""What makes an apply recoverable: its plan, the old bytes, and who is at work."""
