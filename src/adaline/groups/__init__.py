"""Many small fits in one call: one a group (`fit_groups`), or one a window (`rolling`)."""
