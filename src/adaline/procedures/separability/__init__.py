"""Is there a separating hyperplane? Floats propose, integers dispose."""
