"""Tables in Markdown, whose rows are printed as they come."""

MIB = 2**20


class Table:
    def __init__(self, *columns):
        """A column is a title, or a title with the format of its numbers; "{:.0f} %" and "{:,}" are formats."""
        columns = [(column, None) if isinstance(column, str) else column for column in columns]
        self.formats = [form for _, form in columns]
        self.write(title for title, _ in columns)
        print("|" + "|".join("---:" if form else "---" for form in self.formats) + "|", flush=True)

    def row(self, *cells):
        """A number by its column's format, a text as it is, None as nothing."""
        assert len(cells) == len(self.formats), cells
        self.write("" if cell is None else form.format(cell) if form and not isinstance(cell, str) else str(cell)
                   for cell, form in zip(cells, self.formats))

    @staticmethod
    def write(cells):
        print("| " + " | ".join(cells) + " |", flush=True)
