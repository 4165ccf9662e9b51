"""What a file says, without a question being asked: versions, judge, estimates, raters."""
