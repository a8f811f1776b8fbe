"""The autoscaler of Flink's Kubernetes operator."""
