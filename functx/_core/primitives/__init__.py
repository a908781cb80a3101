"""What all primitives of functx need: pickling, Taylor mode, mapped axes."""
