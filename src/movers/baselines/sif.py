"""Smooth inverse frequency: weighted means without their first common component."""

from movers.baselines.removal import Removal, mean_vectors

SIF = Removal("sif", 1, mean_vectors)
fit, fitted, distances = SIF.fit, SIF.fitted, SIF.distances
