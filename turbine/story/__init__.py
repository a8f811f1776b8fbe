"""What the demo tells: each step does something to a live fleet, and sees that it came as told."""
