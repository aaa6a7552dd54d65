"""How diverse contexts are: bases of the features in which an arm is best, λ₀, conditional second moments."""

from armspan.diversity.basis import Basis, best_basis, lambda_0
from armspan.diversity.moments import leads, smallest_eigenvalues

__all__ = ["Basis", "best_basis", "lambda_0", "leads", "smallest_eigenvalues"]
