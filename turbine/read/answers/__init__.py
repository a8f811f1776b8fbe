"""The answers, a module for each subject: types with what their fields mean, and who makes them."""
