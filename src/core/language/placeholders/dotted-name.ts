/** Recognizes dotted names, such as names of meters, that code would misread. */

const OBIS = /\d+-\d+:\d+\.\d+\.\d+(?:\*\d+)?/

/** Returns the first unquoted name such as `1-0:1.8.0` in a text, if any. */
export function dottedName(text: string): string | undefined {
  const found = OBIS.exec(text)
  if (found === null || /["']$/.test(text.slice(0, found.index))) return undefined
  return found[0]
}
