"""What Turbine runs on: a Kafka for laptops and tests, and the topics of any Kafka."""
