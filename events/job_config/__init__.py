"""What a job's config may say, and how its layers add up."""
