"""The shell of job-keyed components, on Faust."""
