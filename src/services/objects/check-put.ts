/** What a put says of its content, checked before any of it comes. */
import { FORBIDDEN_KEYS, Issues, shown } from '#kernel'
import type { PutOptions } from './contract.ts'

const MAX_CONTENT_TYPE = 255
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+\s*(?:;|$)/
/** bytes of all names and values, as S3 has it */
const MAX_METADATA_BYTES = 2_048
/** what a header may have */
const HEADER_TEXT = /^[\t -~\u0080-\u00ff]*$/
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,200}$/
const ETAG = /^[0-9a-f]{32}$/

/** Throws `VALIDATION` with all problems. */
export function checkPut({ contentType, metadata = {}, expect, length }: PutOptions): void {
  const issues = new Issues('OBJECT')
  if (contentType !== undefined && !isContentType(contentType)) {
    issues.wrong('/contentType', `${shown(contentType)} is no media type`, 'write one such as text/plain')
  }
  let bytes = 0
  for (const [name, value] of Object.entries(metadata)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
    if (!HEADER_NAME.test(name) || FORBIDDEN_KEYS.has(name)) {
      issues.wrong('/metadata', `${shown(name)} is no name`, 'use lower-case letters, digits and dashes')
    } else if (!HEADER_TEXT.test(value)) {
      issues.wrong(`/metadata/${name}`, 'has characters that no header may have', 'encode them')
    }
  }
  if (bytes > MAX_METADATA_BYTES) {
    issues.wrong('/metadata', `has ${bytes} bytes`, `at most ${MAX_METADATA_BYTES} are kept`)
  }
  if (typeof expect === 'string' && expect !== 'absent' && !ETAG.test(expect)) {
    issues.wrong('/expect', `${shown(expect)} is no etag`, 'write an MD5 in hex, or absent')
  }
  for (const [name, value] of Object.entries(length ?? {})) {
    if (!Number.isSafeInteger(value) || value < 0) issues.wrong(`/length/${name}`, `${value} is no number of bytes`)
  }
  issues.throwIfAny('The object')
}

export function isContentType(text: string): boolean {
  return text.length <= MAX_CONTENT_TYPE && HEADER_TEXT.test(text) && MEDIA_TYPE.test(text)
}
