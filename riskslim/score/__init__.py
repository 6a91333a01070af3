"""What a risk score consists of when people read it: table, sheet, explanations, rules, files."""
