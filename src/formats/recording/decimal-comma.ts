/** Reads numbers that are written with a decimal comma. */
const GROUPED = /^\s*[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?\s*$/
const SWAPPED: Readonly<Record<string, string>> = { '.': ',', ',': '.' }

/** `1.234,5` becomes `1234.5`; a number with a decimal point becomes a text that is not a number. */
export function withPoint(cell: string): string {
  const swapped = cell.replaceAll(/[.,]/g, (mark) => SWAPPED[mark] ?? mark)
  return GROUPED.test(swapped) ? swapped.replaceAll(',', '') : swapped
}
