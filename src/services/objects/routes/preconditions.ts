/** Conditional requests: what a client has already, or will not overwrite. */

import type { WriteCondition } from '../contract.ts'

export interface KnownContent {
  readonly etag: string
  /** epoch ms */
  readonly modified: number
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** What a read is answered with in place of the content: 304, 412, or undefined for the content. */
export function refusedRead(headers: Headers, { etag, modified }: KnownContent): 304 | 412 | undefined {
  // in seconds, as clients are told
  const time = Math.floor(modified / 1_000) * 1_000
  const match = textOf(headers['if-match'])
  if (match !== undefined ? !names(match, etag) : time > timeOf(headers['if-unmodified-since'])) return 412
  const noneMatch = textOf(headers['if-none-match'])
  if (noneMatch !== undefined) return names(noneMatch, etag) ? 304 : undefined
  const since = timeOf(headers['if-modified-since'])
  return since !== Number.POSITIVE_INFINITY && time <= since ? 304 : undefined
}

/** Whether a range is of the content that the client knows. */
export function isOfKnown(header: string | string[] | undefined, { etag, modified }: KnownContent): boolean {
  const text = textOf(header)
  if (text === undefined || text === `"${etag}"`) return true
  return Math.floor(modified / 1_000) * 1_000 === Date.parse(text)
}

/** What a write expects to be there. */
export function expectedByWrite(headers: Headers): WriteCondition {
  const match = tagsIn(headers['if-match'])
  const since = match === undefined ? timeOf(headers['if-unmodified-since']) : Number.POSITIVE_INFINITY
  return { match, noneMatch: tagsIn(headers['if-none-match']), unmodifiedSince: since }
}

/** Etags of a header, without their quotes. */
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

/** What is no time asks for nothing. */
function timeOf(header: string | string[] | undefined): number {
  const ms = Date.parse(textOf(header) ?? '')
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : ms
}
