"""Code that the networks of this folder share: data, training, export."""
