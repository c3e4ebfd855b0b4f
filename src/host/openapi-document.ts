/**
 * Completes the OpenAPI document by general rules: operation ids, parameter descriptions, schema names and body
 * examples.
 *
 * OPENAPI-1 an operation's id derives from its method and path, and stays the same while they do
 * OPENAPI-2 the schema of each request or response body is a named component: its title, else a name derived from the
 *   operation's id
 * OPENAPI-3 error responses are JSON, whatever the type of the success response
 */
import { EXAMPLES } from './openapi-examples.ts'
import { PARAMETERS } from './openapi-parameters.ts'

export interface ApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags?: readonly { readonly name: string }[]
  components?: { schemas?: Record<string, Schema> }
}

interface Operation {
  operationId?: string
  readonly tags?: readonly string[]
  readonly parameters?: { readonly name: string; description?: string }[]
  readonly requestBody?: { readonly content: Record<string, Media> }
  readonly responses: Readonly<Record<string, { content?: Record<string, Media> }>>
}

/** Fastify shares one object among all types of a response: replace it, do not mutate it. */
interface Media {
  readonly schema?: Schema
  readonly example?: unknown
}

type Schema = Readonly<Record<string, unknown>>

const JSON_TYPE = 'application/json'
const TEXT: Schema = { type: 'string' }

/** Changes the document in place. `prefix`: the prefix shared by its paths. */
export function completeDocument(document: ApiDocument, prefix: string): void {
  const schemas = new NamedSchemas()
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(item)) {
      const own = path.startsWith(prefix) ? path.slice(prefix.length) : path
      operation.operationId ??= operationIdOf(method, own, operation.tags?.[0] ?? '')
      for (const parameter of operation.parameters ?? []) {
        const description = parameter.description ?? PARAMETERS[parameter.name]
        if (description !== undefined) parameter.description = description
      }
      completeBody(operation, operation.operationId, schemas)
      completeAnswers(operation, operation.operationId, schemas)
    }
  }
  document.components = { ...document.components, schemas: { ...document.components?.schemas, ...schemas.all } }
}

function completeBody({ requestBody }: Operation, id: string, schemas: NamedSchemas): void {
  const content = requestBody?.content
  if (content === undefined) return
  for (const [type, { schema }] of Object.entries(content)) {
    const example = EXAMPLES[id]
    content[type] = {
      ...(schema !== undefined && { schema: type === 'text/plain' ? TEXT : schemas.refer(schema, id, 'Body') }),
      ...(type === JSON_TYPE && example !== undefined && { example }),
    }
  }
}

function completeAnswers({ responses, tags = [] }: Operation, id: string, schemas: NamedSchemas): void {
  for (const [status, response] of Object.entries(responses)) {
    const { content } = response
    if (content === undefined) continue
    const [first] = Object.values(content)
    if (status.startsWith('4') || status.startsWith('5')) {
      const { schema } = first ?? {}
      if (schema !== undefined)
        response.content = { [JSON_TYPE]: { schema: schemas.refer(schema, tags[0] ?? '', 'Refusal') } }
      continue
    }
    for (const [type, { schema }] of Object.entries(content)) {
      if (type !== JSON_TYPE) content[type] = { schema: type.endsWith('json') && !type.endsWith('ndjson') ? {} : TEXT }
      else if (schema !== undefined) content[type] = { schema: schemas.refer(schema, id, 'Answer') }
    }
  }
}

class NamedSchemas {
  readonly all: Record<string, Schema> = {}
  readonly #texts = new Map<string, string>()

  refer(schema: Schema, owner: string, kind: string): Schema {
    if (typeof schema['$ref'] === 'string') return schema
    const { title } = schema
    const text = JSON.stringify(schema)
    const made = `${pascal(owner)}${kind}`
    const names = typeof title === 'string' ? [pascal(title), `${pascal(owner)}${pascal(title)}`, made] : [made]
    for (let number = 2; ; number++) {
      const name = names.shift() ?? `${made}${number}`
      const known = this.#texts.get(name)
      if (known !== undefined && known !== text) continue
      this.#texts.set(name, text)
      this.all[name] = schema
      return { $ref: `#/components/schemas/${name}` }
    }
  }
}

/** `getTaskNode` for GET /api/tasks/{id}/nodes/{node}; outside /api, it begins with the service. */
function operationIdOf(method: string, path: string, tag: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  const isApi = segments[0] === 'api'
  const words = isApi || tag === 'host' ? [] : [singular(pascal(tag))]
  for (const [i, segment] of segments.entries()) {
    if (segment.startsWith('{') || (i === 0 && isApi)) continue
    const plural = pascal(segment)
    const hasOne = segments[i + 1]?.startsWith('{') === true
    const word = hasOne ? singular(plural) : plural
    const isLast = i + 2 === segments.length
    const by = hasOne && isLast && word === plural ? `By${pascal(segments[i + 1] ?? '')}` : ''
    // `/alarm/alarms` of the service `alarms` becomes one word
    if (singular(words.at(-1) ?? '') === singular(word)) words.pop()
    words.push(`${word}${by}`)
  }
  return `${method.toLowerCase()}${words.join('') || 'Root'}`
}

function singular(word: string): string {
  if (/[^aeiou]ies$/.test(word) && !word.endsWith('Series')) return `${word.slice(0, -3)}y`
  return /[^s]s$/.test(word) && !word.endsWith('Series') ? word.slice(0, -1) : word
}

function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join('')
}
