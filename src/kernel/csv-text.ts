/** Texts of CSV that spreadsheets would take for formulas. */

const FORMULA = /^[=+\-@\t\r]/

/** The same text behind an apostrophe when it begins as a formula does. */
export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
