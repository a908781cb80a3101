"""functx beside JAX's other libraries: the programs of docs/ecosystem, and what they say."""
