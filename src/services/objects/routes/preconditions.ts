/** Evaluates conditional requests by etag and modification time. */

import type { WriteCondition } from '../contract.ts'

export interface KnownContent {
  readonly etag: string
  readonly modified: number
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Returns 304 or 412 when the conditions forbid sending the content; otherwise undefined. */
export function refusedRead(headers: Headers, { etag, modified }: KnownContent): 304 | 412 | undefined {
  // clients know modification times in whole seconds
  const time = Math.floor(modified / 1_000) * 1_000
  const match = textOf(headers['if-match'])
  if (match !== undefined ? !names(match, etag) : time > timeOf(headers['if-unmodified-since'])) return 412
  const noneMatch = textOf(headers['if-none-match'])
  if (noneMatch !== undefined) return names(noneMatch, etag) ? 304 : undefined
  const since = timeOf(headers['if-modified-since'])
  return since !== Number.POSITIVE_INFINITY && time <= since ? 304 : undefined
}

export function isOfKnown(header: string | string[] | undefined, { etag, modified }: KnownContent): boolean {
  const text = textOf(header)
  if (text === undefined || text === `"${etag}"`) return true
  return Math.floor(modified / 1_000) * 1_000 === Date.parse(text)
}

export function expectedByWrite(headers: Headers): WriteCondition {
  const match = tagsIn(headers['if-match'])
  const since = match === undefined ? timeOf(headers['if-unmodified-since']) : Number.POSITIVE_INFINITY
  return { match, noneMatch: tagsIn(headers['if-none-match']), unmodifiedSince: since }
}

function tagsIn(header: string | string[] | undefined): readonly string[] | undefined {
  return textOf(header)
    ?.split(',')
    .map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'))
}

function names(list: string, etag: string): boolean {
  return list.split(',').some((one) => ['*', etag, `"${etag}"`, `W/"${etag}"`].includes(one.trim()))
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header
}

/** Returns Infinity for an invalid time, which makes the condition ineffective. */
function timeOf(header: string | string[] | undefined): number {
  const ms = Date.parse(textOf(header) ?? '')
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : ms
}
