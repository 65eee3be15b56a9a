"""The learners, with scikit-learn's API, one file each; names are public from `adaline`."""
