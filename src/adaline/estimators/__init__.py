"""The learners with scikit-learn's manners, one file each; names are public from `adaline`."""
