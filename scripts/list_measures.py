"""Write the file that `movers methods` prints, from the registry of measures."""

from movers.cli.quick import MEASURES, measure_rows

if __name__ == "__main__":
    MEASURES.write_text("".join(f"{row}\n" for row in measure_rows()), encoding="utf-8")
