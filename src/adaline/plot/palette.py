"""Colours and markers of classes and curves."""

from __future__ import annotations

# Okabe and Ito's colours, which colour-blind readers can tell apart; the darker ones first.
# After them five of Tol's, for the classes from the eighth on.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A7A00"),
    *("#332288", "#AA4466", "#117733", "#AA4499", "#7A5230"),
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "p", "h", "*")
