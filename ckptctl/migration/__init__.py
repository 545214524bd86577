"""What another Ray or pyarrow needs of an experiment, and the edits that give it."""
