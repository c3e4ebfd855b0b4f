/** Finds the variables of a rule, declared or not. */
import { isPlainObject, refuse } from '#kernel'
import { findBindings } from '../language/placeholders/find-bindings.ts'
import { isBnDocument, readBn } from './bn/read-bn.ts'
import { readDocument } from './check/read-document.ts'
import { Report } from './check/report.ts'
import { variableOf } from './instantiate.ts'

/** Declared, or a possible declaration for an undeclared one: a resource role, or a value of any type. */
export interface FoundVariable {
  readonly name: string
  readonly type: string
  readonly format?: { readonly type: string }
  readonly [field: string]: unknown
}

/**
 * Declared ones first, then `$name` in a resource, then `${variables.name}`. Throws `VALIDATION` for an invalid graph.
 */
export function findVariables(input: unknown): readonly FoundVariable[] {
  const report = new Report()
  const document = readDocument(input, report)
  const graph = document && (isBnDocument(document) ? readBn(document, report)?.document : document)
  if (graph === undefined) throw refuse('the graph', report.issues)
  const found = new Map<string, FoundVariable>()
  const add = (variable: FoundVariable): void => {
    if (!found.has(variable.name)) found.set(variable.name, variable)
  }
  for (const declared of objects(graph['variables'])) {
    const { name, type } = declared
    if (typeof name === 'string') add({ ...declared, name, type: typeof type === 'string' ? type : 'string' })
  }
  const nodes = [...objects(graph['sensors']), ...objects(graph['actuators'])]
  for (const { resource } of nodes) {
    const name = typeof resource === 'string' ? variableOf(resource) : undefined
    if (name !== undefined) add({ name, type: 'string', format: { type: 'resource' } })
  }
  for (const { properties } of nodes) {
    for (const { root, segments } of findBindings(properties, { template: true })) {
      const [name] = segments
      if (root === 'variables' && name !== undefined) add({ name, type: 'object' })
    }
  }
  return [...found.values()]
}

function objects(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isPlainObject) : []
}
