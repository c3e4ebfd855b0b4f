/** Checks the paths, contents and queries of objects. All checks throw `VALIDATION` or `TOO_LARGE`. */
import { AppError, FORBIDDEN_KEYS } from '#kernel'
import type { Blobs, Digest } from './blobs.ts'
import { checkText, checkWhole } from './check-text.ts'
import { MAX_BLOB_LIST, MAX_CONTENT_TYPE, MAX_METADATA_BYTES, MAX_PATH_BYTES } from './limits.ts'
import { Problems } from './problems.ts'

const CONTROL = /[\u0000-\u001f\u007f\p{Surrogate}]/u
const ETAG = /^(?:[0-9a-f]{32}|[0-9a-f]{64})$/
const WHOLE = { min: 0, max: Number.MAX_SAFE_INTEGER }

export interface CheckedPut {
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  /** the required etag, or `absent`; undefined: no requirement */
  readonly expect: string | undefined
  readonly digest: Digest
}

export interface CheckedList {
  readonly prefix: string
  readonly after: string
  readonly limit: number
}

export function checkPath(path: string): void {
  const problems = new Problems()
  checkPathInto(path, problems)
  problems.throwIfAny('The path of an object')
}

export function checkPut(path: string, options: Parameters<Blobs['put']>[2] = {}): CheckedPut {
  const problems = new Problems()
  checkPathInto(path, problems)
  const { contentType = 'application/octet-stream', metadata = {}, expect, digest = 'sha256' } = options
  if (contentType === '' || CONTROL.test(contentType)) {
    problems.wrong('/contentType', `${JSON.stringify(contentType)} is not a media type`, 'use one such as text/plain')
  } else if (contentType.length > MAX_CONTENT_TYPE) {
    problems.tooLarge('/contentType', `has ${contentType.length} characters`, `at most ${MAX_CONTENT_TYPE} are kept`)
  }
  checkMetadata(metadata, problems)
  if (expect !== undefined && expect !== 'absent' && !ETAG.test(expect)) {
    problems.wrong(
      '/expect',
      `${JSON.stringify(expect)} is not an etag`,
      'use an etag as returned by `info`, or "absent"',
    )
  }
  problems.throwIfAny(`The object at ${JSON.stringify(path)}`)
  return { contentType, metadata: { ...metadata }, expect, digest }
}

export function checkByteRange(range: { readonly from: number; readonly until?: number } | undefined): void {
  if (range === undefined) return
  const problems = new Problems()
  const { from, until } = range
  const first = checkWhole(from, '/from', WHOLE, problems)
  if (until !== undefined && checkWhole(until, '/until', WHOLE, problems) && first && until < from) {
    problems.wrong('/until', `${until} is before ${from}`, 'omit it, or set it to the last byte')
  }
  problems.throwIfAny('The range of bytes')
}

export function checkList(query: Parameters<Blobs['list']>[0]): CheckedList {
  const problems = new Problems()
  const { prefix = '', after = '', limit = MAX_BLOB_LIST } = query
  const bounds = { max: MAX_PATH_BYTES, empty: true }
  checkText(prefix, '/prefix', 'a prefix', bounds, problems)
  checkText(after, '/after', 'a path', bounds, problems)
  checkWhole(limit, '/limit', { min: 1, max: MAX_BLOB_LIST }, problems)
  problems.throwIfAny('The list of objects')
  return { prefix, after, limit }
}

export function checkExpectedEtag(path: string, expect: string | undefined, etag: string | undefined): void {
  if (expect === undefined || expect === (etag ?? 'absent')) return
  const is = etag === undefined ? 'does not exist' : `has the etag ${etag}`
  const wanted = expect === 'absent' ? 'it should not exist yet' : `etag ${expect} was expected`
  throw new AppError('CONFLICT', `The object ${path} ${is}, ${wanted}: read again, then repeat the write`, {
    issues: [
      {
        path: '/expect',
        message: `${path} ${is}, ${wanted}`,
        severity: 'ERROR',
        type: 'CONFLICT',
        details: { path, expected: expect, actual: etag ?? 'absent' },
      },
    ],
  })
}

/** Returns the content in pieces; bytes are copied at once, so that the caller may reuse its buffer. */
export function piecesOf(
  content: Uint8Array | AsyncIterable<Uint8Array>,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  return content instanceof Uint8Array ? [new Uint8Array(content)] : content
}

function checkPathInto(path: unknown, problems: Problems): void {
  if (!checkText(path, '', 'a path', { max: MAX_PATH_BYTES }, problems)) return
  const odd = path.split('/').find((segment) => segment === '' || segment === '.' || segment === '..')
  if (odd === undefined) return
  problems.wrong(
    '',
    `${JSON.stringify(path)} has ${odd === '' ? 'an empty segment' : `a segment ${odd}`}`,
    'join names by single slashes',
  )
}

function checkMetadata(metadata: Readonly<Record<string, string>>, problems: Problems): void {
  let bytes = 0
  for (const [key, value] of Object.entries(metadata)) {
    const path = `/metadata/${key}`
    if (key === '' || CONTROL.test(key) || FORBIDDEN_KEYS.has(key)) {
      problems.wrong(
        path,
        `${JSON.stringify(key)} is not a valid key of metadata`,
        'use plain text without control characters',
      )
    }
    if (CONTROL.test(value)) problems.wrong(path, 'has control characters', 'use plain text')
    else bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (bytes > MAX_METADATA_BYTES)
    problems.tooLarge('/metadata', `has ${bytes} bytes`, `at most ${MAX_METADATA_BYTES} are kept`)
}
