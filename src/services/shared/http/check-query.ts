/**
 * Checks the names of request parameters for all services, since a misspelled parameter must not make a request match
 * more. Unknown parameters reject writes, and reads with `Prefer: handling=strict`; other reads list them in the header
 * `Warning`. Where a route accepts any name, `Warning` lists likely misspellings. Repeated parameters are rejected
 * unless the route accepts several values.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { TSchema } from 'typebox'
import { at, type Issue, makeIssue, nearest, refuse } from '#kernel'

export interface QueryParameters {
  readonly named: Readonly<Record<string, TSchema>>
  readonly others?: RegExp
}

export interface QueryFaults {
  readonly unknown: readonly Issue[]
  readonly repeated: readonly Issue[]
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const STRICT = /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i
const LONGEST_NAME = 100
const MAX_WARNINGS = 10

export function queryFaults(query: unknown, { named, others }: QueryParameters): QueryFaults {
  const unknown: Issue[] = []
  const repeated: Issue[] = []
  for (const [name, value] of Object.entries(query ?? {}) as [string, unknown][]) {
    const schema = Object.hasOwn(named, name) ? named[name] : undefined
    const path = at('', name.slice(0, LONGEST_NAME))
    if (schema === undefined && others?.test(name) !== true) {
      unknown.push(makeIssue('QUERY', path, 'is not a parameter of this request', formsOf(named)))
    } else if (schema !== undefined && Array.isArray(value) && !takesList(schema)) {
      repeated.push(makeIssue('QUERY', path, `was sent ${value.length} times`, 'send it once'))
    }
  }
  return { unknown, repeated }
}

/** WebSocket routes check parameters themselves, since their response has no headers. */
export function checkQuery(parameters: QueryParameters) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    if (isEmpty(request.query) || isSocket(request)) return done()
    const { unknown, repeated } = queryFaults(request.query, parameters)
    const isStrict = !READS.has(request.method) || STRICT.test(String(request.headers['prefer'] ?? ''))
    const refused = isStrict ? [...unknown, ...repeated] : repeated
    if (refused.length > 0) return done(refuse('the query', refused))
    const warnings = [...unknown.map(warningOf), ...likenesses(request.query as object, parameters)]
    if (warnings.length > 0) void reply.header('warning', warnings.slice(0, MAX_WARNINGS).join(', '))
    done()
  }
}

function isEmpty(query: unknown): boolean {
  for (const _name in query as object) return false
  return true
}

function isSocket(request: FastifyRequest): boolean {
  return (request as { readonly ws?: boolean }).ws === true
}

export function takesList(schema: TSchema): boolean {
  const { type, anyOf = [] } = schema as { readonly type?: unknown; readonly anyOf?: readonly TSchema[] }
  return type === 'array' || anyOf.some(takesList)
}

function formsOf(named: QueryParameters['named']): string {
  const names = Object.keys(named)
  return names.length === 0 ? 'it has no parameters' : `write one of ${names.join(', ')}`
}

function likenesses(query: object, { named, others }: QueryParameters): readonly string[] {
  const names = Object.keys(named)
  return Object.keys(query).flatMap((name) => {
    if (others?.test(name) !== true || names.includes(name) || name.includes('.')) return []
    const like = nearest(name, names)
    return like === undefined ? [] : [warning(`${asciiOf(name)} is not a parameter; did you mean ${like}?`)]
  })
}

function warningOf({ path }: Issue): string {
  return warning(`${asciiOf(path.slice(1))} is not a parameter of this request and was ignored`)
}

function warning(text: string): string {
  return `299 - "${text}"`
}

function asciiOf(name: string): string {
  return encodeURI(name).replaceAll('"', '%22')
}
