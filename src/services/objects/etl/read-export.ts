/** Reads what is to be exported: all problems at once. */
import {
  at,
  isoInstant,
  isPlainObject,
  type Issue,
  Issues,
  isTooLongForId,
  type Json,
  MAX_ID_BYTES,
  notAnInstant,
  shown,
} from '#kernel'
import { isHidden } from '../contract.ts'

/** As it is stored with the export. */
export type ExportRequest = ExportSource & {
  /** texts that begin as formulas stand behind an apostrophe; default: texts as they are, so that they can be imported */
  readonly csv?: 'safe'
}

/** Times are epoch ms. */
type ExportSource =
  | { readonly kind: 'query'; readonly query: Json }
  | { readonly kind: 'stored'; readonly name: string }
  | {
      readonly kind: 'history'
      readonly resource: string
      /** default: all that there are */
      readonly metrics?: readonly string[]
      readonly from?: number
      readonly until?: number
    }

export interface ReadExport {
  readonly request: ExportRequest
  readonly object: string | undefined
}

const KNOWN = ['query', 'stored', 'resource', 'metrics', 'from', 'until', 'object', 'csv']
const WHOLE = 'send query (a time series query), stored (the name of one) or resource (its history)'
/** columns of a file */
export const MAX_METRICS = 500
/** of a path: what is left is for the report of whoever imports it again */
const MAX_OBJECT_BYTES = 1_000
/** epoch ms, either way */
const LAST_TIME = 8_640_000_000_000_000

/** `check`: what an execution of a query would refuse. Throws `VALIDATION`. */
export function readExport(body: unknown, check: (query: unknown) => readonly Issue[]): ReadExport {
  const issues = new Issues('BODY', 100)
  const given = isPlainObject(body) ? body : {}
  if (!isPlainObject(body)) issues.wrong('', 'must be an object', WHOLE)
  for (const key of Object.keys(given)) {
    if (!KNOWN.includes(key)) issues.wrong(at('', key.slice(0, 100)), 'is no field', `write one of ${KNOWN.join(', ')}`)
  }
  const { query, stored, resource, object, csv } = given
  const sources = [query, stored, resource].filter((one) => one !== undefined)
  if (sources.length !== 1) issues.wrong('', `names ${sources.length} things to export`, WHOLE)
  const request = query !== undefined ? readQuery() : stored !== undefined ? readStored() : readHistory()
  if (csv !== undefined && csv !== 'safe')
    issues.wrong('/csv', `${shown(csv)} is unknown`, 'write "safe", or leave it out')
  checkObject()
  issues.throwIfAny('the export')
  return { request: { ...request, ...(csv === 'safe' && { csv }) }, object: object as string | undefined }

  function readQuery(): ExportSource {
    for (const { path, message, suggestion } of check(query)) issues.wrong(`/query${path}`, message, suggestion)
    return { kind: 'query', query: query as Json }
  }

  function readStored(): ExportSource {
    if (typeof stored !== 'string' || stored === '') issues.wrong('/stored', 'must be the name of a stored query')
    return { kind: 'stored', name: String(stored) }
  }

  function readHistory(): ExportSource {
    const name = readName(resource, '/resource', 'the id of a resource')
    const { metrics } = given
    if (metrics !== undefined && (!Array.isArray(metrics) || metrics.length === 0 || metrics.length > MAX_METRICS)) {
      issues.wrong('/metrics', 'must be a list', `of 1 to ${MAX_METRICS} names; all metrics without it`)
    }
    const names = Array.isArray(metrics)
      ? metrics.slice(0, MAX_METRICS).map((one: unknown, i) => readName(one, `/metrics/${i}`, 'the name of a metric'))
      : undefined
    const [from, until] = [readTime('from'), readTime('until')]
    if (from !== undefined && until !== undefined && until < from) {
      issues.wrong('/until', 'is before from', 'exchange them')
    }
    return {
      kind: 'history',
      resource: name,
      ...(names && { metrics: [...new Set(names)] }),
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
    }
  }

  function readName(value: unknown, path: string, what: string): string {
    if (typeof value !== 'string' || value === '') issues.wrong(path, `must be ${what}`)
    else if (isTooLongForId(value)) issues.wrong(path, `${what} has more than ${MAX_ID_BYTES} bytes`)
    return String(value)
  }

  function readTime(name: 'from' | 'until'): number | undefined {
    const value = given[name]
    if (value === undefined || value === null) return undefined
    const time = typeof value === 'string' ? isoInstant(value) : value
    if (typeof time === 'number' && Math.abs(time) <= LAST_TIME) return Math.floor(time)
    issues.wrong(`/${name}`, `${shown(value)} ${notAnInstant(value)}`, 'send epoch milliseconds or ISO 8601')
    return undefined
  }

  function checkObject(): void {
    if (object === undefined) return
    if (typeof object !== 'string' || object === '' || object.endsWith('/') || object.startsWith('/')) {
      issues.wrong('/object', 'must be the path of a file', 'such as reports/boiler-1.csv')
    } else if (Buffer.byteLength(object) > MAX_OBJECT_BYTES) {
      issues.wrong('/object', `has more than ${MAX_OBJECT_BYTES} bytes`, 'shorten it')
    } else if (isHidden(object) || /(?:^|\/)\./.test(object)) {
      issues.wrong('/object', 'has a part that begins with a dot, which hides it', 'rename it')
    }
  }
}
