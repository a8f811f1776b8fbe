"""What strangers may publish and read, as pages, schemas and checks."""
