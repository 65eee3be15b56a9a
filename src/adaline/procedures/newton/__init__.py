"""Newton's procedure for any loss, its proof, and the automatic penalty of the logistic one."""
