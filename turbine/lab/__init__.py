"""What would have been: plants, back-tests, what-if and the scoreboard."""
