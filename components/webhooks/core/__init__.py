"""What a webhook sends, when, and signed how. Pure."""
