"""Model files, checkpoints and exports."""
