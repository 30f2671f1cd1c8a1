"""What is written in many ways, in one form: numbers, units, paths, words of several languages."""
