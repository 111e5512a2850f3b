"""Makes `python -m sandbox` the same command as `dailygrad sandbox`."""

from sandbox.cli import sandbox_command

if __name__ == "__main__":
    sandbox_command(prog_name="python -m sandbox")
