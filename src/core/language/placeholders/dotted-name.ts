/** Names with dots in them, such as those of meters, that code would take for something else. */

const OBIS = /\d+-\d+:\d+\.\d+\.\d+(?:\*\d+)?/

/** The first name such as `1-0:1.8.0` in a text; undefined when there is none, or it stands in quotes. */
export function dottedName(text: string): string | undefined {
  const found = OBIS.exec(text)
  if (found === null || /["']$/.test(text.slice(0, found.index))) return undefined
  return found[0]
}
