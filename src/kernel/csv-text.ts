/** Formats CSV cells, quoted where RFC 4180 requires it. */

const FORMULA = /^[=+\-@\t\r]/

export function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Prefixes an apostrophe where a spreadsheet would read the text as a formula. */
export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
