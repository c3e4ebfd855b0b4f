/**
 * The parameters of a request against those that its route reads, for the routes of all services: a misspelt one must
 * not widen what a request changes. Writes are refused; reads too when the header `Prefer` has `handling=strict`, and
 * otherwise say in the header `Warning` what nobody read. A parameter that is there twice has no meaning unless its
 * route takes several.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { TSchema } from 'typebox'
import { at, type Issue, makeIssue, refuse } from '#kernel'

/** What a route reads of a query. */
export interface QueryParameters {
  /** by name; a list may repeat */
  readonly named: Readonly<Record<string, TSchema>>
  /** names besides those, each of which may repeat */
  readonly others?: RegExp
}

export interface QueryFaults {
  /** parameters that the route does not read */
  readonly unknown: readonly Issue[]
  /** those that are there more often than they may */
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
    const place = at('', name.slice(0, LONGEST_NAME))
    if (schema === undefined && others?.test(name) !== true) {
      unknown.push(makeIssue('QUERY', place, 'is no parameter of this request', formsOf(named)))
    } else if (schema !== undefined && Array.isArray(value) && !takesList(schema)) {
      repeated.push(makeIssue('QUERY', place, `is there ${value.length} times`, 'give it once'))
    }
  }
  return { unknown, repeated }
}

/** A hook before the handler of a route. WebSockets are checked by whoever serves them: their answer has no headers. */
export function checkQuery(parameters: QueryParameters) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    if (isEmpty(request.query) || isSocket(request)) return done()
    const { unknown, repeated } = queryFaults(request.query, parameters)
    const isStrict = !READS.has(request.method) || STRICT.test(String(request.headers['prefer'] ?? ''))
    const refused = isStrict ? [...unknown, ...repeated] : repeated
    if (refused.length > 0) return done(refuse('the query', refused))
    if (unknown.length > 0) void reply.header('warning', unknown.slice(0, MAX_WARNINGS).map(warningOf).join(', '))
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

function takesList(schema: TSchema): boolean {
  const { type, anyOf = [] } = schema as { readonly type?: unknown; readonly anyOf?: readonly TSchema[] }
  return type === 'array' || anyOf.some(takesList)
}

function formsOf(named: QueryParameters['named']): string {
  const names = Object.keys(named)
  return names.length === 0 ? 'it has none' : `write one of ${names.join(', ')}`
}

/** Code 299 of HTTP: something that lasts. The name comes from outside, and a header is ASCII. */
function warningOf({ path }: Issue): string {
  return `299 - "${encodeURI(path.slice(1)).replaceAll('"', '%22')} is no parameter of this request and was not read"`
}
