"""The logistic loss on wide sparse rows: dual coordinate descent and truncated Newton."""
