"""The web applications: what readers of the newsletter need, and the editor's desk."""
