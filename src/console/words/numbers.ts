/** Numbers and values in words. */

/** Returns a number with its noun: `1 alarm`, `1,440 messages`. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}

const SMALL = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']

/** Returns small numbers as words, as at the beginning of a clause. */
export function wordOf(count: number): string {
  return SMALL[count] ?? count.toLocaleString('en')
}

/** Returns a value with its unit, if there is one. */
export function quantityText(value: unknown, unit: string | undefined): string {
  return unit === undefined || typeof value !== 'number' ? valueText(value) : `${valueText(value)} ${unit}`
}

/** Returns a value as short text: numbers with at most four significant places behind the point. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? value.toLocaleString('en') : String(value)
    return String(Number(value.toPrecision(Math.abs(value) >= 1000 ? 7 : 4)))
  }
  if (typeof value === 'string') return value
  return value === undefined ? '' : JSON.stringify(value)
}

/** Joins with commas and `and`. */
export function listText(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Cuts a text at a length, with an ellipsis. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}
