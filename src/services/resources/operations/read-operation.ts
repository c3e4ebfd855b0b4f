/** A bulk operation on resources or types, read and checked: all of its problems at once. Pure. */
import { isPlainObject, Issues, type Json, refuse } from '#kernel'
import type { ListAction } from './operation-record.ts'

export interface ReadOperation {
  readonly what: ListAction
  /** each once, in the order given */
  readonly ids: readonly string[]
  /** of `patchOrInsert`, in the order of `ids` */
  readonly bodies?: readonly Json[]
}

const ACTIONS: Readonly<Record<ListAction['entity'], readonly string[]>> = {
  resource: ['delete', 'patchOrInsert'],
  resourcetype: ['delete'],
}
const CASCADES: readonly unknown[] = ['alarms', 'measurements', 'tasks']
const MOST = 10_000

/** Throws `VALIDATION` with every problem. */
export function readOperation(body: unknown): ReadOperation {
  const reading = new Reading()
  const read = reading.operation(isPlainObject(body) ? body : {})
  if (reading.issues.count > 0 || read === undefined) throw refuse('the batch', reading.issues.list)
  return read
}

class Reading {
  readonly issues = new Issues('BATCH')

  operation(body: Readonly<Record<string, unknown>>): ReadOperation | undefined {
    const { entity, action } = body
    if (!isEntity(entity)) {
      this.#problem('/entity', `unknown entity ${textOf(entity)}`, 'write "entity": "resource" or "resourcetype"')
      return undefined
    }
    if (typeof action !== 'string' || !ACTIONS[entity].includes(action)) {
      const name = typeof action === 'string' ? action : textOf(action)
      this.#problem('/action', `invalid action for ${entity} entity: ${name}`, `write ${ACTIONS[entity].join(' or ')}`)
      return undefined
    }
    const parameters = this.#object(body['actionParameters'] ?? {}, '/actionParameters')
    const query = this.#object(body['query'], '/query')
    if (action === 'patchOrInsert') {
      this.#known(parameters, ['updateProtected'], '/actionParameters')
      this.#known(query, ['resources'], '/query')
      return { what: { entity: 'resource', action }, ...this.#bodies(query['resources']) }
    }
    this.#known(query, ['ids'], '/query')
    this.#known(parameters, entity === 'resource' ? ['cascade'] : [], '/actionParameters')
    const ids = this.#ids(query['ids'])
    if (entity === 'resourcetype') return { what: { entity, action: 'delete' }, ids }
    const cascade = this.#cascade(parameters['cascade'])
    return { what: { entity, action: 'delete', ...(cascade && { cascade }) }, ids }
  }

  #ids(value: unknown): readonly string[] {
    const list = this.#list(value, '/query/ids', 'an array of ids')
    list.forEach((id, i) => {
      if (typeof id !== 'string' || id === '')
        this.#problem(`/query/ids/${i}`, `${textOf(id)} is no id`, 'write a text')
    })
    return [...new Set(list.filter((id): id is string => typeof id === 'string'))]
  }

  #bodies(value: unknown): { readonly ids: readonly string[]; readonly bodies: readonly Json[] } {
    const list = this.#list(value, '/query/resources', 'an array of resources with their ids')
    const ids: string[] = []
    list.forEach((body, i) => {
      const id = isPlainObject(body) ? body['id'] : undefined
      if (typeof id === 'string' && id !== '') ids.push(id)
      else this.#problem(`/query/resources/${i}/id`, 'there is no id', 'write the id of the resource')
    })
    if (new Set(ids).size < ids.length) {
      this.#problem('/query/resources', 'an id is there twice', 'write each resource once')
    }
    return { ids, bodies: list as readonly Json[] }
  }

  #cascade(value: unknown): readonly string[] | undefined {
    if (value === undefined) return undefined
    if (Array.isArray(value) && value.every((name) => CASCADES.includes(name))) return value as readonly string[]
    this.#problem(
      '/actionParameters/cascade',
      `${textOf(value)} cannot be deleted too`,
      `a list of ${CASCADES.join(', ')}`,
    )
    return undefined
  }

  #list(value: unknown, path: string, right: string): readonly unknown[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#problem(
        path,
        value === undefined ? 'is required' : `${textOf(value)} is no list with something in it`,
        right,
      )
      return []
    }
    if (value.length > MOST) this.#problem(path, `${value.length} are more than ${MOST}`, 'use several operations')
    return value
  }

  #object(value: unknown, path: string): Readonly<Record<string, unknown>> {
    if (isPlainObject(value)) return value
    this.#problem(path, value === undefined ? 'is required' : `${textOf(value)} is no object`, 'write an object')
    return {}
  }

  /** A word that is not known would be left out, and the operation would do more than was meant. */
  #known(object: Readonly<Record<string, unknown>>, known: readonly string[], path: string): void {
    for (const key of Object.keys(object)) {
      if (!known.includes(key)) this.#problem(`${path}/${key}`, `there is no ${key} here`, 'leave it out')
    }
  }

  #problem(path: string, message: string, suggestion: string): void {
    this.issues.wrong(path, message, suggestion)
  }
}

function isEntity(entity: unknown): entity is ListAction['entity'] {
  return entity === 'resource' || entity === 'resourcetype'
}

function textOf(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80)
}

/** What an operation does, in words: `deleting 3 resources`. */
export function describeOperation({ what, ids }: ReadOperation): string {
  const noun = what.entity === 'resource' ? 'resource' : 'resource type'
  const verb = what.action === 'delete' ? 'deleting' : 'updating or inserting'
  return `${verb} ${ids.length} ${noun}${ids.length === 1 ? '' : 's'}`
}
