"""Pure: from an experiment and a wish to a plan, which says all that will be done."""
