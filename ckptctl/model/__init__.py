"""Pure values: what an experiment is, what its witnesses claim, and what a plan does."""
