"""KEDA on lag, and the autoscaler of Kubernetes beneath it."""
