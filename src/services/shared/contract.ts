/** Everything that the contracts of services share: fields of bodies, their checks, and effects. */
export { checked, type Checked } from './api/check.ts'
export {
  CHECKED,
  closed,
  type Decoded,
  duration,
  id,
  instant,
  instantWith,
  nullable,
  oneOrMore,
  open,
  type Problem,
  readOnly,
  refined,
  secret,
  text,
  word,
  worded,
  REVISION,
} from './api/fields.ts'
export type { EffectOfTask } from './effect-order.ts'
export { seriesName } from './api/series-name.ts'
export { MAX_TIME } from './series/times.ts'
export { CONNECTION_HEADERS } from './http/connection-headers.ts'
export { DOCUMENT_HEAD, type DocumentHead } from './documents/document-head.ts'
export type { DocumentsApi } from './documents/named-documents.ts'
