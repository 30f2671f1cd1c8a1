"""What projectors share: worksheets, the guard that keeps calls and results together, the wording of stand-ins."""
