"""What transforms return, and what operators return, can be sent to another process."""
