"""What a process is: settings, logs, metrics, how it ends."""
