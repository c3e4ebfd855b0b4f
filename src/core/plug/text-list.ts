/** Parses a list of texts from one property. */
import { AppError } from '#kernel'

/** Parses a comma-separated text or a list. Throws `PLUG_FAILED` for anything else. */
export function textList(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  const list: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value]
  return list.flatMap((item) => {
    if (typeof item !== 'string')
      throw new AppError(
        'PLUG_FAILED',
        'the value is not a text or a list of texts; use a text with commas, or a list of texts',
      )
    return item.trim() === '' ? [] : [item.trim()]
  })
}
