"""The one exception of failures that are not the program's own."""


class Error(RuntimeError):
    """One line; `code` is the exit code with which `train` would end: 2 usage, 3 budget, 4 data, 5 numbers, 6 device."""

    def __init__(self, message: str, code: int = 2):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return type(self), (str(self), self.code)
