"""Mixed precision: autocast regions, their rewrite of programs, and the scaling of losses."""
