"""One HTML page about one fitted model: verdict, evidence, pictures, and code to do it again."""

from adaline.report.report import Report, write_report

__all__ = ["Report", "write_report"]
