/** Cells of CSV. */

const FORMULA = /^[=+\-@\t\r]/

/** In quotes where RFC 4180 asks for them. */
export function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** For spreadsheets, which would take it for a formula: the same text behind an apostrophe when it begins as a formula does. */
export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
