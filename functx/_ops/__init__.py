"""Floor 1: the operators, by family. The facades import them, which fills the registry."""
