/** The header `Range`: one range of bytes. */

/** Both included. */
export interface PartOfContent {
  readonly from: number
  readonly until: number
}

/**
 * The part that a header asks for of a content; undefined for all of it, as also for several ranges and for what is no
 * range, and `none` when the part lies behind the end.
 */
export function readRange(header: string | undefined, size: number): PartOfContent | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'none' : { from: size - length, until: size - 1 }
  }
  const from = Number(first)
  const until = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < from) return undefined
  return from >= size ? 'none' : { from, until }
}
