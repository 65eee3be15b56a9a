"""Learning looked at step by step: the tables of the lectures."""
