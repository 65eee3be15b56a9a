"""What the commands read and write: tables, sounds, proofs; and the options that say how."""
