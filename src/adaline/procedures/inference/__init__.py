"""What large samples say of weights that Newton found: Wald's tables and profile likelihood."""
