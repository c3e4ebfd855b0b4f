/** Instants as ISO 8601 writes them. */

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Epoch ms of an ISO 8601 text, UTC without an offset; NaN for anything else. */
export function isoInstant(text: string): number {
  const parts = ISO.exec(text.trim())
  if (!parts) return Number.NaN
  const [, date, time = '00:00', zone = 'Z'] = parts
  return Date.parse(`${date}T${time.replace(',', '.')}${zone.toUpperCase()}`)
}
