/**
 * The parameters of a request against those that its route reads, for the routes of all services: a misspelt one must
 * not widen what a request changes. Writes are refused; reads too when the header `Prefer` has `handling=strict`, and
 * otherwise name in the header `Warning` what was not read. Where a route takes any other name, `Warning` has those that
 * are nearly one of its parameters. A parameter that is there twice has no meaning unless its route takes several.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { TSchema } from 'typebox'
import { at, type Issue, makeIssue, nearest, refuse } from '#kernel'

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
  return names.length === 0 ? 'it has none' : `write one of ${names.join(', ')}`
}

/** Names of the others that may be misspelt parameters; one with a dot in it names a part of something. */
function likenesses(query: object, { named, others }: QueryParameters): readonly string[] {
  const names = Object.keys(named)
  return Object.keys(query).flatMap((name) => {
    if (others?.test(name) !== true || names.includes(name) || name.includes('.')) return []
    const like = nearest(name, names)
    return like === undefined ? [] : [warning(`${asciiOf(name)} is not a parameter; did you mean ${like}?`)]
  })
}

function warningOf({ path }: Issue): string {
  return warning(`${asciiOf(path.slice(1))} is no parameter of this request and was not read`)
}

/** Code 299 of HTTP: something that lasts. */
function warning(text: string): string {
  return `299 - "${text}"`
}

/** The name comes from outside, and a header is ASCII. */
function asciiOf(name: string): string {
  return encodeURI(name).replaceAll('"', '%22')
}
