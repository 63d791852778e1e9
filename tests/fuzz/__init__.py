"""Random programs of the accepted language, checked against complex steps of plain Python."""
