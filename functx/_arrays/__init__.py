"""What PyTorch offers beside operators: constructors and facts of arrays, the default dtype."""
