"""An issue to documents. Templates hold the layout, catalogues the fixed words."""
