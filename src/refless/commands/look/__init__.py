"""Answers of a file before a question is asked: versions, judge, estimates, raters."""
