"""Names with parameters, signatures, errors, array types: what every room may use."""
