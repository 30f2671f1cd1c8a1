"""The conformance runner: cases of recorded behaviour, an adapter for each system, and the rules of comparison."""
