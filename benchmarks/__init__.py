"""What ckptctl costs, against floors and rivals, as ratios: ``make bench``."""
