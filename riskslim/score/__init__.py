"""Parts of a risk score that people read: table, sheet, explanations, rules, files."""
