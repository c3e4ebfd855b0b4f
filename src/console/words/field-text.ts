/** Values as the text of form fields, and back. */

/** Reads the text of a form field as a value of the declared type; a placeholder stays text. Empty: undefined. */
export function readField(text: string, type: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (type === 'string') return text
  try {
    const value: unknown = JSON.parse(trimmed)
    return value
  } catch {
    return text
  }
}

/** Returns the text of a form field for a value, so that `readField` returns the value again. */
export function fieldText(value: unknown, type: string): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value)
  return type !== 'string' && readField(value, type) !== value ? JSON.stringify(value) : value
}
