"""Ho and Kashyap's procedure, on a basis of the column space."""
